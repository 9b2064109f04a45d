"""How similar several sentences are, and which words of two the cosine comes from."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.words.sentence_similarity import (
    SharedWords,
    shared_words,
    similar_together,
    similarities,
)
from bertcore.sentences import MEAN

from ..html_file.chart import Data
from ..plots import Figure, cell_table, exactly, plain, shorten, theme, token_flow
from ..plots.cells import add_clicks, cell_text
from ..plots.token_flow import MAX_LABELS
from ..shell import Field, Picture, frame, one_of

WRITTEN, TOGETHER = "As written", "Similar ones together"
ORDER = Field("similar_order", WRITTEN, (WRITTEN, TOGETHER))
FIRST, SECOND = Field("similar_a", 0), Field("similar_b", 1)
"""Places of the two sentences whose words are shown."""

_USUAL = (
    "Mean pooling: a vector is the mean over all tokens of the last layer, special tokens "
    "included. Unlike sentence encoders (`modules.json`), this checkpoint was not trained for "
    "similarity: unrelated sentences may have a high cosine, so compare the cosines with each "
    "other."
)
DIGITS = 3  # decimals of what a word adds to a cosine


def sentence_map(
    values: NDArray[np.floating],
    text: Sequence[Sequence[str]],
    shades: NDArray[np.floating],
    names: Sequence[str],
    numbers: Sequence[str],
    *,
    titles: tuple[str, str],
    **properties: Any,
) -> Figure:
    """Draw a number for every pair of sentences: rows by name, columns by number.

    Args:
        values: [N, N]; NaN is empty.
        text: What is written in the cells, [N, N].
        shades: Place of each value on the colour scale, 0 to 1, [N, N].
        names, numbers: Of the sentences, [N].
        properties: Further ones of the heat map.
    """
    count, places = len(names), list(range(len(names)))
    fig = Figure()
    fig.add(
        "heatmap",
        z=values,
        x=places,
        y=places,
        hoverongaps=False,
        colorscale=theme.SEQUENTIAL,
        xgap=3,
        ygap=3,
        **properties,
    )
    fig.add_trace(cell_text(shades, text, 13 if count < 8 else 10))
    theme.plot_layout(fig, "", *titles, 40 * count + 130)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 54, "b": 0})
    labels = [
        f"{theme.escape(name)}  <b>{number}</b>"
        for name, number in zip(names, numbers, strict=True)
    ]
    fig.update_xaxes(range=[-0.5, count - 0.5], tickvals=places, ticktext=numbers, showgrid=False)
    fig.update_yaxes(range=[count - 0.5, -0.5], tickvals=places, ticktext=labels, showgrid=False)
    return fig


class Similar(NamedTuple):
    """The cosines of some sentences."""

    sentences: Sequence[str]
    """[N]"""
    cosines: NDArray[np.float32]
    """[N, N]"""


def _similarity_map(similar: Similar, *, order: Sequence[int], pair: tuple[int, int]) -> Figure:
    """Draw the cosine of each pair of sentences, with its value; a click gives "row.column".

    Args:
        similar: In the order of the texts.
        order: Places in it, in the order in which they are drawn.
        pair: The framed pair, by its places in `similar`.
    """
    count, diagonal = len(order), np.eye(len(order), dtype=bool)
    drawn = np.clip(similar.cosines[np.ix_(order, order)], -1, 1)
    low, high = float(np.min(drawn[~diagonal])), float(np.max(drawn[~diagonal]))
    places = list(range(count))
    fig = sentence_map(
        np.where(diagonal, np.nan, drawn),
        [["" if i == j else f"{drawn[i, j]:.2f}" for j in places] for i in places],
        (drawn - low) / max(high - low, 1e-3),
        [shorten(similar.sentences[place], 30) for place in order],
        [f"{place + 1}" for place in order],
        titles=("sentence (number)", ""),
        hoverinfo="skip",
        zmin=low,
        zmax=max(high, low + 1e-3),
        colorbar=theme.bar_above("cosine", tickformat=".2f"),
    )
    pairs = [(row, column) for row in order for column in order]
    add_clicks(
        fig,
        (count, count),
        [f"{row}.{column}" for row, column in pairs],
        size=30,
        words=[
            f"<b>{similar.cosines[row, column]:.4f}</b><br>"
            f"{theme.escape(shorten(similar.sentences[row], 80))}<br>"
            f"{theme.escape(shorten(similar.sentences[column], 80))}"
            for row, column in pairs
        ],
        opened=(order.index(pair[0]), order.index(pair[1])),
    )
    return fig


def _similarity_table(similar: Similar) -> pd.DataFrame:
    """Return a row for each pair of different sentences."""
    names, cosines = similar
    table = cell_table({"text_a": names}, {"text_b": names}, cosine=cosines)
    above = np.triu(np.ones(cosines.shape, dtype=bool), 1).ravel()
    return table[above].reset_index(drop=True)


def _coloured_sentences(shared: SharedWords, *, is_dark: bool) -> Figure:
    """Draw the words of both sentences, each in the colour of what it adds to the cosine.

    The second sentence begins a line below the first.
    """
    values = np.concatenate([shared.of_a, shared.of_b])
    numbers = [exactly(float(value), DIGITS) for value in values]
    first = token_flow.place(shared.words_a, numbers[: len(shared.words_a)])
    second = token_flow.place(shared.words_b, numbers[len(shared.words_a) :])
    below = 2 + max(box.line for box in first)
    boxes = [*first, *(replace(box, line=box.line + below) for box in second)]
    return token_flow.word_boxes(
        [*shared.words_a, *shared.words_b],
        values,
        numbers,
        boxes=boxes,
        is_dark=is_dark,
        scale_title="part of the cosine",
    )


def _shared_table(shared: SharedWords) -> pd.DataFrame:
    """Return a row for each word of both sentences."""
    parts = (("A", shared.words_a, shared.of_a), ("B", shared.words_b, shared.of_b))
    return pd.DataFrame(
        [
            {"sentence": name, "word": word, "part_of_cosine": float(value)}
            for name, words, values in parts
            for word, value in zip(words, values, strict=True)
        ]
    )


def _word_pair_map(shared: SharedWords, *, is_dark: bool) -> Figure:
    """Draw what each pair of words adds to the cosine: rows the first sentence."""
    largest = max(float(np.abs(shared.pairs).max(initial=0.0)), 1e-9)
    rows, columns = (
        [theme.escape(shorten(word, 14)) for word in words]
        for words in (shared.words_a, shared.words_b)
    )
    hover = [
        [
            f"{a} and {b}: {exactly(float(value), DIGITS + 1)}"
            for b, value in zip(columns, row, strict=True)
        ]
        for a, row in zip(rows, shared.pairs, strict=True)
    ]
    fig = Figure()
    fig.heat(
        shared.pairs,
        theme.around_zero(largest, is_dark),
        "%{customdata}",
        gap=(1 if len(columns) <= MAX_LABELS else 0, 1 if len(rows) <= MAX_LABELS else 0),
        colorbar=theme.bar_above("part of the cosine"),
        customdata=hover,
    )
    theme.plot_layout(fig, "", "second sentence", "first sentence", min(26 * len(rows), 900) + 160)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 54, "b": 0})
    tilt = -60 if len(columns) > 12 else 0
    for update, names, angle in ((fig.update_xaxes, columns, tilt), (fig.update_yaxes, rows, 0)):
        step = -(-len(names) // MAX_LABELS)
        named = list(range(0, len(names), step))
        update(tickvals=named, ticktext=[names[i] for i in named], tickangle=angle, showgrid=False)
    fig.update_yaxes(autorange="reversed")
    return fig


def _pair_arrays(shared: SharedWords) -> Data:
    words = {"words_a": np.array(shared.words_a), "words_b": np.array(shared.words_b)}
    return {"parts": shared.pairs, **words}


SIMILARITY = Picture(
    name="similar-map",
    figure=_similarity_map,
    table=_similarity_table,
    how=(
        "Each cell is the cosine of two sentence vectors: 1 means the same direction, 0 nothing in "
        "common. The colours range from the lowest to the highest of these cells; the diagonal is "
        "empty, since a sentence is equal to itself. Click a cell to see which words it comes from."
    ),
    code="""
