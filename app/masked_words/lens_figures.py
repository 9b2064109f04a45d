"""Pictures of the prediction at each layer: words in cells, and the ranks of chosen words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.tuned_lens import LensGain
from bertcore.analysis.words.lens import Lens, Trajectories

from ..plots import theme
from ..plots.cells import cell_text
from ..plots.figure import Figure, heatmap, scatter, subplots
from ..plots.formats import percent, shorten

LIKE_ACCENT = ("#CC79A7", "#E4607A")
"""Colours of the categorical scale that could be mistaken for the accent."""


def lens_figure(lens: Lens, *, whole_sentence: bool = False) -> Figure:
    """Draw the best words after each layer: of one mask, or of each token of a sentence."""
    return _lens_sentence(lens) if whole_sentence else _lens_mask(lens)


def _lens_mask(lens: Lens) -> Figure:
    """Draw the k best words at the lens's first position: rows are layers, upwards as computed."""
    count = lens.words.shape[-1]
    headings = ["best", "2nd", "3rd", *(f"{n}th" for n in range(4, count + 1))][:count]
    rows = layer_names(len(lens.words))
    return word_grid(lens.words[:, 0], lens.probabilities[:, 0], rows, headings)


def _lens_sentence(lens: Lens) -> Figure:
    """Draw the best word at every position: rows are tokens, columns are layers."""
    columns = layer_names(len(lens.words))
    words, probabilities = lens.words[..., 0].T, lens.probabilities[..., 0].T
    fig = word_grid(words, probabilities, lens.tokens, columns)
    fig.update_yaxes(range=[len(lens.tokens) - 0.5, -0.5])
    return fig


def word_grid(
    words: NDArray[np.str_],
    probabilities: NDArray[np.float32],
    rows: Sequence[str],
    columns: Sequence[str],
) -> Figure:
    """Draw words in cells whose colour is their probability.

    Args:
        words, probabilities: [R, C].
        rows, columns: Names, [R] and [C].
    """
    letters = max(6, 70 // len(columns))
    texts = [[theme.escape(shorten(str(word), letters)) for word in row] for row in words]
    hover = [
        [
            f"<b>{theme.escape(str(word))}</b>  {percent(float(p))}<br>"
            f"{theme.escape(row)}, {theme.escape(column)}"
            for word, p, column in zip(line, values, columns, strict=True)
        ]
        for line, values, row in zip(words, probabilities, rows, strict=True)
    ]
    fig = Figure(
        heatmap(
            z=probabilities,
            x=list(range(len(columns))),
            y=list(range(len(rows))),
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            colorscale=theme.SEQUENTIAL,
            zmin=0,
            zmax=1,
            xgap=2,
            ygap=2,
            colorbar=theme.bar_above("probability", tickformat=".0%"),
        )
    )
    fig.add_trace(cell_text(probabilities, texts, 12 if len(columns) < 8 else 10))
    theme.plot_layout(fig, "", "", "", 30 * len(rows) + 100)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 54, "b": 0})
    short = [name.replace("layer ", "") for name in columns] if len(columns) > 7 else columns
    fig.update_xaxes(
        range=[-0.5, len(columns) - 0.5],
        tickvals=list(range(len(columns))),
        ticktext=[theme.escape(name) for name in short],
        tickangle=0,
        showgrid=False,
    )
    fig.update_yaxes(
        range=[-0.5, len(rows) - 0.5],
        tickvals=list(range(len(rows))),
        ticktext=[theme.escape(shorten(name, 14)) for name in rows],
        showgrid=False,
    )
    return fig


def layer_names(num_states: int) -> list[str]:
    """Return the name of each hidden state, [L+1].

    >>> layer_names(3)
    ['embeddings', 'layer 1', 'layer 2']
    """
    return ["embeddings", *(f"layer {i}" for i in range(1, num_states))]


def rank_curves(trajectories: Trajectories, original: str | None = None) -> Figure:
    """Draw the rank of each chosen word from layer to layer; 1 is on top.

    Args:
        original: The hidden word, if known; its curve has the colour of its bar in `top_words`.
    """
    fig = Figure()
    layers = list(range(len(trajectories.ranks)))
    colours = [c for c in theme.CATEGORICAL if c not in LIKE_ACCENT]
    for index, word in enumerate(trajectories.words):
        name = theme.escape(shorten(word))
        fig.add_trace(
            scatter(
                x=layers,
                y=trajectories.ranks[:, index],
                mode="lines+markers",
                name=name,
                line={
                    "color": theme.ACCENT if word == original else colours[index % len(colours)],
                    "width": 4 if word == original else 2.5,
                },
                marker_size=7,
                customdata=trajectories.probabilities[:, index],
                hovertemplate=f"<b>{name}</b>: rank %{{y:,}}, %{{customdata:.3%}}<extra></extra>",
            )
        )
    theme.plot_layout(fig, "", "", "rank (1 = best)", 330)
    worst = float(trajectories.ranks.max()) if trajectories.ranks.size else 10.0
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


def lens_table(lens: Lens) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings), position and rank."""
    num_states, num_positions, num_words = lens.words.shape
    return pd.DataFrame(
        [
            {
                "layer": layer,
                "position": lens.positions[n],
                "token": lens.tokens[n],
                "entropy_bits": float(lens.entropy[layer, n]),
                "rank": k + 1,
                "piece": lens.words[layer, n, k],
                "p": float(lens.probabilities[layer, n, k]),
            }
            for layer in range(num_states)
            for n in range(num_positions)
            for k in range(num_words)
        ]
    )


def ranks_table(trajectories: Trajectories) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings) and word."""
    return pd.DataFrame(
        [
            {"layer": layer, "word": word, "rank": int(rank), "p": float(p)}
            for layer, (ranks, values) in enumerate(
                zip(trajectories.ranks, trajectories.probabilities, strict=True)
            )
            for word, rank, p in zip(trajectories.words, ranks, values, strict=True)
        ]
    )


def gain_curves(gain: LensGain) -> Figure:
    """Draw how far each layer's words are from the last layer's, by both lenses."""
    fig = subplots(1, 2, subplot_titles=("KL to the last layer, bits", "same best word"))
    layers = list(range(len(gain.saved_bits.mean)))
    lenses = (("plain lens", gain.plain, theme.SPECIAL), ("tuned lens", gain.tuned, theme.ACCENT))
    for name, quality, colour in lenses:
        for column, interval in enumerate((quality.bits, quality.agreement), start=1):
            errors = {
                "type": "data",
                "symmetric": False,
                "array": interval.high - interval.mean,
                "arrayminus": interval.mean - interval.low,
                "thickness": 1.5,
            }
            form = ":.2f" if column == 1 else ":.1%"
            fig.add_trace(
                scatter(
                    x=layers,
                    y=interval.mean,
                    error_y=errors,
                    mode="lines+markers",
                    name=name,
                    legendgroup=name,
                    showlegend=column == 1,
                    line={"color": colour, "width": 2.5},
                    marker_size=7,
                    hovertemplate=f"{name}, layer %{{x}}: %{{y{form}}}<extra></extra>",
                ),
                row=1,
                col=column,
            )
    theme.plot_layout(fig, "", "layer (0: embeddings)", "", 330)
    return fig
