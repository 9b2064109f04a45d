"""The prediction at each layer: the lens, and the ranks of chosen words."""

from __future__ import annotations

from typing import Any

import streamlit as st

from bertcore.analysis.words.lens import layer_predictions, word_trajectories

from ..shell import cache, frame
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from ..sources.tuned_lens import shown, usable
from . import tuned_lens
from .lens_figures import lens_figure, lens_table, rank_curves, ranks_table

LENS_ROWS = 24
"""Tokens of the lens that are drawn at a time."""

AT_THE_MASK, WHOLE_SENTENCE = "At the mask", "Whole sentence"
VIEWS = (AT_THE_MASK, WHOLE_SENTENCE)
VIEW = Field("lens", AT_THE_MASK, VIEWS)
FIRST_TOKEN = Field("lens_start", 0)

LENS = Picture(
    name="lens",
    figure=lens_figure,
    table=lens_table,
    needs=frozenset({"lens"}),
    how=(
        "The word that BERT would predict if it stopped after this layer, from the embeddings to "
        "the last layer; brighter is more probable. The masked-word head was trained on the last "
        "layer only: on earlier layers it shows how close a vector is to the head's input space, "
        "not what that layer knows. Layer 1 is the output of the encoder layer with the heads of "
        "layer 0. At a token that is not hidden, BERT sees the token itself and mostly repeats it."
    ),
    code="""
from bertcore.analysis.words.lens import layer_predictions

lens = layer_predictions(bert, trace.text_a, trace.text_b, {masked}, {positions}, 5)
lens.words, lens.probabilities              # [L+1, N, k]
""",
)
RANKS = Picture(
    name="ranks",
    figure=rank_curves,
    table=ranks_table,
    needs=frozenset({"lens"}),
    how=(
        "Rank 1 is the most probable word of the vocabulary. The curves follow the hidden word, "
        "the three best words of the last layer, and those of your own words that are one piece."
    ),
    code="""
from bertcore.analysis.words.lens import word_trajectories

path = word_trajectories(bert, trace.text_a, trace.text_b, {masked}, {position}, {words})
path.ranks                                  # [L+1, W]
""",
)


def show_lens(page: frame.Page, masked: tuple[int, ...], position: int) -> None:
    """Draw the prediction after each layer, for one mask or along the sentence."""
    st.header("The prediction at each layer", anchor=False)
    view = one_of("Lens", VIEWS, VIEW)
    whole = view == WHOLE_SENTENCE
    positions = choose_window(page.trace.num_tokens) if whole else (position,)
    where = (page.text_a, page.text_b, masked, positions, 5)
    lens = cache.call(layer_predictions, page.bert_key, *where)
    values: dict[str, Any] = {"masked": masked, "positions": positions}
    path = usable(page, tells=True)
    if path is None:
        LENS.show(page, lens, drawn={"whole_sentence": whole}, **values)
        tuned_lens.offer_fit(page)
        return
    other = tuned_lens.predictions(page, path, masked, positions)
    left, right = st.container(key="lens_pair").columns(2, gap="medium")
    with left:
        st.markdown("**Plain lens**")
        LENS.show(page, lens, drawn={"whole_sentence": whole}, **values)
    with right:
        st.markdown("**Tuned lens**")
        drawn = {"whole_sentence": whole}
        tuned_lens.TUNED_LENS.show(page, other, drawn=drawn, path=shown(path), **values)
    tuned_lens.show_gain(page, path)


def choose_window(num_tokens: int) -> tuple[int, ...]:
    """Return the positions of the lens: all, or as many as fit from the chosen one on."""
    last = num_tokens - LENS_ROWS
    if last <= 0:
        return tuple(range(num_tokens))
    start = st.slider("First token", 0, last, key=FIRST_TOKEN.key(low=0, high=last))
    return tuple(range(start, start + LENS_ROWS))


def show_ranks(
    page: frame.Page,
    masked: tuple[int, ...],
    position: int,
    words: tuple[str, ...],
    original: str | None,
) -> None:
    """Draw the rank of each of `words` from layer to layer."""
    where = (page.text_a, page.text_b, masked, position, words)
    trajectories = cache.call(word_trajectories, page.bert_key, *where)
    drawn = {"original": original}
    values: dict[str, Any] = {"masked": masked, "position": position, "words": words}
    path = usable(page)
    if path is None:
        RANKS.show(page, trajectories, drawn=drawn, **values)
        return
    other = tuned_lens.trajectories(page, path, masked, position, words)
    left, right = st.container(key="ranks_pair").columns(2, gap="medium")
    with left:
        RANKS.show(page, trajectories, drawn=drawn, **values)
    with right:
        tuned_lens.TUNED_RANKS.show(page, other, drawn=drawn, path=shown(path), **values)
