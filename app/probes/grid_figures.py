"""Grids over the layers: the labels of a sentence's words, and the recall of each label."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from bertcore.probes import LabelScores
from bertcore.probes.live import WordLabels

from ..plots import Figure, Properties, heatmap, shorten, subplots, tabulate, theme, with_interval

ROW_PIXELS = 24
MOST_WORDS = 60  # most words of a sentence in the grid; the table has all
BETWEEN = 70  # pixels between the grids of two checkpoints
FEW_LAYERS, MANY_LAYERS = 8, 16
"""Up to so many layers a cell has room for a label; up to so many, for five letters."""
_BLUE = [[0.0, "rgba(52, 87, 213, 0.04)"], [1.0, "rgba(52, 87, 213, 0.44)"]]
_PINK = [[0.0, "rgba(194, 65, 124, 0.04)"], [1.0, "rgba(194, 65, 124, 0.5)"]]
"""Let the page's background through, so that text is legible on light and on dark."""


class Sentence(NamedTuple):
    """A text's labels by the probes of a checkpoint."""

    name: str
    """Name of the checkpoint."""
    labels: WordLabels


class Recall(NamedTuple):
    """The recall of each label by the probes of a checkpoint."""

    name: str
    scores: LabelScores


def label_grid(shown: Sequence[Sentence], is_dark: bool = False) -> Figure:
    """Draw a row for each word and a column for each layer, with the label in each cell.

    Args:
        shown: Texts by checkpoint, one below the other.
    """
    names = list(dict.fromkeys(one.name for one in shown))
    sizes = [
        min(MOST_WORDS, sum(len(one.labels.words) for one in shown if one.name == name))
        for name in names
    ]
    fig = _panels(names, sizes)
    for number, name in enumerate(names, start=1):
        words: list[str] = []
        labels: list[tuple[str, ...]] = []
        chances: list[list[float]] = []
        is_wrong: list[list[bool]] = []
        layers: tuple[int, ...] = ()
        for _, found in (one for one in shown if one.name == name):
            layers = found.layers
            for place, word in enumerate(found.words):
                row = tuple(label[place] for label in found.labels)
                words.append(word)
                labels.append(row)
                chances.append(found.probabilities[:, place].tolist())
                gold = found.gold[place] if found.gold else None
                is_wrong.append([gold is not None and label != gold for label in row])
        words, labels = words[:MOST_WORDS], labels[:MOST_WORDS]
        wrong = np.array(is_wrong[:MOST_WORDS])
        values = np.array(chances[:MOST_WORDS])
        longest = 9 if len(layers) <= FEW_LAYERS else 5
        text = [[theme.escape(shorten(label, longest)) for label in row] for row in labels]
        hover = [
            [f"{theme.escape(label)}, {value[place]:.1%}" for place, label in enumerate(row)]
            for row, value in zip(labels, values, strict=True)
        ]
        for kept, scale in ((~wrong, _BLUE), (wrong, _PINK)):
            if kept.any():
                fig.add_trace(_cells(layers, values, kept, scale, text, hover, is_dark), number, 1)
        _rows(fig, number, [theme.escape(shorten(word, 16)) for word in words], layers)
    return _finished(fig, sizes)


def recall_grid(found: Sequence[Recall], is_dark: bool = False) -> Figure:
    """Draw a row for each label and a column for each layer, with the recall in each cell."""
    sizes = [len(one.scores.labels) for one in found]
    fig = _panels([one.name for one in found], sizes)
    for number, (_, scores) in enumerate(found, start=1):
        values = np.array([[score.value for score in row] for row in scores.recall]).T
        text = [[f"{value:.0%}" for value in row] for row in values]
        hover = [
            [
                f"{theme.escape(label)}: "
                + with_interval(row[place].value, row[place].low, row[place].high, ".1%")
                for row in scores.recall
            ]
            for place, label in enumerate(scores.labels)
        ]
        kept = np.ones(values.shape, dtype=np.bool_)
        fig.add_trace(_cells(scores.layers, values, kept, _BLUE, text, hover, is_dark), number, 1)
        names = [
            f"{theme.escape(shorten(label, 14))} ({count:,})"
            for label, count in zip(scores.labels, scores.num_words, strict=True)
        ]
        _rows(fig, number, names, scores.layers)
    return _finished(fig, sizes)


def recall_table(found: Sequence[Recall]) -> pd.DataFrame:
    """Return a row for each checkpoint, layer and label."""
    return tabulate(
        "checkpoint layer label words recall recall_low recall_high",
        (
            (name, layer, label, count, score.value, score.low, score.high)
            for name, scores in found
            for layer, row in zip(scores.layers, scores.recall, strict=True)
            for label, count, score in zip(scores.labels, scores.num_words, row, strict=True)
        ),
    )


def _panels(names: Sequence[str], sizes: Sequence[int]) -> Figure:
    """Return a plot for each checkpoint, one below the other, as high as its rows."""
    if len(names) == 1:
        return subplots(1, 1)
    titles = [theme.escape(shorten(name, 28)) for name in names]
    between = BETWEEN / (ROW_PIXELS * sum(sizes) + BETWEEN * (len(names) - 1))
    return subplots(
        len(names), 1, subplot_titles=titles, row_heights=list(sizes), vertical_spacing=between
    )


def _cells(
    layers: Sequence[int],
    values: np.ndarray,
    kept: np.ndarray,
    scale: list[list[object]],
    text: list[list[str]],
    hover: list[list[str]],
    is_dark: bool,
) -> Properties:
    """Return cells [W, M], coloured by a value of 0 to 1; those that are not kept are left out."""
    return heatmap(
        x=[str(layer) for layer in layers],
        y=list(range(len(values))),
        z=[
            [float(value) if keep else None for value, keep in zip(row, keeps, strict=True)]
            for row, keeps in zip(values, kept, strict=True)
        ],
        text=[
            [word if keep else "" for word, keep in zip(row, keeps, strict=True)]
            for row, keeps in zip(text, kept, strict=True)
        ],
        customdata=hover,
        texttemplate="%{text}" if len(layers) <= MANY_LAYERS else "",
        # Plotly would choose the ink by colours that it takes for opaque.
        textfont={"size": 12 if len(layers) <= FEW_LAYERS else 10, "color": theme.INK[is_dark]},
        colorscale=scale,
        zmin=0,
        zmax=1,
        showscale=False,
        xgap=2,
        ygap=2,
        hoverongaps=False,
        hovertemplate="layer %{x}: %{customdata}<extra></extra>",
    )


def _rows(fig: Figure, number: int, names: list[str], layers: Sequence[int]) -> None:
    rows = theme.named_rows(names)
    fig.update_yaxes(number, 1, **rows, tickmode="array", ticklen=0, tickfont={"size": 13})
    columns = [str(layer) for layer in layers]
    looks = {"type": "category", "side": "top", "showgrid": False, "title_text": "", "ticklen": 0}
    fig.update_xaxes(number, 1, tickvals=columns, **looks)


def _finished(fig: Figure, sizes: Sequence[int]) -> Figure:
    top = 34 if len(sizes) == 1 else 56
    height = ROW_PIXELS * sum(sizes) + BETWEEN * (len(sizes) - 1) + top + 10
    theme.plot_layout(fig, "", "", "", height)
    fig.update_layout(margin={"l": 8, "r": 8, "t": top, "b": 10}, dragmode=False)
    fig.update_annotations(yshift=22, x=0, xanchor="left", font={"size": 14})
    return fig
