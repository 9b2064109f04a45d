"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.space.embeddings import (
    NormNumbers,
    SumNumbers,
    leave_one_out,
    nearest_words,
    norm_numbers,
    sum_numbers,
    token_columns,
)
from bertcore.analysis.space.position_table import (
    PositionSimilarity,
    Rotations,
    position_similarity,
    rotations,
)
from bertcore.analysis.words.vocabulary import (
    UnigramCut,
    VocabularySize,
    measure_sizes,
    token_table_share,
    unigram_ways,
    vocabulary_growth,
)
from bertcore.base.states import state_names
from bertcore.model.architecture.config import bert_base, bert_mini

from ...on_demand import pd
from ...plots import Figure, plain, subplots, tabulate, theme
from ...plots.charts import Bars, Grid, Intervals, Lines
from ...plots.tables import arrays, cells, columns, exploded, named, stacked
from ...plots.token_flow import MAX_LABELS, axis_name, label_height, token_axis, token_frame
from ...view import View, tidy_at

STRIPS = {"token": "token", "segment": "+ segment", "position": "+ position", "sum": "= sum"}
"""The strips from top to bottom, with their labels."""
MOST_DIMS = 48  # that are drawn: a strip has two lines of pixels for each
ALL_SIZES = (250, 500, 1000, 2000, 4000, 8000, 16_000, 30_522, 60_000, 100_000)
"""Rows of the token table for which its share is drawn; BERT's own is among them."""
SHAPES = {"BERT Base": bert_base(), "4 layers, 256 wide": bert_mini()}
MEASURED_BY_SIZE = (
    ("Pieces per word", "WordPiece", "pieces_per_word"),
    ("Unknown words", "WordPiece", "unknown"),
    ("Unknown words", "whole words", "unknown_whole"),
)
SHARE = "Share of the parameters in the token table"
DRAWN_WORDS = 6  # words of which several segmentations by Unigram are drawn
ORIGINS = {
    "learned": "BERT has no formula for positions: each is a row of a trained table.",
    "sinusoidal": "Positions here are sines and cosines of fixed frequencies, not trained.",
}
"""By `PositionSimilarity.kind`."""


# ---- the sum ----


def about_sum(numbers: SumNumbers) -> dict[str, object]:
    num_dims = numbers.parts["sum"].shape[1]
    limited = f" The first {MOST_DIMS} are drawn; the download has all, with all digits."
    return {"num_dims": num_dims, "limited": limited if num_dims > MOST_DIMS else ""}


def whole(values: NDArray[np.floating[Any]]) -> NDArray[Any]:
    """Return values rounded, as integers if all are numbers."""
    rounded = np.rint(values)
    return np.ascontiguousarray(rounded, np.int64 if np.isfinite(rounded).all() else np.float32)


def sum_strips(numbers: SumNumbers, *, selected: int | None = None) -> Figure:
    """Draw figure 2 of the paper with numbers: three strips, their sum, and all lengths.

    Args:
        selected: Position of the token to frame.
    """
    tokens, parts, count = numbers.tokens, numbers.parts, len(numbers.parts) + 1
    sizes = np.abs(np.stack([*parts.values()]))
    # A few outliers would make everything else pale.
    limit = float(np.quantile(sizes[np.isfinite(sizes)], 0.995)) if np.isfinite(sizes).any() else 1
    # Three digits that count, sent as whole numbers, which take a third of the bytes.
    places = max(0, 2 - math.floor(math.log10(max(limit, 1e-9))))
    top, unit = limit * 10**places, f" × 10<sup>−{places}</sup>" if places else ""
    fig, gap = Figure(), 0.02
    for row, (name, values) in enumerate(parts.items()):
        fig.add(
            "heatmap",
            z=whole(values[:, :MOST_DIMS].T * 10.0**places),
            yaxis=axis_name("y", row),
            coloraxis="coloraxis",
            hovertemplate=f"token %{{x}}, dimension %{{y}}<br>{name} = %{{z}}{unit}<extra></extra>",
        )
        end = 1 - row / count
        axis = {"domain": [end - 1 / count + gap, end], "title": {"text": STRIPS[name]}}
        hidden = {"showticklabels": False, "showgrid": False, "autorange": "reversed"}
        fig.update_layout({f"yaxis{axis_name('', row)}": {**axis, **hidden}})
    for name, color in zip(STRIPS, (*theme.CATEGORICAL[:3], theme.SPECIAL), strict=True):
        if name in parts:
            fig.add(
                "scatter",
                x=np.arange(len(tokens)),
                y=numbers.norms[name],
                yaxis=axis_name("y", count - 1),
                name=name,
                mode="lines+markers",
                marker={"size": 5, "color": color},
                line={"width": 1.3, "color": color},
                hovertemplate="length %{y:.2f}",
            )
    lengths = {"domain": [0, 1 / count], "title": {"text": "length"}, "rangemode": "tozero"}
    fig.update_layout({f"yaxis{axis_name('', count - 1)}": {**lengths, "gridcolor": theme.GRID}})
    # Each label would be measured, a tenth of a redraw, and margins be found by drawing twice.
    fixed: dict[str, Any] = {"automargin": False, "zeroline": False, "ticklabeloverflow": "allow"}
    fig.update_yaxes(**fixed)
    fig.update_xaxes(**{**token_axis(tokens), **fixed}, anchor=axis_name("y", count - 1))
    fig.update_xaxes(showgrid=False)
    bar = {"title": {"text": f"value{unit}"}, "thickness": 10, "len": 0.8, "y": 1, "yanchor": "top"}
    scale = {"colorscale": theme.DIVERGING, "cmin": -top, "cmax": top, "colorbar": bar}
    legend = {"title": {"text": "length of"}, "x": 1.02, "y": 0, "yanchor": "bottom"}
    fig.update_layout(
        height=590,
        margin={"l": 56, "r": 112, "t": 12, "b": label_height(tokens), "autoexpand": False},
        hoverlabel={"align": "left"},
        hovermode="x unified" if len(tokens) <= MAX_LABELS else "closest",
        coloraxis=scale,
        legend={**legend, "font": {"size": 11}},
        shapes=None if selected is None else [token_frame(selected)],
    )
    return fig


