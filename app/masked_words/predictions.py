"""The most probable words at each mask, and the scores of the visitor's own words."""

from __future__ import annotations

import streamlit as st

from bertcore.analysis.words.candidates import parse_candidates, score_candidates
from bertcore.analysis.words.predictions import MaskPredictions, fill_in_turn, predict_masks

from ..plots.untrusted_text import plain
from ..shell import cache, capabilities, frame
from ..shell.links import MASK
from ..shell.picture import Picture
from ..shell.state import Field
from .predictions_figures import (
    candidate_dots,
    candidates_table,
    in_turn,
    mask_names,
    predictions_table,
    top_words,
)

MOST_IN_TURN = 16
"""Most masks that are also filled one after another; each costs a run."""

TOP_K = Field("top_k", 5)
CANDIDATES_LINE = Field("candidates", "")

PREDICTIONS = Picture(
    name="masked-words",
    figure=top_words,
    table=predictions_table,
    how=(
        "Each bar is the probability of one piece of the vocabulary; all pieces together make "
        "100%. The pink bar is the token that was there. Several masks are predicted "
        "independently, each as if the others were unknown, so two good words may not fit "
        "together."
    ),
    code="""
from bertcore.analysis.words.predictions import predict_masks

predictions = predict_masks(bert, trace.text_a, trace.text_b, {masked}, {top_k})
predictions.words, predictions.probabilities            # [M, k]
""",
)
CANDIDATES = Picture(
    name="candidates",
    figure=candidate_dots,
    table=candidates_table,
    how=(
        "A one-piece word has its probability from the bars above and its rank among all pieces of "
        "the vocabulary; 1 is the best guess. A word of several pieces gets as many masks, and its "
        "pieces are predicted one after another from left to right, each with those before it "
        "filled in; the probabilities are multiplied. The blue dot is that product, the orange "
        "ring its geometric mean per piece: if lengths differ, compare rings with other rings and "
        "with the dots of one-piece words."
    ),
    code="""
from bertcore.analysis.words.candidates import score_candidates

scored = score_candidates(bert, trace.text_a, trace.text_b, {masked}, {position}, {words})
[(c.word, c.pieces, c.probability, c.rank) for c in scored]
""",
)


def show_predictions(page: frame.Page, masked: tuple[int, ...]) -> MaskPredictions:
    """Draw the most probable words of each mask."""
    TOP_K.key(low=3, high=15)
    top_k = TOP_K.value
    predictions = cache.call(predict_masks, page.bert_key, page.text_a, page.text_b, masked, top_k)
    PREDICTIONS.show(page, predictions, masked=masked, top_k=top_k)
    capabilities.note(page, "mask")
    unknown = page.bert.tokenizer.unk_token
    if unknown in predictions.words:
        st.caption(
            f"{plain(unknown)} is not a word: it stands for every word that the vocabulary cannot "
            "read, as in the text that the checkpoint was trained on."
        )
    if 1 < len(predictions.positions) <= MOST_IN_TURN:
        steps = cache.call(fill_in_turn, page.bert_key, page.text_a, page.text_b, masked)
        st.markdown(
            "Filled one after another, the most certain first, with the earlier ones filled in: "
            + in_turn(steps)
        )
    return predictions


def choose_mask(predictions: MaskPredictions) -> int:
    """Draw the controls below the bars; return the mask that the pictures below are about."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="large")
    row.slider("Words for each mask", 3, 15, key=TOP_K.name, width=200)
    names = dict(zip(predictions.positions, mask_names(predictions), strict=True))
    key = MASK.key(default=predictions.positions[0], options=list(names))
    if len(names) == 1:
        return predictions.positions[0]

    def name(position: int) -> str:
        return plain(names[position])

    chosen = row.pills("Look closer at", list(names), format_func=name, key=key)
    return predictions.positions[0] if chosen is None else chosen


def show_candidates(page: frame.Page, masked: tuple[int, ...], position: int) -> tuple[str, ...]:
    """Draw the scores of the visitor's own words; return the words."""
    st.header("Your own words", anchor=False)
    line = st.text_input(
        "Words to score at this mask, separated by commas",
        key=CANDIDATES_LINE.key(),
        placeholder="river, bank, hillside, New York",
    )
    words = parse_candidates(line)
    if not words:
        st.caption(
            "Try words that BERT did not suggest: rare or wrong ones, or several words in one "
            "place."
        )
        return words
    where = (page.text_a, page.text_b, masked, position, words)
    scored = cache.call(score_candidates, page.bert_key, *where)
    for candidate in scored:
        if candidate.problem:
            st.warning(plain(candidate.problem))
    if not all(candidate.problem for candidate in scored):
        CANDIDATES.show(page, scored, masked=masked, position=position, words=words)
    return words