from bertcore.analysis.words.sentence_similarity import similarities

cosines = similarities(bert, {sentences!r})      # [N, N]
""",
)
SHARED = Picture(
    name="similar-words",
    figure=_coloured_sentences,
    table=_shared_table,
    how=(
        "A pooled vector is a sum with a part for each token, so the cosine is a sum over pairs of "
        "tokens. It is not an estimate: the numbers of either sentence add up to **{cosine}**. "
        "Blue words raise it, orange ones lower it. A token's vector also contains what attention "
        "brought from other words: this shows where the similarity *is* in the last layer, not "
        "which words of the input caused it."
    ),
    code="""
from bertcore.analysis.words.sentence_similarity import shared_words

words = shared_words(bert, {a!r}, {b!r})
words.of_a, words.of_b, words.cosine      # [A], [B]; each sums to the cosine
""",
)
WORD_PAIRS = Picture(
    name="similar-pairs",
    figure=_word_pair_map,
    table=_pair_arrays,
    how=(
        "Row: a word of the first sentence. Column: a word of the second. All cells add up to the "
        "cosine; the numbers above are the sums of the rows and of the columns. Words with the "
        "same meaning often form a strong cell, and so do \\[CLS\\], \\[SEP\\] and full stops, "
        "which every sentence has."
    ),
    code="""
