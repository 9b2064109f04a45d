"""How tokens mix: where a token's information comes from, by measures beyond the raw weights."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.mixing.maps import rank_agreement

from ..plots import Figure, numbered, theme
from ..plots.before_after import head_table
from ..plots.source_tables import markdown_table
from ..shell import Picture, Texts, cache, frame, one_of
from . import PAGE, measures
from .measures import Choice, MixingMaps, SeparatorFractions
from .views import (
    ALL,
    OTHERS,
    VIEW,
    VIEWS,
    choose_token,
    draw_controls,
    kept_choice,
    offer_slow,
    picture_of,
    setup_code,
    show_notes,
    show_picture,
)

SHORT = {
    "weights": "weights",
    "norms": "norms",
    "block": "+ residual",
    "zeroing": "zeroing",
    "gradient": "gradient",
    "rollout": "rollout",
    "flow": "flow",
    "zeroing_rollout": "zeroing, rolled",
}
"""Short names of the measures."""
SIDE = 0.12  # horizontal offset of the two kinds of dots, in layers


class Agreement(NamedTuple):
    """How far the measures rank the tokens alike."""

    measures: Sequence[str]
    """[M]"""
    correlations: NDArray[np.float64]
    """Spearman's rank correlation of each two, [M, M]; NaN if there is none."""


def agreement(agreed: Agreement) -> Figure:
    """Draw the rank correlation of each two measures as a heat map."""
    measures, correlations = agreed
    names = [SHORT[name] for name in measures]
    known = np.isfinite(correlations)
    text = np.where(known, np.char.mod("%.2f", np.nan_to_num(correlations)), "–")
    fig = Figure()
    shades = theme.around_zero(1)
    written = numbered(correlations, text.tolist(), 11, shades)
    hover = "%{y} and %{x}: %{z:.3f}"
    fig.heat(correlations, shades, hover, gap=1, x=names, y=names, **written)
    theme.plot_layout(fig, "Do they put the tokens in the same order?", "", "", 340)
    fig.update_xaxes(showgrid=False, tickangle=-45)
    fig.update_yaxes(showgrid=False, autorange="reversed")
    return fig


def agreement_table(agreed: Agreement) -> pd.DataFrame:
    """Return the same numbers: a row and a column for each measure."""
    names = list(agreed.measures)
    table = pd.DataFrame(agreed.correlations, columns=names)
    table.insert(0, "measure", names)
    return table


def separator_fade(separator_fractions: SeparatorFractions, *, separator: str = "[SEP]") -> Figure:
    """Draw the fraction of [SEP] by layer: in the weights, in the norms, after the residual.

    A dot for each head, a line for their mean.

    Args:
        separator: What the checkpoint calls it.
    """
    weights, norms, block, _ = separator_fractions
    layers = np.arange(len(weights))
    fig = Figure()
    kinds = ((weights, "attention weights", -SIDE), (norms, "norm-weighted", SIDE))
    for place, (fractions, name, side) in enumerate(kinds):
        num_heads = fractions.shape[1]
        fig.add(
            "scatter",
            x=np.repeat(layers + side, num_heads),
            y=fractions.ravel(),
            customdata=[(layer, head) for layer in layers for head in range(num_heads)],
            mode="markers",
            marker={"size": 6, "color": theme.CATEGORICAL[place], "opacity": 0.45},
            hovertemplate="layer %{customdata[0]}, head %{customdata[1]}: %{y:.1%}"
            f"<extra>{name}</extra>",
            showlegend=False,
        )
    means = (
        (weights.mean(1), "attention weights", "solid"),
        (norms.mean(1), "norm-weighted", "solid"),
        (block, "with residual", "dot"),
    )
    for place, (line, name, dash) in enumerate(means):
        fig.add(
            "scatter",
            x=layers,
            y=line,
            mode="lines+markers",
            name=name,
            line={"color": theme.CATEGORICAL[place], "width": 2.5, "dash": dash},
            hovertemplate="layer %{x}: %{y:.1%}<extra>" + name + "</extra>",
        )
    title = f"How much comes from {theme.escape(separator)}?"
    theme.plot_layout(fig, title, "Layer", "fraction of the row", 340)
    fig.update_yaxes(rangemode="tozero", tickformat=".0%")
    fig.update_xaxes(dtick=1, range=[-0.4, len(layers) - 0.6])
    legend = {"y": -0.24, "yanchor": "top", "font": {"size": 11}}
    fig.update_layout(legend=legend, margin={"b": 8})
    return fig


def separator_table(separator_fractions: SeparatorFractions) -> pd.DataFrame:
    """Return the same numbers: a row for each head; `block` is the same for a layer's heads."""
    weights, norms, block, _ = separator_fractions
    fractions = {"weights": weights, "norm_weighted": norms}
    return head_table({**fractions, "residual_and_norm": block[:, None]})


