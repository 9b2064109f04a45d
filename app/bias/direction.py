"""A direction: words along it by layer, and what a probe finds after it is erased."""

from dataclasses import asdict
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.bias import Probe, along_direction
from bertcore.model import Model

from ..plots import Figure, error_bars, exactly, numbered, subplots, theme
from ..shell import Compute, Picture, Progress, frame

WAYS = ("as it is", "neutralised", "LEACE", "INLP")
"""Short names of `AlongDirection.probes`, in their order."""


class ByLayer(NamedTuple):
    """The direction at each hidden state, index 0 the embeddings' output."""

    words: tuple[str, ...]
    cosines: NDArray[np.float64]
    """Of each word with the direction, [words, L+1]."""
    explained: NDArray[np.float64]
    """Share of the variance of the differences within pairs, [L+1]."""
    probes: tuple[tuple[Probe, ...], ...]
    """Of other gendered words, [L+1][WAYS]."""


def by_layer(bert: Model, progress: Progress) -> ByLayer:
    """Return the measures along the direction at each hidden state."""
    num_states = bert.config.num_hidden_layers + 1
    found = []
    for state in range(num_states):
        progress(state / num_states, f"Hidden state {state}")
        found.append(along_direction(bert, layer=state))
    return ByLayer(
        found[0].words,
        np.array([each.cosines for each in found]).T,
        np.array([each.explained[0] for each in found]),
        tuple(tuple(each.probes.values()) for each in found),
    )


def _states(result: ByLayer) -> list[str]:
    return ["emb.", *(str(layer) for layer in range(1, len(result.explained)))]


def _cosines(result: ByLayer, *, is_dark: bool) -> Figure:
    """Draw words by layer, those nearest to the first side on top."""
    order = np.argsort(-result.cosines.mean(1), kind="stable").tolist()
    cosines = result.cosines[order]
    reach = float(np.abs(cosines).max())
    shades = theme.around_zero(reach, is_dark)
    written = {}
    if len(result.explained) <= 13:
        text = [[exactly(value, 2) for value in row] for row in cosines.tolist()]
        written = numbered(cosines, text, 12, shades)
    fig = subplots(1, 1)
    hover, names = "%{y}, hidden state %{x}: %{z:+.3f}", [result.words[i] for i in order]
    fig.heat(cosines, shades, hover, gap=1, x=_states(result), y=names, **written)
    theme.plot_layout(fig, "", "hidden state", "", 22 * len(order) + 76)
    fig.update_yaxes(autorange="reversed", showgrid=False, type="category")
    fig.update_xaxes(type="category", showgrid=False)
    fig.update_layout(dragmode=False)
    return fig


def _cosine_table(result: ByLayer) -> pd.DataFrame:
    table = pd.DataFrame(result.cosines, columns=_states(result))
    table.insert(0, "word", result.words)
    return table


COSINES = Picture(
    name="bias-direction",
    figure=_cosines,
    table=_cosine_table,
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
    print(state, found.explained[0], dict(zip(found.words, found.cosines.tolist())))
""",
)


def _probes(result: ByLayer) -> Figure:
    """Draw a line for each way of erasing."""
    fig = subplots(1, 1)
    colours = (theme.SEGMENT_A, theme.SEGMENT_B, theme.CATEGORICAL[2], theme.CATEGORICAL[3])
    for number, (way, colour) in enumerate(zip(WAYS, colours, strict=True)):
        probes_of_way = [probes[number] for probes in result.probes]
        # Side by side, so that the bars of one state do not hide each other.
        fig.add(
            "scatter",
            x=[state + 0.08 * (number - 1.5) for state in range(len(probes_of_way))],
            customdata=_states(result),
            y=[each.accuracy for each in probes_of_way],
            mode="lines+markers",
            name=way,
            line={"color": colour},
            error_y=error_bars(
                [each.accuracy for each in probes_of_way],
                [each.accuracy - each.spread for each in probes_of_way],
                [each.accuracy + each.spread for each in probes_of_way],
                colour,
                thickness=1,
            ),
            hovertemplate=way + ", hidden state %{customdata}: %{y:.0%}<extra></extra>",
        )
    theme.plot_layout(fig, "", "hidden state", "a probe's accuracy", 320)
    names = _states(result)
    fig.update_yaxes(range=[0.3, 1.05], tickformat=".0%")
    fig.update_xaxes(tickvals=list(range(len(names))), ticktext=names)
    fig.add_hline(
        result.probes[0][0].chance, line={"color": theme.SPECIAL, "width": 1, "dash": "dash"}
    )
    fig.update_layout(dragmode=False)
    return fig


def _probe_table(result: ByLayer) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"hidden_state": state, "vectors": way, **asdict(probe)}
            for state, probes in enumerate(result.probes)
            for way, probe in zip(WAYS, probes, strict=True)
        ]
    )


PROBES = Picture(
    name="bias-probes",
    figure=_probes,
    table=_probe_table,
    how=(
        "How well a linear probe distinguishes 30 feminine words and names from 30 masculine ones, "
        "none of which are among the pairs: as they are, without the direction (neutralised), and "
        "after erasers fitted on the pairs (LEACE, Belrose et al. 2023; INLP, Ravfogel et al. "
        "2020). Bars: standard deviation over five folds; dashed: chance. What a probe recovers "
        "was hidden, not removed (Gonen and Goldberg 2019)."
    ),
    code="""
from bertcore.bias import along_direction

for state in range(bert.config.num_hidden_layers + 1):
    for name, found in along_direction(bert, layer=state).probes.items():
        print(state, name, found.accuracy, found.spread)
""",
)


def show(page: frame.Page) -> None:
    """Draw words along the direction by layer, and the probes."""
    result = Compute(name="direction")(by_layer, page.bert_key)
    low, high = result.explained.min(), result.explained.max()
    COSINES.show(
        page, result, drawn={"is_dark": page.is_dark}, explained=f"{low:.0%} to {high:.0%}"
    )
    st.divider()
    PROBES.show(page, result)
