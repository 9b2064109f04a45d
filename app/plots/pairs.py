"""Pictures of the next-sentence laboratory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from app.plots import theme
from app.plots.cells import cell_text, top_bar
from app.plots.formats import percent
from app.plots.token_flow import shorten
from bertcore.analysis.words.next_sentence import AttentionMass, Variant

FOLLOWS, RANDOM = theme.SEGMENT_A, theme.SEGMENT_B
NO_MARGIN = {"l": 0, "r": 0, "t": 0, "b": 0}


NEXT_SENTENCE = ("B follows A", "B is a random text")
SENTENCE_ORDER = ("A comes before B", "they were exchanged")


def probability_bar(first: float, names: tuple[str, str] = NEXT_SENTENCE) -> go.Figure:
    """Draw both classes of a head for pairs as one bar of length 1.

    Args:
        first: Probability of class 0.
        names: What the two classes mean.
    """
    fig = go.Figure()
    parts = (
        (first, names[0], FOLLOWS, 0.0, "left"),
        (1 - first, names[1], RANDOM, 1.0, "right"),
    )
    for value, name, colour, side, anchor in parts:
        fig.add_trace(
            go.Bar(
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


def variant_dots(variants: Sequence[Variant]) -> go.Figure:
    """Draw each variant's probability as a dot, joined to that of the pair as written (first)."""
    original = variants[0].is_next
    rows = list(range(len(variants)))
    fig = go.Figure()
    for row, variant in zip(rows, variants, strict=True):
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
    fig.add_trace(
        go.Scatter(
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
    for row, variant in zip(rows, variants, strict=True):
        change = "" if row == 0 else f"  {100 * (variant.is_next - original):+.1f}"
        texts = (
            (0.0, "left", _variant_name(variant)),
            (1.0, "right", f"<b>{percent(variant.is_next)}</b>{change}"),
        )
        for x, anchor, text in texts:
            fig.add_annotation(
                x=x, xanchor=anchor, y=row - 0.24, yanchor="bottom", text=text, showarrow=False
            )
    theme.plot_layout(fig, "", "probability that B follows A", "", 50 * len(rows) + 64)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 0, "b": 0})
    fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%", fixedrange=True)
    fig.update_yaxes(visible=False, range=[len(rows) - 0.6, -0.85], fixedrange=True)
    return fig


def _variant_name(variant: Variant) -> str:
    if variant.name != "another B":
        return theme.escape(variant.name)
    return f"B = <i>{theme.escape(shorten(variant.text_b, 38))}</i>"


def mass_lines(found: AttentionMass) -> go.Figure:
    """Draw the attention mass from A to B and back by layer: mean over heads, and their range.

    Layers and heads are counted from 0, as in the attention views.
    """
    num_layers = found.mass.shape[0]
    layers = list(range(num_layers))
    fig = go.Figure()
    ways = (("A", "B", theme.SEGMENT_A), ("B", "A", theme.SEGMENT_B))
    for source, target, colour in ways:
        mass = found.between(source, target)
        name = f"{source} to {target}"
        band = [*mass.max(1), *mass.min(1)[::-1]]
        fig.add_trace(
            go.Scatter(
                x=[*layers, *layers[::-1]],
                y=band,
                fill="toself",
                fillcolor=colour,
                opacity=0.14,
                line_width=0,
                mode="lines",
                hoverinfo="skip",
                legendgroup=name,
                showlegend=False,
            )
        )
        fig.add_trace(
            go.Scatter(
                x=layers,
                y=mass.mean(1),
                mode="lines+markers",
                name=name,
                legendgroup=name,
                line={"color": colour, "width": 3},
                marker_size=8,
                hovertemplate=f"{name}: %{{y:.1%}} (mean of the heads)<extra></extra>",
            )
        )
        even = float(found.share[("A", "B", "special").index(target)])
        fig.add_trace(
            go.Scatter(
                x=layers,
                y=[even] * num_layers,
                mode="lines",
                name=f"share of {target} in the tokens",
                legendgroup=name,
                line={"color": colour, "width": 1.5, "dash": "dot"},
                hovertemplate=f"share of {target} in the tokens: %{{y:.1%}}<extra></extra>",
            )
        )
    theme.plot_layout(fig, "", "layer", "share of the attention", 320)
    fig.update_layout(hovermode="x unified")
    fig.update_xaxes(tickvals=layers)
    fig.update_yaxes(tickformat=".0%", rangemode="tozero")
    return fig