# ---- LayerNorm, and one left out ----


def about_norm(numbers: NormNumbers) -> dict[str, object]:
    sides, at = {"before": numbers.before, "after": numbers.after}, numbers.position
    return {
        "token": plain(numbers.tokens[at]),
        **{f"mean_{when}": float(side.mean[at]) for when, side in sides.items()},
        **{f"std_{when}": float(side.std[at]) for when, side in sides.items()},
    }


# ---- positions ----

Maps = list[tuple[str, NDArray[np.float32]]]


def cosine_maps(maps: Maps, hover: str, x: str, y: str, lines: Iterable[float | None]) -> Figure:
    """Draw maps of cosines side by side, with a line at a height of each, if any.

    Args:
        maps: Title and numbers of each.
        hover: Plotly's text at a cell.
        x, y: Names of the axes.
    """
    titles = [title for title, _ in maps]
    fig = subplots(
        cols=len(maps), shared_yaxes=True, horizontal_spacing=0.06, subplot_titles=titles
    )
    for col, ((_, cosines), line) in enumerate(zip(maps, lines, strict=True), start=1):
        bar = {"title": {"text": "cosine"}, "thickness": 12} if col == 1 else None
        fig.heat(cosines, theme.around_zero(1), hover, colorbar=bar, row=1, col=col)
        if line is not None and line < len(cosines):
            fig.add_hline(line, 1, col, line={"color": theme.ACCENT, "width": 2})
    theme.plot_layout(fig, "", x, "", 500)
    fig.update_xaxes(showgrid=False)
    fig.update_yaxes(showgrid=False, autorange="reversed")
    fig.update_yaxes(title={"text": y}, row=1, col=1)
    fig.update_layout(margin={"t": 56 if any(titles) else 12})
    return fig


def position_map(similarity: PositionSimilarity, *, position: int | None = None) -> Figure:
    """Draw the cosines of the rows of the position table; a line marks one of them."""
    hover, names = "positions %{y} and %{x}<br>cosine %{z:.3f}", ("position", "position")
    fig = cosine_maps([("", similarity.cosines)], hover, *names, [position])
    # The square keeps to the right, beside its colour bar.
    fig.update_xaxes(constrain="domain", constraintoward="right")
    fig.update_yaxes(scaleanchor="x", constrain="domain")
    return fig


def rotation_maps(kinds: tuple[Rotations, ...]) -> Figure:
    """Draw the cosine of each pair's turn by distance, a map for each kind of layer."""
    return cosine_maps(
        [(_title(kind), kind.cosines) for kind in kinds],
        "pair %{x}, %{y} tokens apart<br>cosine %{z:.3f}",
        "pair of numbers in a head",
        "distance in tokens",
        [None if kind.reach is None else kind.reach + 0.5 for kind in kinds],
    )


