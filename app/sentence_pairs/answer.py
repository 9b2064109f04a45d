"""The answer for a pair, after changes of the pair, and ALBERT's: which sentence comes first."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.analysis.words.next_sentence import (
    SEGMENTS,
    Variant,
    pair_variants,
    segment_ids,
)

from ..plots import Figure, percent, shorten, theme
from ..shell import Picture, frame

FOLLOWS, RANDOM = theme.SEGMENT_A, theme.SEGMENT_B
NO_MARGIN = {"l": 0, "r": 0, "t": 0, "b": 0}


NEXT_SENTENCE = ("B follows A", "B is a random text")
SENTENCE_ORDER = ("A comes before B", "they were swapped")


def probability_bar(first: float, names: tuple[str, str] = NEXT_SENTENCE) -> Figure:
    """Draw both classes of a head for pairs as one bar of length 1.

    Args:
        first: Probability of class 0.
        names: What the two classes mean.
    """
    fig = Figure()
    parts = (
        (first, names[0], FOLLOWS, 0.0, "left"),
        (1 - first, names[1], RANDOM, 1.0, "right"),
    )
    for value, name, colour, side, anchor in parts:
        fig.add(
            "bar",
            x=[value],
            y=[0],
            orientation="h",
            name=name,
            marker={"color": colour, "line_width": 0, "cornerradius": 6},
            hovertemplate=f"{name}: %{{x:.3%}}<extra></extra>",
        )
        # Above the bar's ends, since a sliver has no room for text.
        fig.add_annotation(
            x=side,
            xanchor=anchor,
            y=0.62,
            yanchor="bottom",
            text=f"<b>{percent(value)}</b>  {name}",
            font_size=15,
            showarrow=False,
        )
    theme.plot_layout(fig, "", "", "", 96)
    fig.update_layout(barmode="stack", bargap=0, showlegend=False, margin=NO_MARGIN)
    fig.update_xaxes(range=[0, 1], visible=False, fixedrange=True)
    fig.update_yaxes(range=[-0.5, 1.3], visible=False, fixedrange=True)
    return fig


def variant_dots(variants: Sequence[Variant]) -> Figure:
    """Draw each variant's probability as a dot, joined to that of the pair as written (first)."""
    rows = list(range(len(variants)))
    fig = Figure()
    _add_rails(fig, variants)
    fig.add(
        "scatter",
        x=[v.is_next for v in variants],
        y=rows,
        mode="markers",
        marker={
            "size": 15,
            "color": [v.is_next for v in variants],
            "colorscale": [[0, RANDOM], [0.5, "#B9BDC9"], [1, FOLLOWS]],
            "cmin": 0,
            "cmax": 1,
            "line": {"width": 1.5, "color": "#FFFFFF"},
        },
        cliponaxis=False,
        customdata=[
            f"<b>{theme.escape(v.name)}</b><br>A: {theme.escape(shorten(v.text_a, 70))}<br>"
            f"B: {theme.escape(shorten(v.text_b, 70))}"
            for v in variants
        ],
        hovertemplate="%{customdata}<br>B follows A: %{x:.3%}<extra></extra>",
        showlegend=False,
    )
    _add_names(fig, variants)
    theme.plot_layout(fig, "", "probability that B follows A", "", 50 * len(rows) + 64)
    fig.update_layout(margin=NO_MARGIN)
    fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%", fixedrange=True)
    fig.update_yaxes(visible=False, range=[len(rows) - 0.6, -0.85], fixedrange=True)
    return fig


def _add_rails(fig: Figure, variants: Sequence[Variant]) -> None:
    """Draw the scale of each row, a mark at the original and a line from it to the variant."""
    original = variants[0].is_next
    for row, variant in enumerate(variants):
        # A mark on each row: one line through all would cross the numbers.
        mark = {"x0": original, "x1": original, "y0": row - 0.17, "y1": row + 0.17}
        scale = {"x0": 0, "x1": 1, "y0": row, "y1": row}
        change = {"x0": original, "x1": variant.is_next, "y0": row, "y1": row, "opacity": 0.5}
        for ends, colour, width in (
            (mark, theme.SPECIAL, 2),
            (scale, theme.GRID, 3),
            (change, theme.SPECIAL, 3),
        ):
            line = {"color": colour, "width": width}
            fig.add_shape(type="line", line=line, layer="below", **ends)


