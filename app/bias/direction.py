"""The gender direction: words along it by layer, what a probe finds without it, and the price."""

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.bias import AlongDirection, Effect, along_direction, debias_table, measure_effects
from bertcore.model import Model

from ..plots import Figure, exactly, numbered, subplots, tabulate, theme
from ..plots.charts import Curve, LayerCurves
from ..shell import Compute, Picture, Progress, capabilities, frame

ByLayer = tuple[AlongDirection, ...]
"""At each hidden state, the embeddings' output first."""


def by_layer(bert: Model, progress: Progress) -> ByLayer:
    """Return the measures along the direction at each hidden state."""
    num_states = bert.config.num_hidden_layers + 1
    found = []
    for state in range(num_states):
        progress(state / num_states, f"Hidden state {state}")
        found.append(along_direction(bert, layer=state))
    return tuple(found)


def _cosine_table(result: ByLayer) -> pd.DataFrame:
    """Return a row for each word, those nearest to the feminine side first."""
    states = ["emb.", *map(str, range(1, len(result)))]
    cosines = np.array([each.cosines for each in result]).T
    table = pd.DataFrame(cosines, index=list(result[0].words), columns=states)
    return table.loc[table.mean(axis=1).sort_values(ascending=False, kind="stable").index]


def _cosines(result: ByLayer, *, is_dark: bool) -> Figure:
    """Draw words by layer."""
    table = _cosine_table(result)
    cosines = table.to_numpy()
    shades = theme.around_zero(float(np.abs(cosines).max()), is_dark)
    written = {}
    if len(result) <= 13:
        text = [[exactly(value, 2) for value in row] for row in cosines.tolist()]
        written = numbered(cosines, text, 12, shades)
    fig = subplots(1, 1)
    hover = "%{y}, hidden state %{x}: %{z:+.3f}"
    fig.heat(cosines, shades, hover, gap=1, x=[*table.columns], y=[*table.index], **written)
    theme.plot_layout(fig, "", "hidden state", "", 22 * len(table) + 76)
    fig.update_yaxes(autorange="reversed", showgrid=False, type="category")
    fig.update_xaxes(type="category", showgrid=False)
    fig.update_layout(dragmode=False)
    return fig


COSINES = Picture(
    name="bias-direction",
    figure=_cosines,
    table=lambda result: _cosine_table(result).rename_axis("word").reset_index(),
    how=(
        "The cosine of each occupation with the direction from *he, man, father ...* (orange, "
        "below 0) to *she, woman, mother ...* (blue, above 0), found in each layer by PCA of the "
        "differences within ten pairs (Bolukbasi et al. 2016). The direction explains "
        "{explained} of their variance; the rest lies outside it."
    ),
    code="""
from bertcore.bias import along_direction

for state in range(bert.config.num_hidden_layers + 1):
    found = along_direction(bert, layer=state)
    print(state, found.explained, dict(zip(found.words, found.cosines.tolist())))
""",
)


def _probe_table(result: ByLayer) -> pd.DataFrame:
    """Return the accuracy, and its spread over five folds, at each hidden state."""
    return pd.DataFrame(
        [
            {"layer": state}
            | {way: probe.accuracy for way, probe in each.probes.items()}
            | {f"{way}, spread": probe.spread for way, probe in each.probes.items()}
            for state, each in enumerate(result)
        ]
    )


PROBES = Picture(
    name="bias-probes",
    chart=LayerCurves(
        table=_probe_table,
        curves=[
            Curve(way, way, place) for place, way in enumerate(("as it is", "neutralised", "LEACE"))
        ],
        title="",
        unit="a probe's accuracy",
        chance=0.5,
        chance_name="chance",
    ),
    how=(
        "How well a linear probe distinguishes 30 feminine words and names from 30 masculine ones, "
        "none of which are among the pairs (chance: 50%): as they are, without the direction "
        "(neutralised), and after LEACE, fitted on the pairs (Belrose et al. 2023). What a probe "
        "recovers was hidden, not removed (Gonen and Goldberg 2019)."
    ),
    code="""
from bertcore.bias import along_direction

for state in range(bert.config.num_hidden_layers + 1):
    for way, probe in along_direction(bert, layer=state).probes.items():
        print(state, way, probe.accuracy, probe.chance)
""",
)


def show(page: frame.Page) -> None:
    """Draw words along the direction by layer, and the probes."""
    result = Compute(name="direction")(by_layer, page.bert_key)
    shares = [each.explained for each in result]
    explained = f"{min(shares):.0%} to {max(shares):.0%}"
    COSINES.show(page, result, drawn={"is_dark": page.is_dark}, explained=explained)
    PROBES.show(page, result)


PRICE = (
    "The part of the token table along the direction is removed from every word but the gendered "
    "ones (“hard debiasing”, Bolukbasi et al. 2016); the layers stay as they are. *Along the "
    "direction*: mean distance from 0 of 20 occupations. *Gap*: mean distance between women and "
    "men at them, in nats. *Masked words* and *minimal pairs* are the price. In brackets: 95% "
    "intervals. `bertscope bias --save FOLDER` writes the changed checkpoint."
)


def show_price(page: frame.Page) -> None:
    """Draw each measure before and after the direction is removed from the token table."""
    if capabilities.tells(page, "parts"):
        return
    effects = Compute(name="price")(_effects, page.bert_key)
    rows = [
        (effect.name, _written(effect, "before"), _written(effect, "after")) for effect in effects
    ]
    st.dataframe(tabulate("measure before after", rows), hide_index=True, width="stretch")
    st.caption(PRICE)


def _effects(bert: Model, *, progress: Progress) -> tuple[Effect, ...]:
    return measure_effects(bert, debias_table(bert), progress=progress)


def _written(effect: Effect, side: str) -> str:
    row, form = effect.row(), ".1%" if effect.unit == "share" else ".2f"
    mean, low, high = (f"{row[side + end]:{form}}" for end in ("", "_low", "_high"))
    return f"{mean} ({low} to {high})"