from bertcore.analysis.words.sentence_similarity import shared_words

shared_words(bert, {a!r}, {b!r}).pairs      # [A, B]
""",
)


def show_similarity(page: frame.Page, sentences: tuple[str, ...]) -> None:
    """Draw the cosines of some sentences, and the words of the chosen pair.

    Args:
        page: The page, with the checkpoint.
        sentences: At least two.
    """
    st.subheader("How similar are they?", anchor=False)
    modules = page.bert.sentence_modules
    if modules is None:
        st.caption(_USUAL)
    elif modules.unread is None:
        described = plain(modules.describe(page.bert.max_length))
        st.caption(f"Vectors of this sentence encoder: {described}.")
    cosines = page.compute(similarities, sentences)
    similar = Similar(sentences, cosines)
    places = range(len(sentences))
    # Drawn below the picture; a click on a cell writes them.
    keys = [FIRST.key(options=places), SECOND.key(options=places)]
    pair = (FIRST.value, SECOND.value)
    together = one_of("Order of the sentences", ORDER.options or (), ORDER) == TOGETHER
    SIMILARITY.show(
        page,
        similar,
        drawn={
            "order": similar_together(cosines) if together else list(places),
            "pair": pair,
        },
        on_select=_pick,
        sentences=list(sentences),
    )
    row = st.container(horizontal=True, vertical_alignment="bottom")
    for label, key in zip(("First sentence", "Second sentence"), keys, strict=True):
        row.selectbox(
            label,
            places,
            format_func=lambda place: f"{place + 1}: {shorten(sentences[place], 60)}",
            key=key,
        )
    _show_words(page, sentences[pair[0]], sentences[pair[1]])


def _show_words(page: frame.Page, first: str, second: str) -> None:
    """Draw which words of two sentences their cosine comes from, or why that cannot be said."""
    modules = page.bert.sentence_modules or MEAN
    if not modules.splits_by_token:
        described = plain(modules.describe(page.bert.max_length))
        st.info(
            "Which words this comes from cannot be determined exactly: after pooling, the vectors "
            f"are changed further ({described}) and are no longer a sum over the tokens."
        )
        return
    shared = page.compute(shared_words, first, second)
    cosine = f"{shared.cosine:.3f}".replace("-", "−")
    st.markdown(f"Words that make up the cosine of **{cosine}**")
    drawn = {"is_dark": page.is_dark}
    SHARED.show(page, shared, drawn=drawn, cosine=cosine, a=first, b=second)
    WORD_PAIRS.show(page, shared, drawn=drawn, a=first, b=second)


def _pick(clicked: str) -> None:
    first, second = str(clicked).split(".")
    FIRST.put(int(first))
    SECOND.put(int(second))