def _title(kind: Rotations) -> str:
    layers = ", ".join(map(str, kind.layers[:4])) + (" ..." if len(kind.layers) > 4 else "")
    name = "full attention" if kind.reach is None else f"window of {kind.reach} to each side"
    return f"Layers {layers}: {name}, base {kind.theta:,.0f}"


# ---- a vocabulary ----


def ways_table(cut: UnigramCut) -> pd.DataFrame:
    """Return a row for each segmentation of the first different words of more than a letter."""
    ways = dict(zip(cut.words, cut.ways, strict=True))
    several = [word for word in ways if len(word) > 1 and ways[word]] or [
        w for w in ways if ways[w]
    ]
    rows = (
        (word, " ".join(way.pieces), way.probability, not rank)
        for word in several[:DRAWN_WORDS]
        for rank, way in enumerate(ways[word])
    )
    return tabulate("word pieces p is_best", rows)


def size_table(measured: tuple[VocabularySize, ...]) -> pd.DataFrame:
    """Return a row for each picture, line and size."""
    tables = [
        pd.DataFrame(
            {
                "measure": measure,
                "line": line,
                "vocab_size": [each.vocab_size for each in measured],
                "value": [getattr(each, name) for each in measured],
            }
        )
        for measure, line, name in MEASURED_BY_SIZE
    ]
    sizes = sorted({each.vocab_size for each in measured} | {*ALL_SIZES})
    for name, shape in SHAPES.items():
        shares = [token_table_share(shape, size) for size in sizes]
        columns = {"measure": SHARE, "line": name, "vocab_size": sizes, "value": shares}
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


# ---- views ----

