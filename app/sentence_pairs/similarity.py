"""How similar several sentences are, and which words of two the cosine comes from."""

from __future__ import annotations

import streamlit as st

from bertcore.analysis.words.sentence_similarity import (
    shared_words,
    similar_together,
    similarities,
)
from bertcore.sentences.modules import MEAN

from ..plots.formats import shorten
from ..plots.untrusted_text import plain
from ..shell import frame
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from .similarity_figures import (
    Similar,
    coloured_sentences,
    pair_arrays,
    shared_table,
    similarity_map,
    similarity_table,
    word_pair_map,
)

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

SIMILARITY = Picture(
    name="similar-map",
    figure=similarity_map,
    table=similarity_table,
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
    figure=coloured_sentences,
    table=shared_table,
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
    figure=word_pair_map,
    table=pair_arrays,
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
    chosen = (FIRST.value, SECOND.value)
    together = one_of("Order of the sentences", ORDER.options or (), ORDER) == TOGETHER
    SIMILARITY.show(
        page,
        similar,
        drawn={
            "order": similar_together(cosines) if together else list(places),
            "chosen": chosen,
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
    _show_words(page, sentences[chosen[0]], sentences[chosen[1]])


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


def _pick() -> None:
    points = st.session_state[f"figure_{SIMILARITY.name}"]["selection"]["points"]
    if points and points[0].get("customdata"):
        first, second = str(points[0]["customdata"]).split(".")
        FIRST.put(int(first))
        SECOND.put(int(second))
