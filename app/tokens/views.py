"""What the page shows: each view is a function of the core, a chart, and how to read it."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.space.embeddings import (
    LeaveOneOut,
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
from bertcore.architecture.config import bert_base, bert_mini
from bertcore.tokenizer.growth import NUM_CANDIDATES, Growth, Pair

from ..plots import Figure, cell_table, plain, records, subplots, tabulate, theme
from ..plots.charts import Bars, Grid, Intervals, layer_names
from ..plots.token_flow import MAX_LABELS, axis_name, label_height, token_axis, token_frame
from ..view import View

STRIPS = {"token": "token", "segment": "+ segment", "position": "+ position", "sum": "= sum"}
"""The strips from top to bottom, with their labels."""
MAX_CELLS = 400_000  # with more cells a browser is slow, so fewer dimensions are drawn, with a note
ALL_SIZES = (250, 500, 1000, 2000, 4000, 8000, 16_000, 30_522, 60_000, 100_000)
"""Rows of the token table for which its share is drawn; BERT's own is among them."""
SHAPES = {"BERT Base": bert_base(), "4 layers, 256 wide": bert_mini()}
DRAWN_WORDS = 6  # words of which several segmentations by Unigram are drawn
ORIGINS = {
    "learned": "BERT has no formula for positions: each is a row of a trained table.",
    "sinusoidal": "Positions here are sines and cosines of fixed frequencies, not trained.",
}
"""By `PositionSimilarity.kind`."""


# ---- the sum ----


