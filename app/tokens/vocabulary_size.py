"""What the size of a vocabulary costs and brings."""

from pathlib import Path

import pandas as pd

from bertcore.analysis.words.vocabulary_size import (
    VocabularySize,
    measure_sizes,
    token_table_share,
)
from bertcore.architecture.config import bert_base, bert_mini
from bertcore.pretraining.data.bundled import NOVEL
from bertcore.pretraining.data.corpus import read_documents

from ..plots import theme
from ..plots.figure import Figure, scatter, subplots
from ..shell import frame
from ..shell.compute import Compute
from ..shell.jobs.background import Progress
from ..shell.picture import Picture

SIZES = (250, 500, 1000, 2000, 4000, 6000)
"""Sizes of the vocabularies that are trained; the novel yields hardly more pieces."""
ALL_SIZES = (250, 500, 1000, 2000, 4000, 8000, 16_000, 30_522, 60_000, 100_000)
"""Rows of the token table for which its share is drawn; BERT's own is among them."""
SHAPES = {"BERT Base": bert_base(), "4 layers, 256 wide": bert_mini()}


def size_table(measured: tuple[VocabularySize, ...]) -> pd.DataFrame:
    """Return a row for each size: what was measured, if it was, and the token table's part."""
    table = pd.DataFrame(
        {
            "pieces_per_word": [size.pieces_per_word for size in measured],
            "unknown_words": [size.unknown for size in measured],
            "unknown_words_of_whole_words": [size.unknown_whole for size in measured],
        },
        index=[size.vocab_size for size in measured],
        dtype=float,
    )
    sizes = sorted({*table.index, *ALL_SIZES})
    table = table.reindex(sizes).rename_axis("vocab_size").reset_index()
    for name, shape in SHAPES.items():
        table[f"token_table_of_{name}"] = [token_table_share(shape, size) for size in sizes]
    return table


def _size_curves(measured: tuple[VocabularySize, ...]) -> Figure:
    """Draw pieces per word, unknown words and the token table's share against the size."""
    titles = ("Pieces per word", "Unknown words", "Share of the parameters in the token table")
    fig = subplots(
        3,
        1,
        subplot_titles=[f"<b>{title}</b>" for title in titles],
        shared_xaxes=True,
        vertical_spacing=0.09,
    )
    table = size_table(measured)
    computed = table[table.vocab_size.isin(ALL_SIZES)]
    colours = (theme.ACCENT, theme.CATEGORICAL[2])
    lines = (
        (1, "WordPiece", table, "pieces_per_word", theme.SEGMENT_A, ".2f"),
        (2, "WordPiece", table, "unknown_words", theme.SEGMENT_A, ".1%"),
        (2, "whole words", table, "unknown_words_of_whole_words", theme.SEGMENT_B, ".1%"),
        *(
            (3, name, computed, f"token_table_of_{name}", colour, ".0%")
            for name, colour in zip(SHAPES, colours, strict=True)
        ),
    )
    for row, name, sizes, column, colour, form in lines:
        points = sizes[sizes[column].notna()]
        fig.add_trace(
            scatter(
                x=points.vocab_size.tolist(),
                y=points[column].tolist(),
                mode="lines+markers",
                name=name,
                line={"color": colour, "width": 3},
                marker={"size": 8},
                cliponaxis=False,
                hovertemplate=f"{name}, %{{x:,}} pieces: <b>%{{y:{form}}}</b><extra></extra>",
                showlegend=row > 1,
            ),
            row=row,
            col=1,
        )
    theme.plot_layout(fig, "", "", "", 620)
    fig.update_layout(
        margin={"l": 0, "r": 12, "t": 84, "b": 4},
        legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0, "font": {"size": 13}},
    )
    fig.update_annotations(x=0, xanchor="left", font={"size": 14})
    fig.update_xaxes(
        type="log",
        range=[2.3, 5.1],
        tickvals=[250, 1000, 4000, 16_000, 30_522, 100_000],
        ticktext=["250", "1,000", "4,000", "16,000", "30,522", "100,000"],
    )
    fig.update_xaxes(row=3, col=1, title_text="pieces in the vocabulary")
    fig.update_yaxes(row=1, col=1, rangemode="tozero")
    for row in (2, 3):
        fig.update_yaxes(row=row, col=1, tickformat=".0%", rangemode="tozero")
    return fig


SIZE = Picture(
    name="vocabulary-size",
    figure=_size_curves,
    table=size_table,
    how=(
        "Each dot of the upper two charts is a vocabulary learned from 56 chapters of the novel "
        "and measured on 5 others. A larger one cuts words into fewer pieces. A word is never "
        "unknown to WordPiece as long as its letters are known; a vocabulary of whole words of the "
        "same size misses many. The cost is below, computed for two shapes: in a small BERT the "
        "token table soon takes up most of the parameters. 30,522 is BERT's own size."
    ),
    code="""
from bertcore.analysis.words.vocabulary_size import measure_sizes
from bertcore.pretraining.data.bundled import NOVEL
from bertcore.pretraining.data.corpus import read_documents

texts, held_out = (
    [text for document in read_documents([path]) for text in document]
    for path in (NOVEL.train, NOVEL.valid)
)
sizes = measure_sizes(texts, held_out, {sizes})
""",
)


def measure(*, progress: Progress) -> tuple[VocabularySize, ...]:
    """Return the sizes learned from the novel's first chapters and measured on its last."""
    return measure_sizes(
        paragraphs(NOVEL.train),
        paragraphs(NOVEL.valid),
        SIZES,
        on_stage=lambda stage, fraction: progress(fraction or 0.0, stage),
    )


def paragraphs(path: Path) -> list[str]:
    """Return the paragraphs of a text file."""
    return [text for document in read_documents([path]) for text in document]


def show_sizes(page: frame.Page) -> None:
    """Draw what larger vocabularies bring and cost."""
    SIZE.show(page, Compute(name="vocabulary-sizes")(measure), sizes=SIZES)