def mass_heatmaps(found: AttentionMass) -> go.Figure:
    """Draw the attention mass of every head, from A to B and from B to A, on one colour scale."""
    num_layers, num_heads = found.mass.shape[:2]
    ways = (("A", "B"), ("B", "A"))
    fig = make_subplots(1, 2, horizontal_spacing=0.06)
    for column, (source, target) in enumerate(ways, start=1):
        fig.add_trace(
            go.Heatmap(
                z=found.between(source, target),
                x=list(range(num_heads)),
                y=list(range(num_layers)),
                coloraxis="coloraxis",
                xgap=2,
                ygap=2,
                hovertemplate="layer %{y}, head %{x}: %{z:.1%} of the attention of "
                f"{source} goes to {target}<extra></extra>",
            ),
            row=1,
            col=column,
        )
    theme.plot_layout(fig, "", "", "", 26 * num_layers + 150)
    fig.update_layout(
        margin={"l": 0, "r": 0, "t": 54, "b": 44},
        coloraxis={
            "colorscale": theme.SEQUENTIAL,
            "cmin": 0,
            "cmax": max(float(found.between(*way).max()) for way in ways),
            "colorbar": top_bar("share of the attention"),
        },
    )
    fig.update_xaxes(tickvals=list(range(num_heads)), showgrid=False)
    fig.update_yaxes(tickvals=list(range(num_layers)), showgrid=False)
    for column, (source, target) in enumerate(ways, start=1):
        fig.update_xaxes(title_text=f"{source} to {target}, by head", col=column)
    fig.update_yaxes(title_text="layer", col=1)
    fig.update_yaxes(showticklabels=False, col=2)
    return fig


def pair_matrix(matrix: NDArray[np.float32], sentences: Sequence[str]) -> go.Figure:
    """Draw the probability that the column's sentence follows the row's; the diagonal is empty."""
    count = len(sentences)
    places, numbers = list(range(count)), [str(n) for n in range(1, count + 1)]
    hover = [
        [
            f"<b>{percent(float(p))}</b><br>A: {theme.escape(shorten(a, 80))}<br>"
            f"B: {theme.escape(shorten(b, 80))}"
            for b, p in zip(sentences, row, strict=True)
        ]
        for a, row in zip(sentences, matrix, strict=True)
    ]
    text = [["" if np.isnan(p) else percent(float(p)) for p in row] for row in matrix]
    fig = go.Figure(
        go.Heatmap(
            z=matrix,
            x=places,
            y=places,
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            hoverongaps=False,
            colorscale=theme.SEQUENTIAL,
            zmin=0,
            zmax=1,
            xgap=3,
            ygap=3,
            colorbar=top_bar("B follows A"),
        )
    )
    fig.add_trace(cell_text(matrix, text, 13 if count < 8 else 10))
    theme.plot_layout(fig, "", "sentence B (number)", "sentence A", 40 * count + 130)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 54, "b": 0})
    names = [f"{theme.escape(shorten(s, 16))}  <b>{n}</b>" for n, s in enumerate(sentences, 1)]
    fig.update_xaxes(range=[-0.5, count - 0.5], tickvals=places, ticktext=numbers, showgrid=False)
    fig.update_yaxes(range=[count - 0.5, -0.5], tickvals=places, ticktext=names, showgrid=False)
    return fig