def _add_names(fig: Figure, variants: Sequence[Variant]) -> None:
    """Write what was changed on the left of each row, the answer and its change on the right."""
    original = variants[0].is_next
    for row, variant in enumerate(variants):
        change = "" if row == 0 else f"  {100 * (variant.is_next - original):+.1f}"
        texts = (
            (0.0, "left", _variant_name(variant)),
            (1.0, "right", f"<b>{percent(variant.is_next)}</b>{change}"),
        )
        for x, anchor, text in texts:
            fig.add_annotation(
                x=x, xanchor=anchor, y=row - 0.24, yanchor="bottom", text=text, showarrow=False
            )


def _variant_name(variant: Variant) -> str:
    if variant.name != "another B":
        return theme.escape(variant.name)
    return f"B = <i>{theme.escape(shorten(variant.text_b, 38))}</i>"


def variants_table(variants: Sequence[Variant]) -> pd.DataFrame:
    """Return a row for each variant."""
    return pd.DataFrame(
        [
            {"change": v.name, "text_a": v.text_a, "text_b": v.text_b, "p_is_next": v.is_next}
            for v in variants
        ]
    )


ANSWER = Picture(
    name="next-sentence",
    figure=lambda variants: probability_bar(variants[0].is_next),
    table=variants_table,
    how=(
        "BERT is pretrained on pairs of neighbouring texts and, a little more often, on texts from "
        "different documents, to prepare it for tasks about two texts: question answering and "
        "natural language inference (Devlin et al. 2019, section 3.1). The topic often gives the "
        "answer away, so BERT may learn *is this the same topic?* rather than *does this come "
        "next?* (Lan et al. 2020). Near 0% and 100% a small change in probability is a large "
        "change in the logit."
    ),
    code="""
from bertcore.analysis.words.next_sentence import segment_ids

ids = segment_ids(trace, {segments!r})
bert.next_sentence({a!r}, {b!r}, segment_ids=ids).is_next
""",
)
VARIANTS = Picture(
    name="variants",
    figure=variant_dots,
    table=variants_table,
    how=(
        "Each dot is the answer after one change; the mark on each row is the pair as written, and "
        "the number after the percentage is the difference in percentage points. If swapping the "
        "order changes little, the answer does not use the order (near 0% and 100%, look at the "
        "logit). Segment ids and \\[SEP\\] tell BERT where B begins: without them it may no longer "
        "see two sentences."
    ),
    code="""
from bertcore.analysis.words.next_sentence import pair_variants

variants = pair_variants(bert, {a!r}, {b!r}, {others!r})
[(v.name, v.is_next) for v in variants]
""",
)
ORDER = Picture(
    name="sentence-order",
    figure=lambda in_order: probability_bar(in_order, SENTENCE_ORDER),
    table=lambda in_order: pd.DataFrame(
        {"class": SENTENCE_ORDER, "probability": [in_order, 1 - in_order]}
    ),
    how=(
        "ALBERT was trained to distinguish two neighbouring passages in order from the same two "
        "swapped. Both are about the same topic, so unlike BERT's next-sentence head it must judge "
        "which comes first. Swap A and B to ask the other way round."
    ),
    code="""
bert.sentence_order({a!r}, {b!r}).in_order
""",
)


def show_answer(page: frame.Page, segments: str) -> None:
    """Draw the answer for the pair with the chosen segment ids."""
    pair, ids = (page.text_a, page.text_b or ""), segment_ids(page.trace, segments)
    is_next = page.compute(Model.next_sentence, *pair, segment_ids=ids).is_next
    st.header(f"BERT gives a **{percent(is_next)}** probability that B follows A", anchor=False)
    answer = Variant(SEGMENTS[segments], *pair, is_next)
    ANSWER.show(page, [answer], a=page.text_a, b=page.text_b, segments=segments)


@frame.fragment
def show_variants(page: frame.Page, others: tuple[str, ...]) -> None:
    """Draw the answers to changed versions of the pair."""
    st.header("What changes the answer?", anchor=False)
    variants = page.compute(pair_variants, page.text_a, page.text_b or "", others)
    VARIANTS.show(page, variants, a=page.text_a, b=page.text_b, others=others)


def show_order(page: frame.Page) -> None:
    """Draw ALBERT's answer for the pair."""
    in_order = page.compute(sentence_order, page.text_a, page.text_b or "")
    st.header(
        f"ALBERT gives a **{percent(in_order)}** probability that A comes before B", anchor=False
    )
    ORDER.show(page, in_order, a=page.text_a, b=page.text_b)


def sentence_order(bert: Model, text_a: str, text_b: str) -> float:
    """Return the probability that A comes before B."""
    return bert.sentence_order(text_a, text_b).in_order