STRIP = View(
    name="tokens",
    question="How is the text cut into tokens?",
    of=token_columns,
    table=pd.DataFrame,
    how=(
        "Each box is a token, with its number in the vocabulary below. What follows is about the "
        "one that you click.\n\n"
        "With the keyboard: the arrow keys and Enter. In BERT ## continues a word; in other "
        "tokenizers ▁ or Ġ stands for the space before one, and letters beyond English may be cut "
        "into bytes, each shown as a letter."
    ),
)
SUM = View(
    name="embedding-sum",
    question="Which vectors are added up for each token?",
    of=sum_numbers,
    figure=sum_strips,
    table=tidy_at("parts"),
    fills=about_sum,
    how=(
        "BERT adds three vectors for each token: for the word, the sentence and the place. The sum "
        "is all that it knows at its input.\n\n"
        "Each column is a token, each line of a strip one of the {num_dims} dimensions. The curves "
        "show the lengths of the vectors.{limited}"
    ),
)
NORM = View(
    name="layer-norm",
    question="What does LayerNorm do with the sum?",
    of=norm_numbers,
    table=stacked(
        "when",
        {
            when: columns(
                position=range,
                token="tokens",
                **named(when, "norm", "mean", "std", "times_average"),
            )
            for when in ("before", "after")
        },
    ),
    chart=Lines(
        x="position",
        y="times_average",
        by="when",
        x_names="token",
        form=".2f",
        detail=lambda tokens: [
            f"(length {row.norm:.2f}, mean {row.mean:.3f}, standard deviation {row.std:.3f})"
            for row in tokens.itertuples()
        ],
        x_title=" ",
        y_title="length, times the average",
    ),
    fills=about_norm,
    needs=frozenset({"norm"}),
    how=(
        "The length of each token's vector, compared with the average: LayerNorm makes them nearly "
        "equally long.\n\n"
        "It subtracts the mean of a token's numbers, divides by their standard deviation, and "
        "applies one learned gain and bias per dimension. Before, {token} has mean "
        "{mean_before:.3f} and standard deviation {std_before:.3f}; after, {mean_after:.3f} and "
        "{std_after:.3f}."
    ),
)
LEAVE_ONE_OUT = View(
    name="leave-one-out",
    question="What changes without segments, or without positions?",
    of=leave_one_out,
    table=cells(
        {"left_out": "left_out"},
        {"state": state_names},
        {"position": range, "token": "tokens"},
        cosine="cosines",
    ),
    chart=Grid(
        row=lambda cosines: "no " + cosines["left_out"] + ", " + cosines["state"],
        column="position",
        names=("", "token"),
        value="cosine",
        form=".2f",
        title="cosine",
    ),
    needs=frozenset({"parts"}),
    how=(
        "The text is run again without the segment vectors, and without the position vectors. Dark "
        "cells changed.\n\n"
        "Each cell is the cosine of a token's vector after a layer with what it was: 1 means that "
        "its direction did not change; the darker the cell, the more the vector depends on the "
        "omitted part. A small change at the input may grow or fade on the way to the last layer."
    ),
)
POSITIONS = View(
    name="positions",
    question="Which positions are alike?",
    of=position_similarity,
    figure=position_map,
    table=arrays(cosines="cosines"),
    fills=lambda similarity: {"origin": ORIGINS[similarity.kind]},
    needs=frozenset({"positions"}),
    how=(
        "Blue: two positions have similar vectors. Neighbours have, which makes the dark "
        "diagonal.\n\n"
        "{origin} Far from the diagonal, positions are distinct. A line marks the position of the "
        "chosen token, if it is among those drawn."
    ),
)
ROTATIONS = View(
    name="rotations",
    question="How far do positions turn queries and keys?",
    of=rotations,
    figure=rotation_maps,
    table=lambda kinds: {
        "full" if kind.reach is None else "window": kind.cosines for kind in kinds
    },
    how=(
        "No vector is added for the position: each head rotates its queries and keys, by an angle "
        "that grows with the position.\n\n"
        "One pair of numbers is rotated at a time. Only the distance between two tokens is left in "
        "their product. Each column is a pair, each row a distance; colour is the cosine of the "
        "rotation between them: blue means that the pair counts as at distance 0, orange with the "
        "opposite sign. Pairs on the left rotate fast and distinguish neighbours; those on the "
        "right hardly rotate and carry content over any distance. Tokens below a line are outside "
        "the window of these layers: none is attended to."
    ),
)
NEAREST = View(
    name="nearest-words",
    question="Which pieces are alike in the token table?",
    of=nearest_words,
    chart=Intervals(
        name="piece",
        value="cosine",
        is_fraction=False,
        includes_zero=True,
        x_title="cosine in the token table",
    ),
    fills=lambda near: {"token": plain(near[0].token) if near else "the token"},
    how=(
        "The pieces whose rows in the token table point most in the direction of the row of "
        "**{token}**.\n\n"
        "It is what the model treats as similar before it has read any context."
    ),
)
GROWTH = View(
    name="vocabulary-growth",
    question="Which pair of pieces is merged next?",
    of=vocabulary_growth,
    table=exploded(
        merges_done=range,
        pair="steps.*.candidates.*.name",
        **named("steps.*.candidates.*", "merged", "count", "count_left", "count_right"),
        times_chance="steps.*.times_chance",
    ),
    chart=Intervals(
        name="pair",
        value="count",
        only={"merges_done": 0},
        is_fraction=False,
        includes_zero=True,
        x_title="times in the text",
    ),
    how=(
        "Each row is a pair of pieces that could be merged next; the first one will be.\n\n"
        "BPE takes the most frequent pair. WordPiece, as it is usually described, takes the pair "
        "whose pieces occur together most above chance: the largest count ÷ (count of the left × "
        "count of the right), here × all pieces. Rare pieces that always occur together therefore "
        "come first. Google never published its trainer; that of the `tokenizers` library, which "
        "BertScope trains with, merges by count. Pairs that occur only once are left out."
    ),
)
WAYS = View(
    name="vocabulary-unigram",
    question="How else could Unigram cut the words?",
    of=unigram_ways,
    table=ways_table,
    chart=Bars(
        value="p",
        name="pieces",
        by="word",
        accent="is_best",
        title=lambda rows: theme.escape(rows["word"].iloc[0]),
    ),
    how=(
        "The most probable ways in which Unigram cuts each of the first words, the best one in "
        "pink.\n\n"
        "The probability of a way is the product of its pieces', here divided by that of all ways. "
        "Unigram takes the best, or draws one in training (Kudo 2018). It merges nothing: it "
        "begins with many pieces, and leaves out those without which the text stays nearly as "
        "probable. Here it has as many pieces as the merges have made. ▁ begins a word, as in "
        "SentencePiece, where WordPiece has ## inside. XLM-RoBERTa, ALBERT and T5 have Unigram."
    ),
)
SIZE = View(
    name="vocabulary-size",
    question="How large should a vocabulary be?",
    of=measure_sizes,
    table=size_table,
    chart=Lines(
        x="vocab_size",
        y="value",
        by="line",
        panel="measure",
        log="x",
        form=".3~r",
        x_title="pieces in the vocabulary",
        height=240,
    ),
    how=(
        "Each dot of the upper two charts is a vocabulary learned from 56 chapters of the novel "
        "and measured on 5 others.\n\n"
        "A larger one cuts words into fewer pieces. A word is never unknown to WordPiece as long "
        "as its letters are known; a vocabulary of whole words of the same size misses many. The "
        "cost is below, computed for two shapes: in a small BERT the token table soon takes up "
        "most of the parameters. 30,522 is BERT's own size."
    ),
)
