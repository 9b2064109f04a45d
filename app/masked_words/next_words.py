"""Next words: what a causal model (GPT-2) expects at each place, on the page of masked words."""

from __future__ import annotations

import streamlit as st

from bertcore import Trace
from bertcore.analysis.words.next_words import (
    end_of_text,
    next_surprise,
    predict_next,
    predicted_places,
)

from ..plots.untrusted_text import plain
from ..shell import cache, frame
from ..shell.picture import Picture
from ..shell.state import Field
from ..token_strip.token_strip import token_strip
from .predictions import TOP_K
from .predictions_figures import predictions_table, top_words
from .surprise_figures import surprise_strip, surprise_table

PLACE = Field("next_token", 0)

NO_HEAD = (
    "This checkpoint has no next-token head, so it predicts nothing; fine-tuned checkpoints often "
    "lack it."
)

NEXT_WORDS = Picture(
    name="next-words",
    figure=top_words,
    table=predictions_table,
    how=(
        "Each bar is the probability of one piece of the vocabulary at this place, given only the "
        "tokens before it; all pieces together make 100%. The pink bar is the token that the text "
        "has there."
    ),
    code="""
from bertcore.analysis.words.next_words import predict_next

predictions = predict_next(bert, trace.text_a, trace.text_b, [{place}], {top_k})
predictions.words, predictions.probabilities            # [1, k]
""",
)
NEXT_SURPRISE = Picture(
    name="next-surprise",
    figure=surprise_strip,
    table=surprise_table,
    how=(
        "Each token is predicted from those before it, in one run. Colour is its surprise in "
        "bits: 0 means that it was certain, and each further bit halves the probability. Below "
        "each token is the model's own guess, with ✓ if it was right. {left_out} The perplexity "
        "is **{perplexity}**: as if the model had to choose among that many equally likely "
        "pieces each time."
    ),
    code="""
from bertcore.analysis.words.next_words import next_surprise

surprises = next_surprise(bert, trace.text_a, trace.text_b)
surprises.bits, surprises.pseudo_perplexity
""",
)


def show_next(page: frame.Page) -> None:
    """Draw what the model expects at the chosen token, given those before it, and all surprises."""
    if "next" not in page.bert.capabilities:
        st.warning(NO_HEAD)
        return
    num_tokens, end = page.trace.num_tokens, end_of_text(page.trace)
    PLACE.key(default=end, low=1, high=num_tokens)
    place = PLACE.value

    def pick(token: int) -> None:
        if token:
            PLACE.put(token)

    with frame.guard():
        chosen = place if place < num_tokens else None
        token_strip(page.trace, key="next_strip", selected=chosen, on_pick=pick)
        row = st.container(horizontal=True, vertical_alignment="center")
        row.button(
            "What comes after the end?",
            disabled=place == end,
            on_click=PLACE.put,
            args=(end,),
        )
        row.caption("Click a token to see what was expected there, given the tokens before it.")
        TOP_K.key(low=3, high=15)
        predictions = cache.call(
            predict_next, page.bert_key, page.text_a, page.text_b, (place,), TOP_K.value
        )
        NEXT_WORDS.show(page, predictions, with_caption=False, place=place, top_k=TOP_K.value)
        st.slider("Words", 3, 15, key=TOP_K.name, width=200)
        NEXT_WORDS.caption()
    if predicted_places(page.trace):
        st.header("What surprises it, reading from left to right", anchor=False)
        with frame.guard():
            surprises = cache.call(next_surprise, page.bert_key, page.text_a, page.text_b)
            perplexity = f"{surprises.pseudo_perplexity:,.1f}"
            left_out = _left_out(page.trace)
            NEXT_SURPRISE.show(page, surprises, perplexity=perplexity, left_out=left_out)


def _left_out(trace: Trace) -> str:
    """Return which tokens have no surprise: those that were added, or the first."""
    texts = zip(trace.tokens, trace.text_ids, strict=True)
    added = dict.fromkeys(plain(token) for token, text in texts if text < 0)
    if trace.text_ids[0] < 0:
        return f"Tokens that were added ({', '.join(added)}) are left out."
    return f"The first token ({plain(trace.tokens[0])}) has nothing before it."
