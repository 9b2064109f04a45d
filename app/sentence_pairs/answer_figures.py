"""The answer for a pair as a bar, and the answers after changes of the pair as dots."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from bertcore.analysis.words.next_sentence import Variant

from ..plots import theme
from ..plots.figure import Figure, bar, scatter
from ..plots.formats import percent, shorten

FOLLOWS, RANDOM = theme.SEGMENT_A, theme.SEGMENT_B
NO_MARGIN = {"l": 0, "r": 0, "t": 0, "b": 0}


NEXT_SENTENCE = ("B follows A", "B is a random text")
SENTENCE_ORDER = ("A comes before B", "they were swapped")


def answer_bar(variants: Sequence[Variant]) -> Figure:
    """Draw the next-sentence answer for the pair; of several variants the first."""
    return probability_bar(variants[0].is_next)


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
        fig.add_trace(
            bar(
                x=[value],
                y=[0],
                orientation="h",
                name=name,
                marker={"color": colour, "line_width": 0, "cornerradius": 6},
                hovertemplate=f"{name}: %{{x:.3%}}<extra></extra>",
            )
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
    fig.add_trace(
        scatter(
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
    )
    _add_names(fig, variants)
    theme.plot_layout(fig, "", "probability that B follows A", "", 50 * len(rows) + 64)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 0, "b": 0})
    fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%", fixedrange=True)
    fig.update_yaxes(visible=False, range=[len(rows) - 0.6, -0.85], fixedrange=True)
    return fig


def _add_rails(fig: Figure, variants: Sequence[Variant]) -> None:
    """Draw the scale of each row, a mark at the original and a line from it to the variant."""
    original = variants[0].is_next
    for row, variant in enumerate(variants):
        fig.add_shape(  # a mark on each row: one line through all would cross the numbers
            type="line",
            x0=original,
            x1=original,
            y0=row - 0.17,
            y1=row + 0.17,
            line={"color": theme.SPECIAL, "width": 2},
            layer="below",
        )
        fig.add_shape(
            type="line",
            x0=0,
            x1=1,
            y0=row,
            y1=row,
            line={"color": theme.GRID, "width": 3},
            layer="below",
        )
        fig.add_shape(
            type="line",
            x0=original,
            x1=variant.is_next,
            y0=row,
            y1=row,
            line={"color": theme.SPECIAL, "width": 3},
            opacity=0.5,
            layer="below",
        )


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
