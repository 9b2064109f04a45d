"""Three or more sentences: how similar they are, and which of them follows which."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.words.next_sentence import PairRate, next_sentence_matrix, pair_rates

from ..plots import Figure, cell_table, percent, records, shorten, theme
from ..plots.charts import Intervals
from ..shell import Field, Picture, frame, one_of
from ..sources import my_sentences
from .similarity import FIRST, ORDER, SECOND, sentence_map, show_similarity

MOST_SENTENCES = 12  # most sentences of a legible matrix: 132 pairs
DEFAULT = """The river rose during the night.
In the morning the old bridge was under water.
Soldiers built a new bridge within a week.
The committee elected a new chairman in May.
He had been a member of the party since 1990."""
"""Three sentences of one story, then two of another."""

SEVERAL_OPEN = Field("several", False)
SENTENCES = Field("sentences", DEFAULT)
SOURCES = {"box": "Written here", **my_sentences.OFFERED}
SOURCE = Field("sentences_source", "box", tuple(SOURCES))


def pair_matrix(sentences: Sequence[str], matrix: NDArray[np.float32]) -> Figure:
    """Draw the probability that the column's sentence follows the row's, [N, N].

    The diagonal is NaN, and empty.
    """
    hover = [
        [
            f"<b>{percent(float(p))}</b><br>A: {theme.escape(shorten(a, 80))}<br>"
            f"B: {theme.escape(shorten(b, 80))}"
            for b, p in zip(sentences, row, strict=True)
        ]
        for a, row in zip(sentences, matrix, strict=True)
    ]
    return sentence_map(
        matrix,
        [["" if np.isnan(p) else percent(float(p)) for p in row] for row in matrix],
        matrix,
        [shorten(sentence, 16) for sentence in sentences],
        [f"{number}" for number in range(1, len(sentences) + 1)],
        titles=("sentence B (number)", "sentence A"),
        customdata=hover,
        hovertemplate="%{customdata}<extra></extra>",
        zmin=0,
        zmax=1,
        colorbar=theme.bar_above("B follows A", tickformat=".0%"),
    )


def matrix_table(sentences: Sequence[str], matrix: NDArray[np.float32]) -> pd.DataFrame:
    """Return a row for each ordered pair of different sentences."""
    table = cell_table({"text_a": sentences}, {"text_b": sentences}, p_is_next=matrix)
    return table[~np.eye(len(sentences), dtype=bool).ravel()].reset_index(drop=True)


MATRIX = Picture(
    name="pair-matrix",
    figure=pair_matrix,
    table=matrix_table,
    how=(
        "Row: sentence A. Column: sentence B. Bright: BERT believes that B follows A. Sentences of "
        "one story form a bright square. If the matrix is symmetric, the order does not matter to "
        "BERT. The diagonal is empty: no sentence follows itself."
    ),
    code="""
from bertcore.analysis.words.next_sentence import next_sentence_matrix

matrix = next_sentence_matrix(bert, {sentences!r})      # [N, N], row A, column B
""",
)


@frame.closed(
    "How similar are several sentences, and which follows which?",
    SEVERAL_OPEN,
    *(SENTENCES, SOURCE, ORDER, FIRST, SECOND),
)
def show_several(page: frame.Page) -> None:
    """Draw the box for the sentences and the two matrices of their pairs.

    The texts of the page come first among those whose similarity is shown.
    """
    if one_of("Sentences", SOURCES, SOURCE) == my_sentences.MINE:
        mine = my_sentences.choose()
        if mine is None:
            return
        lines = [line.text for line in mine.found.lines]
        _show_rates(page, mine)
    else:
        typed = st.text_area("Sentences, one per line", key=SENTENCES.key(), height="content")
        lines = [line.strip() for line in typed.splitlines() if line.strip()]
    if len(lines) > MOST_SENTENCES:
        st.warning(
            f"There are {len(lines)} sentences; the first {MOST_SENTENCES} are compared, since "
            "more would not be legible."
        )
    sentences = tuple(lines[:MOST_SENTENCES])
    own = [" ".join(text.split()) for text in (page.text_a, page.text_b) if text and text.strip()]
    compared = tuple(dict.fromkeys([*own, *sentences]))
    if len(compared) > 1:
        with frame.guard():
            show_similarity(page, compared)
    if "nsp" in page.bert.capabilities or len(compared) < 2:
        _show_matrix(page, sentences)


def _rate_table(rates: Sequence[PairRate]) -> pd.DataFrame:
    """Return a row for each change of the pairs."""
    return records(rates, "change", "num_pairs", "follows", "low", "high", "mean")


RATES = Picture(
    name="pair-rates",
    chart=Intervals(
        table=_rate_table,
        name="change",
        number="num_pairs",
        value="follows",
        line=0.5,
        x_title="pairs in which B follows A",
    ),
    how=(
        "In how many of {pairs} BERT gives B more than 50% to follow A, with 95% intervals "
        "(Wilson). If swapped pairs, or a B that only repeats A, follow as often as the pairs as "
        "written, the head goes by the topic and not by the order (Lan et al. 2020). *B of another "
        "pair* takes the B from half the list away. The intervals take the pairs as independent; "
        "neighbouring pairs of one text are not quite."
    ),
    code="""
from bertcore.analysis.words.next_sentence import pair_rates
{mine}
rates = pair_rates(bert, {asked})
""",
    needs=frozenset({"nsp"}),
)


def _show_rates(page: frame.Page, mine: my_sentences.MySentences) -> None:
    """Draw how often B follows A over the list: its pairs, or each sentence with the next."""
    if "nsp" not in page.bert.capabilities:
        return
    found = mine.found
    pairs = found.pairs or found.consecutive
    if not pairs:
        st.info("Write a second sentence: each is asked whether it follows the one before.")
        return
    st.subheader(f"How often does B follow A, over {len(pairs):,} pairs?", anchor=False)
    single = len(found.lines) - len(found.pairs)
    if found.pairs and single:
        st.caption(f"Lines of one sentence are left out: {single:,}.")
    with frame.guard():
        asked, about = "mine.consecutive", "pairs of each sentence with the next one"
        if found.pairs:
            asked, about = "mine.pairs", "the list's pairs"
        rates = page.compute(pair_rates, pairs)
        RATES.show(page, rates, pairs=about, mine=f"\n{mine.code}", asked=asked)


def _show_matrix(page: frame.Page, sentences: tuple[str, ...]) -> None:
    """Draw the matrix of the pairs of some sentences."""
    if len(sentences) < 2:
        st.info("Write at least two sentences above, one per line.")
        return
    st.subheader("Which follows which?", anchor=False)
    with frame.guard():
        probabilities = page.compute(next_sentence_matrix, sentences)
        MATRIX.show(page, sentences, probabilities, sentences=list(sentences))