AGREEMENT = Picture(
    name="mixing-agreement",
    figure=agreement,
    table=agreement_table,
    how=(
        "Spearman's rank correlation between each pair of measures above: 1 means the same order "
        "of tokens, 0 no relation, below 0 rather the opposite order. For *Every token* it is the "
        "mean over the rows, without those in which a measure gives all tokens the same value."
    ),
    code="""
from bertcore.analysis.mixing.maps import rank_agreement

fractions = [normalize_rows(values.float()) for values in maps.values()]
agreement = rank_agreement([({ranked}).numpy() for values in fractions])  # [M, M]
""",
)
SEPARATOR = Picture(
    name="mixing-sep",
    figure=separator_fade,
    table=separator_table,
    how=(
        "A head that finds nothing else may attend to \\[SEP\\] (Clark et al. 2019): the weight "
        "is large, but the vector that it moves is short (Kobayashi et al. 2020). The lower the "
        "other lines, the less effect these weights have. Dots are heads. The fraction of a token "
        "after attention that comes from other tokens (mixing ratio, layer by layer): {ratios}."
    ),
    code="""
from bertcore.analysis.mixing.maps import fraction_on
from bertcore.analysis.mixing.norm_weighted import block_norms, weighted_norms

separators = [i for i, text in enumerate(trace.text_ids) if text < 0][1:]
blocks = block_norms(bert, trace)
fraction_on(trace.attentions, separators)              # [L, H]
fraction_on(weighted_norms(bert, trace), separators)   # [L, H]
fraction_on(blocks.normalized, separators)             # [L]
blocks.mixing_ratio.mean(-1)                        # [L]
""",
)


@frame.section()
def show_agreement(page: frame.Page, choice: Choice, view: str, mixing: MixingMaps) -> None:
    """Draw how far the measures rank the tokens alike.

    Args:
        page, choice, view: What to measure.
        mixing: The numbers as they are drawn. A token that is left out of its own row has no rank
            there: 0 in every measure would count as agreement.
    """
    maps, ranked = list(mixing.maps.values()), "values"
    if OTHERS.value and page.trace.num_tokens > 1:
        tokens = range(page.trace.num_tokens) if view == ALL else [choice.token]
        maps = [measures.other_tokens(values, tokens) for values in maps]
        ranked = "values[is_other].view(len(is_other), -1)"
    agreed = Agreement(list(mixing.maps), rank_agreement(maps))
    AGREEMENT.show(page, agreed, setup=setup_code(page, mixing, choice, view), ranked=ranked)


@frame.section()
def show_separator(page: frame.Page, where: Texts) -> None:
    """Draw how much comes from [SEP] in the weights, the norms, and after the residual."""
    separator_fractions = cache.call(measures.separator_fractions, where.key, where)
    ratios = ", ".join(f"{ratio:.0%}" for ratio in separator_fractions.mixing_ratio)
    SEPARATOR.show(page, separator_fractions, drawn={"separator": page.marks.others}, ratios=ratios)


_ROWS = (
    (
        "Attention weights",
        "α = softmax(q·k / √K), mean of the heads",
        "how long the vector is that a weight multiplies",
    ),
    (
        "Norm-weighted",
        "‖Σ α f(x)‖ over the heads, with f(x) = (x W_V + b_V) W_O (Kobayashi et al. 2020)",
        "what the token keeps of itself",
    ),
    (
        "… with residual",
        "the same with the residual connection, and LayerNorm if one follows it (Kobayashi et al. "
        "2021)",
        "the feed-forward block",
    ),
    (
        "Value zeroing",
        "1 − cos(y, y with the other token's value 0), y the layer's output (Mohebbi et al. 2023)",
        "later layers; two tokens that stand in for each other",
    ),
    (
        "Gradient × attention",
        "size of α · ∂ output / ∂α, mean of the heads (as in Barkan et al. 2021, with both signs)",
        "large changes: it is a slope at one point, for one output",
    ),
    (
        "Rollout",
        "product of ½ I + ½ A over the layers (Abnar and Zuidema 2020)",
        "values and feed-forward; it treats all heads as equally strong",
    ),
    (
        "Flow",
        "maximum flow with the same ½ I + ½ A as capacities (Abnar and Zuidema 2020)",
        "the same; the narrowest place decides, so through many layers all rows become alike",
    ),
    (
        "Value zeroing rolled out",
        "product of the layers' value zeroing (Mohebbi et al. 2023)",
        "what a token keeps through the residual connection alone; that effects need not multiply",
    ),
)
_HEAD = ("Measure", "Formula", "What it does not see")
MEASURES_EXPLAINED = markdown_table(_HEAD, _ROWS) + (
    "\n\nAttention is not explanation: a token may be read and change nothing, and it may matter "
    "in a way that no measure here follows. To test a cause, change the text or switch heads off."
)
"""A table in Markdown."""


@frame.fragment
def show(page: frame.Page) -> None:
    """Draw the page below the sentence box; runs alone when a choice changes."""
    where = Texts(page.bert_key, page.text_a, page.text_b)
    choice = kept_choice(page)
    view = one_of("View", VIEWS, VIEW)
    if view == "token":
        choose_token(page, choice)

    def below(mixing: MixingMaps) -> None:
        draw_controls(page)
        offer_slow(page, where, choice, view)
        show_notes(page, mixing, choice, view)
        picture_of(view).caption()
        with st.expander("What each measure is, and what it does not see"):
            st.markdown(MEASURES_EXPLAINED)

    mixing = show_picture(page, where, choice, view, below)
    show_agreement(page, choice, view, mixing)
    # A [SEP] after all other tokens is none to rest on.
    if "norms" in measures.measures(page.bert) and not page.bert.config.family.is_causal:
        show_separator(page, where)


def draw() -> None:
    """Draw the page."""
    show(frame.begin(PAGE))
