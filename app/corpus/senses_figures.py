"""Figures of a word's senses: how clear the groups are at each layer, and the occurrences."""

from __future__ import annotations

import pandas as pd

from bertcore.corpus.search import Hit, Senses, WordSenses
from bertcore.corpus.search.senses import NUM_NULLS

from ..plots import theme
from ..plots.figure import Figure, scatter
from ..plots.formats import shorten
from . import hits

_CONTEXT = 40
LINES = ("silhouette", f"highest of {NUM_NULLS} clouds without groups", "stability")


def clearness(found: WordSenses, layer: int) -> Figure:
    """Draw silhouette, its chance level and stability over the layers; `layer` is marked."""
    places = [senses.layer for senses in found.by_layer]
    lines = (
        [senses.silhouette for senses in found.by_layer],
        [senses.chance for senses in found.by_layer],
        [senses.stability for senses in found.by_layer],
    )
    colours = (theme.CATEGORICAL[0], theme.SPECIAL, theme.CATEGORICAL[2])
    fig = Figure(
        [
            scatter(
                x=places,
                y=values,
                mode="lines+markers",
                name=name,
                line={"color": colour, "width": 3, "dash": dash},
                marker={"size": 9},
                hovertemplate="layer %{x}: %{y:.2f}<extra>" + name + "</extra>",
            )
            for values, name, colour, dash in zip(
                lines, LINES, colours, ("solid", "dash", "dot"), strict=True
            )
        ]
    )
    theme.plot_layout(fig, "", "Layer (0: embeddings)", "", 280)
    fig.update_yaxes(range=[min(0.0, *(min(values) for values in lines)) - 0.05, 1.05])
    fig.update_xaxes(tickmode="array", tickvals=places)
    fig.add_vline(layer, line={"color": theme.SPECIAL, "width": 1, "dash": "dot"})
    fig.update_layout(margin={"t": 36}, showlegend=True)
    return fig


def occurrence_map(found: WordSenses, senses: Senses) -> Figure:
    """Draw the occurrences by their first two principal components, coloured by group."""
    fig = Figure()
    for number, _ in enumerate(senses.groups):
        own = [i for i, label in enumerate(senses.labels) if label == number]
        fig.add_trace(
            scatter(
                x=[float(senses.points[i, 0]) for i in own],
                y=[float(senses.points[i, 1]) for i in own],
                mode="markers",
                name=f"group {number + 1}",
                marker={
                    "size": 10,
                    "color": theme.CATEGORICAL[number],
                    "symbol": ("circle", "diamond", "square", "cross", "x")[number],
                    "opacity": 0.8,
                },
                customdata=[_context(found.occurrences[i]) for i in own],
                hovertemplate="%{customdata}<extra>" + f"group {number + 1}</extra>",
            )
        )
    theme.plot_layout(fig, "", "first component", "second component", 360)
    fig.update_layout(margin={"t": 36}, showlegend=True)
    return fig


def _context(hit: Hit) -> str:
    end = hits.end_of_word(hit)
    left = hit.text[max(0, hit.start - _CONTEXT) : hit.start]
    right = shorten(hit.text[end : end + 2 * _CONTEXT], _CONTEXT)
    return f"{theme.escape(left)}<b>{theme.escape(hit.word)}</b>{theme.escape(right)}"


def layer_table(found: WordSenses) -> pd.DataFrame:
    """Return a row for each layer."""
    return pd.DataFrame(
        [
            {
                "layer": senses.layer,
                "groups": len(senses.groups),
                "silhouette": senses.silhouette,
                "chance": senses.chance,
                "stability": senses.stability,
            }
            for senses in found.by_layer
        ]
    )


def occurrence_table(found: WordSenses, senses: Senses) -> pd.DataFrame:
    """Return a row for each occurrence, with its group at one layer."""
    return pd.DataFrame(
        [
            {
                "group": int(label) + 1,
                "x": float(point[0]),
                "y": float(point[1]),
                "word": hit.word,
                "text": hit.text,
                "start": hit.start,
                "document": hit.document,
                "sentence": hit.sentence,
            }
            for label, point, hit in zip(
                senses.labels, senses.points, found.occurrences, strict=True
            )
        ]
    )
