"""Pictures of masked-word predictions: bars, candidates, the lens and the ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from app import theme
from app.figures import token_flow
from bertcore.analysis.candidates import Candidate
from bertcore.analysis.lens import Lens, Trajectories
from bertcore.analysis.predictions import MaskPredictions

MASKS_ABREAST = 3
"""Masks side by side."""


def percent(p: float) -> str:
    """Return a probability as one reads it.

    >>> percent(0.973), percent(0.0312), percent(0.00042), percent(0.00000001)
    ('97%', '3.1%', '0.042%', '<0.001%')
    """
    value = 100 * p
    if value >= 99.5 and p < 1:
        return f"{min(value, 99.99):.2f}%"
    if value >= 10:
        return f"{value:.0f}%"
    if value >= 1:
        return f"{value:.1f}%"
    return f"{value:.2g}%" if value >= 0.001 else "<0.001%"


def top_words(found: MaskPredictions) -> go.Figure:
    """Draw the most probable words of each mask as bars, three masks abreast.

    Where the hidden token is known its bar stands out, and the heading says how it fares.
    """
    titles = [_mask_title(found, index) for index in range(len(found.positions))]
    words, probabilities = found.words, found.probabilities
    columns = min(MASKS_ABREAST, len(titles))
    rows = -(-len(titles) // columns)
    fig = make_subplots(
        rows,
        columns,
        subplot_titles=titles,
        horizontal_spacing=0.04,
        vertical_spacing=0.28 / rows,
    )
    highest = float(probabilities.max())
    for index, (names, values) in enumerate(zip(words, probabilities, strict=True)):
        shown = [
            f"<b>{theme.escape(n)}</b>  {percent(v)}" for n, v in zip(names, values, strict=True)
        ]
        colours = [theme.ACCENT if n == found.originals[index] else theme.SEGMENT_A for n in names]
        bars = go.Bar(
            x=values,
            y=list(range(len(names))),
            orientation="h",
            text=shown,
            textposition="outside",
            cliponaxis=False,
            marker={"color": colours, "line_width": 0},
            customdata=[theme.escape(n) for n in names],
            hovertemplate="%{customdata}: %{x:.4%}<extra></extra>",
            showlegend=False,
        )
        fig.add_trace(bars, row=index // columns + 1, col=index % columns + 1)
    theme.plot_layout(fig, "", "", "", rows * (24 * words.shape[1] + 40) + 20)
    fig.update_layout(bargap=0.25, margin_t=34, margin_b=4)
    # Room for the label at the end of the longest bar.
    fig.update_xaxes(visible=False, range=[0, highest * (1.5 if columns < 3 else 1.9)])
    fig.update_yaxes(visible=False, autorange="reversed")
    fig.update_annotations(font_size=13, xanchor="left")
    for index, annotation in enumerate(fig.layout.annotations):
        annotation.x = fig.get_subplot(index // columns + 1, index % columns + 1).xaxis.domain[0]
    return fig


def mask_names(found: MaskPredictions) -> list[str]:
    """Return a short name for each mask, as plain text: where it is and what was there."""
    return [
        f"[MASK] at {position}"
        if original is None
        else f"{token_flow.shorten(original)} ({position})"
        for position, original in zip(found.positions, found.originals, strict=True)
    ]


def _mask_title(found: MaskPredictions, index: int) -> str:
    original, rank = found.originals[index], found.original_ranks[index]
    name = f"<b>[MASK]</b> at {found.positions[index]}"
    if original is None or rank is None:
        return name
    token = theme.escape(token_flow.shorten(original))
    return f"{name}: was <b>{token}</b>, rank {rank:,}"


def candidate_dots(candidates: Sequence[Candidate]) -> go.Figure:
    """Draw the scored candidates on a logarithmic scale, best first.

    A filled dot is the word's probability; a ring, for words of several pieces, its mean a piece.
    """
    scored = sorted(
        (c for c in candidates if c.probability is not None),
        key=lambda c: -(c.log_probability or 0),
    )
    fig = go.Figure()
    # Names may repeat once shortened, so rows are numbers with tick texts.
    rows = list(range(len(scored)))
    floor = 1e-12  # a logarithmic axis has no zero
    whole = [max(c.probability or 0.0, floor) for c in scored]
    fig.add_trace(
        go.Bar(
            x=whole,
            y=rows,
            orientation="h",
            width=0.12,
            marker_color=theme.SEGMENT_A,
            opacity=0.35,
            hoverinfo="skip",
            showlegend=False,
        )
    )
    several = [i for i in rows if len(scored[i].pieces) > 1]
    if several:
        fig.add_trace(
            go.Scatter(
                x=[max(scored[i].probability_per_piece or 0.0, floor) for i in several],
                y=several,
                mode="markers",
                marker={"symbol": "circle-open", "size": 12, "color": theme.SEGMENT_B},
                marker_line_width=2,
                name="mean for each piece",
                hovertemplate="%{x:.3%} a piece<extra></extra>",
            )
        )
    fig.add_trace(
        go.Scatter(
            x=whole,
            y=rows,
            mode="markers+text",
            marker={"size": 12, "color": theme.SEGMENT_A},
            text=[f"  {percent(c.probability or 0.0)}" for c in scored],
            textposition="middle right",
            cliponaxis=False,
            name="whole word",
            customdata=[_pieces(c) for c in scored],
            hovertemplate="%{customdata}: %{x:.3%}<extra></extra>",
            showlegend=bool(several),
        )
    )
    theme.plot_layout(fig, "", "probability (logarithmic)", "", 36 * len(scored) + 90)
    low = min([1e-4, *whole])
    fig.update_xaxes(type="log", range=[np.log10(low) - 0.3, 0.45], tickformat=".0e", dtick=1)
    fig.update_xaxes(tickvals=[10.0**e for e in range(-12, 1)], ticktext=_powers())
    fig.update_yaxes(
        tickvals=rows,
        ticktext=[_pieces(c) for c in scored],
        range=[len(scored) - 0.4, -0.6],
        showgrid=False,
    )
    return fig


def _powers() -> list[str]:
    return [percent(10.0**e) if e >= -5 else f"10<sup>{e}</sup>" for e in range(-12, 1)]


def _pieces(candidate: Candidate) -> str:
    word = f"<b>{theme.escape(token_flow.shorten(candidate.word))}</b>"
    if len(candidate.pieces) == 1:
        return word
    pieces = theme.escape(token_flow.shorten(" ".join(candidate.pieces), 30))
    return f"{word}<br><sub>{pieces}</sub>"


def lens_mask(found: Lens) -> go.Figure:
    """Draw the k best words at one position (the first of the lens) after each layer."""
    count = found.words.shape[-1]
    headings = ["best", "2nd", "3rd", *(f"{n}th" for n in range(4, count + 1))][:count]
    return lens_grid(found.words[:, 0], found.probabilities[:, 0], headings)


def lens_sentence(found: Lens) -> go.Figure:
    """Draw the best word at every position of the lens after each layer."""
    return lens_grid(found.words[..., 0], found.probabilities[..., 0], found.tokens)


def lens_grid(
    words: NDArray[np.str_],
    probabilities: NDArray[np.float32],
    columns: Sequence[str],
) -> go.Figure:
    """Draw words in cells: rows are layers, upwards as the network computes, colour probability.

    Args:
        words, probabilities: [L+1, N]; index 0 is the embeddings' output.
        columns: Heading of each column, [N].
    """
    num_rows, num_columns = words.shape
    letters = max(4, 96 // max(num_columns, 1))
    shown = [[theme.escape(token_flow.shorten(w, letters)) for w in row] for row in words]
    hover = [
        [
            f"<b>{theme.escape(str(word))}</b>  {percent(float(p))}<br>"
            f"{theme.escape(column)}, {name}"
            for word, p, column in zip(row, values, columns, strict=True)
        ]
        for row, values, name in zip(words, probabilities, layer_names(num_rows), strict=True)
    ]
    fig = go.Figure(
        go.Heatmap(
            z=probabilities,
            x=list(range(num_columns)),
            y=list(range(num_rows)),
            text=shown,
            customdata=hover,
            texttemplate="%{text}",
            textfont_size=12,
            hovertemplate="%{customdata}<extra></extra>",
            colorscale=theme.SEQUENTIAL,
            zmin=0,
            zmax=1,
            xgap=2,
            ygap=2,
            colorbar={"title": {"text": "probability"}, "tickformat": ".0%", "thickness": 12},
        )
    )
    theme.plot_layout(fig, "", "", "", max(160, 34 * num_rows + 60))
    names = [theme.escape(token_flow.shorten(c, letters + 2)) for c in columns]
    fig.update_xaxes(
        tickvals=list(range(num_columns)), ticktext=names, side="bottom", showgrid=False
    )
    fig.update_yaxes(tickvals=list(range(num_rows)), ticktext=layer_names(num_rows), showgrid=False)
    return fig


def layer_names(num_states: int) -> list[str]:
    """Return the name of each hidden state, [L+1].

    >>> layer_names(3)
    ['embeddings', 'layer 1', 'layer 2']
    """
    return ["embeddings", *(f"layer {i}" for i in range(1, num_states))]


def rank_curves(found: Trajectories) -> go.Figure:
    """Draw the rank of each chosen word from layer to layer; 1 is on top."""
    fig = go.Figure()
    layers = list(range(len(found.ranks)))
    for index, word in enumerate(found.words):
        name = theme.escape(token_flow.shorten(word))
        fig.add_trace(
            go.Scatter(
                x=layers,
                y=found.ranks[:, index],
                mode="lines+markers",
                name=name,
                line={"color": theme.CATEGORICAL[index % len(theme.CATEGORICAL)], "width": 2.5},
                marker_size=7,
                customdata=found.probabilities[:, index],
                hovertemplate=f"<b>{name}</b>: rank %{{y:,}}, %{{customdata:.3%}}<extra></extra>",
            )
        )
    theme.plot_layout(fig, "", "", "rank (1 = best)", 330)
    worst = float(found.ranks.max()) if found.ranks.size else 10.0
    powers = list(range(int(np.ceil(np.log10(max(worst, 2)))) + 1))
    fig.update_xaxes(tickvals=layers, ticktext=layer_names(len(layers)))
    fig.update_yaxes(
        type="log",
        range=[np.log10(max(worst, 10)) + 0.15, -0.15],
        tickvals=[10**e for e in powers],
        ticktext=[f"{10**e:,}" for e in powers],
    )
    fig.update_layout(hovermode="x unified", showlegend=True)
    return fig