def num_drawn(num_tokens: int, num_dims: int) -> int:
    """Return how many of the D dimensions `sum_strips` draws."""
    return max(1, min(num_dims, MAX_CELLS // (len(STRIPS) * max(1, num_tokens))))


def about_sum(numbers: SumNumbers) -> dict[str, object]:
    num_dims = numbers.parts["sum"].shape[1]
    drawn = num_drawn(*numbers.parts["sum"].shape)
    limited = (
        f" For a text of this length only the first {drawn} of {num_dims} dimensions are drawn; "
        "the download has all of them."
    )
    return {"num_dims": num_dims, "limited": limited if drawn < num_dims else ""}


def sum_strips(numbers: SumNumbers, *, selected: int | None = None) -> Figure:
    """Draw figure 2 of the paper with numbers: three strips, their sum, and all lengths.

    Args:
        selected: Position of the token to frame.
    """
    tokens, parts, count = numbers.tokens, numbers.parts, len(numbers.parts) + 1
    drawn = num_drawn(*parts["sum"].shape)
    # A few outliers would make everything else pale.
    limit = float(np.quantile(np.abs(np.stack([*parts.values()])), 0.995))
    fig, gap = Figure(), 0.02
    for row, (name, values) in enumerate(parts.items()):
        fig.add(
            "heatmap",
            z=np.ascontiguousarray(values[:, :drawn].T, dtype=np.float32),
            yaxis=axis_name("y", row),
            coloraxis="coloraxis",
            hovertemplate=f"token %{{x}}, dimension %{{y}}<br>{name} = %{{z:.3f}}<extra></extra>",
        )
        top = 1 - row / count
        axis = {"domain": [top - 1 / count + gap, top], "title": {"text": STRIPS[name]}}
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
                customdata=sum_hover(numbers) if name == "sum" else [""] * len(tokens),
                hovertemplate="length %{y:.2f}%{customdata}",
            )
    lengths = {"domain": [0, 1 / count], "title": {"text": "length"}, "rangemode": "tozero"}
    fig.update_layout({f"yaxis{axis_name('', count - 1)}": {**lengths, "gridcolor": theme.GRID}})
    # Each label would be measured, a tenth of a redraw, and margins be found by drawing twice.
    fixed: dict[str, Any] = {"automargin": False, "zeroline": False, "ticklabeloverflow": "allow"}
    fig.update_yaxes(**fixed)
    fig.update_xaxes(**{**token_axis(tokens), **fixed}, anchor=axis_name("y", count - 1))
    fig.update_xaxes(showgrid=False)
    bar = {"title": {"text": "value"}, "thickness": 10, "len": 0.8, "y": 1, "yanchor": "top"}
    scale = {"colorscale": theme.DIVERGING, "cmin": -limit, "cmax": limit, "colorbar": bar}
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


def sum_hover(numbers: SumNumbers) -> list[str]:
    """Return the hover text of each token's sum: cosines of its summands, their fractions of it."""
    cosines, fractions = numbers.cosines.items(), numbers.fractions.items()
    return [
        f"<br>cosines: {', '.join(f'{pair} {cosine[place]:.2f}' for pair, cosine in cosines)}"
        f"<br>fractions of the sum: {', '.join(f'{n} {part[place]:.0%}' for n, part in fractions)}"
        for place in range(len(numbers.tokens))
    ]


# ---- LayerNorm, and one left out ----


def about_norm(numbers: NormNumbers) -> dict[str, object]:
    at = {name: float(column[numbers.position]) for name, column in numbers.columns.items()}
    return {**at, "token": plain(numbers.tokens[numbers.position])}


def layer_norm(numbers: NormNumbers) -> Figure:
    """Draw how LayerNorm equalizes the vector lengths of all tokens, and the numbers of one."""
    token = theme.escape(numbers.tokens[numbers.position])
    fig = subplots(
        rows=2,
        cols=2,
        specs=[[{"colspan": 2}, None], [{}, {}]],
        vertical_spacing=0.3,
        horizontal_spacing=0.1,
        subplot_titles=(
            "Length of each token's vector, compared with the average",
            f"The {len(numbers.before)} numbers of {token}, before",
            "... and after",
        ),
    )
    sides = (
        ("before", theme.SEGMENT_B, numbers.before),
        ("after", theme.SEGMENT_A, numbers.after),
    )
    for column, (when, color, values) in enumerate(sides, start=1):
        norms, means, stds = (numbers.columns[f"{of}_{when}"] for of in ("norm", "mean", "std"))
        average = max(float(norms.mean()), 1e-12)
        fig.add(
            "scatter",
            x=np.arange(len(norms)),
            y=norms / average,
            name=f"{when} LayerNorm (average {average:.2f})",
            mode="lines+markers",
            line={"color": color, "width": 1.3},
            marker={"size": 6, "color": color},
            customdata=np.stack([norms, means, stds], axis=1),
            hovertemplate="length %{customdata[0]:.2f}, mean %{customdata[1]:.3f}, "
            "standard deviation %{customdata[2]:.3f}",
            row=1,
            col=1,
        )
        hover = "%{y} numbers from %{x}<extra></extra>"
        drawn = {"x": values, "marker_color": color, "nbinsx": 40, "hovertemplate": hover}
        fig.add("histogram", 2, column, showlegend=False, **drawn)
    theme.plot_layout(fig, "", "", "", 540)
    fig.update_layout(
        hovermode="x unified",
        bargap=0.04,
        margin={"t": 70},
        legend={"y": 1.1, "x": 1, "xanchor": "right"},
        shapes=[{**token_frame(numbers.position), "yref": "y domain"}],
    )
    fig.update_annotations(font={"size": 14})
    fig.update_xaxes(title_text="value", row=2)
    fig.update_xaxes(**token_axis(numbers.tokens), row=1, col=1)
    fig.update_yaxes(title_text="times the average", rangemode="tozero", row=1, col=1)
    fig.update_yaxes(title_text="dimensions", row=2, col=1)
    return fig


def left_out_table(result: LeaveOneOut) -> pd.DataFrame:
    """Return a row for each summand left out, layer (0: embeddings) and token."""
    columns = {"position": range(len(result.tokens)), "token": result.tokens}
    tables = []
    for name, cosines in result.cosines.items():
        states = layer_names(len(cosines))
        rows = {"left_out": name, "layer": range(len(states)), "state": states}
        tables.append(cell_table(rows, columns, cosine=cosines))
    table = pd.concat(tables, ignore_index=True)
    return table.assign(row=[f"no {row.left_out}, {row.state}" for row in table.itertuples()])


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


def growth_table(growth: Growth) -> pd.DataFrame:
    """Return the merges in order, with their counts and the pieces per word after each."""
    columns = ("left", "right", "merged", "count", "count_left", "count_right", "likelihood")
    table = records(growth.merges, *columns)
    table.insert(0, "merge", range(1, len(table) + 1))
    return table.assign(
        pieces_per_word=[step.num_pieces / growth.num_words for step in growth.steps[1:]]
    )


def candidate_bars(growth: Growth, *, step: int = 10) -> Figure:
    """Draw the candidates of the next merge by both rules, the one that follows coloured.

    Args:
        step: Merges that are done; the last step if there are fewer.
    """
    now = growth.steps[min(step, len(growth.merges))]
    panels = (
        ("count", "BPE: count", now.by_count, "times in the text"),
        ("likelihood", "WordPiece: likelihood", now.by_likelihood, "× chance"),
    )
    titles = [f"<b>{title}</b>" for _, title, _, _ in panels]
    fig = subplots(1, 2, subplot_titles=titles, horizontal_spacing=0.24)
    theme.plot_layout(fig, "", "", "", 30 * NUM_CANDIDATES + 90)
    for column, (rule, _, pairs, unit) in enumerate(panels, 1):
        values = {
            "count": [pair.count for pair in pairs],
            "likelihood": [pair.likelihood * now.num_pieces for pair in pairs],
        }
        accent = theme.ACCENT if rule == growth.rule else theme.SPECIAL
        fig.add(
            "bar",
            x=values[rule],
            y=list(range(len(pairs))),
            orientation="h",
            marker={"color": [accent, *[theme.SPECIAL] * len(pairs)][: len(pairs)]},
            marker_line_width=0,
            customdata=[_in_words(pair, now.num_pieces) for pair in pairs],
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
            row=1,
            col=column,
        )
        names = [theme.escape(f"{pair.left} + {pair.right}") for pair in pairs]
        rows = {"tickvals": list(range(len(pairs))), "ticktext": names}
        fig.update_yaxes(1, column, **rows, range=[NUM_CANDIDATES - 0.4, -0.6])
        fig.update_xaxes(1, column, title_text=unit)
    if not now.by_count:
        said = "No pair is left that occurs twice in the text."
        whole: dict[str, Any] = {"xref": "paper", "yref": "paper", "showarrow": False}
        fig.add_annotation(text=said, x=0.5, y=0.5, **whole)
    fig.update_layout(margin={"l": 0, "r": 8, "t": 30, "b": 4})
    fig.update_xaxes(nticks=4, rangemode="tozero")
    fig.update_annotations(font={"size": 14})
    fig.update_yaxes(showgrid=False, tickfont={"size": 14})
    return fig


def _in_words(pair: Pair, num_pieces: int) -> str:
    left, right, merged = (theme.escape(part) for part in (pair.left, pair.right, pair.merged))
    return (
        f"<b>{left} + {right} → {merged}</b><br>side by side {pair.count:,} times<br>"
        f"{left}: {pair.count_left:,} times, {right}: {pair.count_right:,} times<br>"
        f"{pair.likelihood * num_pieces:,.1f} times as often as by chance"
    )


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
    """Return a row for each size: what was measured, if it was, and the token table's part."""
    table = records(measured, "vocab_size", "pieces_per_word", "unknown", "unknown_whole")
    sizes = sorted({*table["vocab_size"], *ALL_SIZES})
    table = table.set_index("vocab_size").reindex(sizes).reset_index()
    shares = {
        f"token_table_of_{name}": [token_table_share(shape, size) for size in sizes]
        for name, shape in SHAPES.items()
    }
    return table.assign(**shares)


def size_curves(measured: tuple[VocabularySize, ...]) -> Figure:
    """Draw pieces per word, unknown words and the token table's share against the size."""
    titles = ("Pieces per word", "Unknown words", "Share of the parameters in the token table")
    bold = [f"<b>{title}</b>" for title in titles]
    fig = subplots(3, 1, subplot_titles=bold, shared_xaxes=True, vertical_spacing=0.09)
    theme.plot_layout(fig, "", "", "", 620)
    table = size_table(measured)
    of_shape = (theme.ACCENT, theme.CATEGORICAL[2])
    lines = (
        (1, "WordPiece", "pieces_per_word", theme.SEGMENT_A),
        (2, "WordPiece", "unknown", theme.SEGMENT_A),
        (2, "whole words", "unknown_whole", theme.SEGMENT_B),
        *((3, name, f"token_table_of_{name}", c) for name, c in zip(SHAPES, of_shape, strict=True)),
    )
    for row, name, column, colour in lines:
        points = table[table[column].notna()]
        fig.add(
            "scatter",
            x=points["vocab_size"].tolist(),
            y=points[column].tolist(),
            mode="lines+markers",
            name=name,
            line={"color": colour, "width": 3},
            marker={"size": 8},
            cliponaxis=False,
            hovertemplate=f"{name}, %{{x:,}} pieces: <b>%{{y:.3g}}</b><extra></extra>",
            showlegend=row > 1,
            row=row,
            col=1,
        )
        fig.update_yaxes(row, 1, tickformat=".0%" if row > 1 else None, rangemode="tozero")
    legend = {"y": 1, "yanchor": "top", "yref": "container", "x": 0, "font": {"size": 13}}
    fig.update_layout(margin={"l": 0, "r": 12, "t": 84, "b": 4}, legend=legend)
    fig.update_annotations(x=0, xanchor="left", font={"size": 14})
    ticks = [250, 1000, 4000, 16_000, 30_522, 100_000]
    named: dict[str, Any] = {"tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]}
    fig.update_xaxes(type="log", range=[2.3, 5.1], **named)
    fig.update_xaxes(row=3, col=1, title_text="pieces in the vocabulary")
    return fig


# ---- views ----

STRIP = View(
    name="tokens",
    question="How is the text cut into tokens?",
    of=token_columns,
    table=pd.DataFrame,
    how=(
        "Below each token is its id in the vocabulary. In BERT ## continues a word; in other "
        "tokenizers ▁ or Ġ stands for the space before one, and letters beyond English may be cut "
        "into bytes, each shown as a letter."
    ),
)
SUM = View(
    name="embedding-sum",
    question="Which vectors are added up for each token?",
    of=sum_numbers,
    figure=sum_strips,
    table=lambda numbers: numbers.parts,
    fills=about_sum,
    how=(
        "Each column is a token, each line of a strip one of the {num_dims} dimensions. BERT adds "
        "the three vectors of a column; the sum is all that it knows at its input about the word, "
        "the sentence and the position. The curves show the lengths of the vectors. Hover over "
        "them for the angles between the three and for the contribution of each to the "
        "sum.{limited}"
    ),
)
NORM = View(
    name="layer-norm",
    question="What does LayerNorm do with the sum?",
    of=norm_numbers,
    figure=layer_norm,
    table=lambda numbers: pd.DataFrame({"token": numbers.tokens, **numbers.columns}),
    fills=about_norm,
    needs=frozenset({"norm"}),
    how=(
        "LayerNorm subtracts the mean of a token's numbers, divides by their standard deviation, "
        "and applies one learned gain and bias per dimension: vectors of different lengths come "
        "out nearly equally long. Before, {token} has mean {mean_before:.3f} and standard "
        "deviation {std_before:.3f}; after, {mean_after:.3f} and {std_after:.3f}."
    ),
)
LEAVE_ONE_OUT = View(
    name="leave-one-out",
    question="What changes without segments, or without positions?",
    of=leave_one_out,
    table=left_out_table,
    chart=Grid(
        row="row",
        column="position",
        names=("row", "token"),
        value="cosine",
        form=".2f",
        title="cosine",
    ),
    needs=frozenset({"parts"}),
    how=(
        "The text is run again without the segment vectors, and without the position vectors. "
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
    table=lambda similarity: {"cosines": similarity.cosines},
    fills=lambda similarity: {"origin": ORIGINS[similarity.kind]},
    needs=frozenset({"positions"}),
    how=(
        "{origin} Similar neighbours form a dark blue diagonal; far from it, positions are "
        "distinct. A line marks the position of the chosen token, if it is among those drawn."
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
        "No vector is added for the position: each head rotates its queries and keys, one pair of "
        "numbers at a time, by an angle that grows with the position. Only the distance between "
        "two tokens is left in their product. Each column is a pair, each row a distance; colour "
        "is the cosine of the rotation between them: blue means that the pair counts as at "
        "distance 0, orange with the opposite sign. Pairs on the left rotate fast and distinguish "
        "neighbours; those on the right hardly rotate and carry content over any distance. Tokens "
        "below a line are outside the window of these layers: none is attended to."
    ),
)
NEAREST = View(
    name="nearest-words",
    question="Which pieces are alike in the token table?",
    of=nearest_words,
    chart=Intervals(
        name="piece",
        number=lambda near: near["cosine"].map("{:.2f}".format),
        value="cosine",
        is_fraction=False,
        includes_zero=True,
        x_title="cosine in the token table",
    ),
    fills=lambda near: {"token": plain(near[0].token) if near else "the token"},
    how=(
        "The pieces whose rows in the token table point most in the direction of the row of "
        "**{token}**: what the model treats as similar before it has read any context."
    ),
)
GROWTH = View(
    name="vocabulary-growth",
    question="Which pair of pieces is merged next?",
    of=vocabulary_growth,
    figure=candidate_bars,
    table=growth_table,
    how=(
        "Each bar is a pair of pieces that could be merged next; the coloured one will be. BPE "
        "takes the most frequent pair. WordPiece, as it is usually described, takes the pair whose "
        "pieces occur together most above chance: the largest count ÷ (count of the left × count "
        "of the right), here × all pieces. Rare pieces that always occur together therefore come "
        "first. Google never published its trainer; that of the `tokenizers` library, which "
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
        "The most probable ways in which Unigram cuts each of the first words: the probability of "
        "a way is the product of its pieces', here divided by that of all ways. Unigram takes the "
        "best (in pink), or draws one in training (Kudo 2018). It merges nothing: it "
        "begins with many pieces, and leaves out those without which the text stays nearly as "
        "probable. Here it has as many pieces as the merges have made. ▁ begins a word, as in "
        "SentencePiece, where WordPiece has ## inside. XLM-RoBERTa, ALBERT and T5 have Unigram."
    ),
)
SIZE = View(
    name="vocabulary-size",
    question="How large should a vocabulary be?",
    of=measure_sizes,
    figure=size_curves,
    table=size_table,
    how=(
        "Each dot of the upper two charts is a vocabulary learned from 56 chapters of the novel "
        "and measured on 5 others. A larger one cuts words into fewer pieces. A word is never "
        "unknown to WordPiece as long as its letters are known; a vocabulary of whole words of the "
        "same size misses many. The cost is below, computed for two shapes: in a small BERT the "
        "token table soon takes up most of the parameters. 30,522 is BERT's own size."
    ),
)
