"""The whole sentence as a strip: the surprise of each token, and the masking of pretraining."""

from __future__ import annotations

import streamlit as st

from bertcore.analysis.words.masking_demo import corrupt
from bertcore.analysis.words.surprise import surprise

from ..shell import cache, frame
from ..shell.picture import Picture
from ..shell.state import Field
from .strips_figures import (
    masking_strip,
    masking_table,
    surprise_strip,
    surprise_table,
)

MANY_TOKENS = 64
"""Longer texts are scored only when asked: the cost grows with the square of the length."""

PERCENTAGES = (5, 10, 15, 25, 40)
LAST_SEED = 999_999

SCORES_LONG_TEXT = Field("surprise", False)
SEED = Field("mask_seed", 1)
PERCENTAGE = Field("share", 15, PERCENTAGES)

SURPRISE = Picture(
    name="surprise",
    figure=surprise_strip,
    table=surprise_table,
    how=(
        "Each token in turn is hidden, alone, and BERT predicts it from all the others. Colour is "
        "its surprise in bits: 0 means it was certain, each bit more halves the probability. Below "
        "stands BERT's own guess, ✓ if it was right. Over the {num_tokens} tokens the "
        "pseudo-perplexity is **{perplexity}**: as if BERT had to choose among that many equally "
        "likely pieces each time (Salazar et al. 2020)."
    ),
    code="""
from bertcore.analysis.words.surprise import surprise

found = surprise(bert, trace.text_a, trace.text_b)
found.bits, found.pseudo_perplexity
""",
)
MASKING = Picture(
    name="masking",
    figure=masking_strip,
    table=masking_table,
    how=(
        "The sentence as a pretraining example: {chosen} of its {num_tokens} tokens (\\[CLS\\] and "
        "\\[SEP\\] counted, but never chosen) must be predicted. Of these 80% become \\[MASK\\], "
        "10% a random piece, and 10% stay as they are: since any token may be wrong, BERT must "
        "keep a good representation of all of them. The code that pretrains our own BERT makes "
        "the draw."
    ),
    code="""
from bertcore.analysis.words.masking_demo import corrupt

drawn = corrupt(bert, trace.text_a, trace.text_b, seed={seed}, masked_lm_prob={probability})
drawn.shown, drawn.actions
""",
)


def show_surprise(page: frame.Page) -> None:
    """Draw how much each token surprises BERT when it alone is hidden."""
    st.subheader("What surprises BERT", anchor=False)
    num_tokens = page.trace.num_tokens
    if num_tokens > MANY_TOKENS:
        label = f"Score all {num_tokens} tokens, one run of BERT each"
        if not st.toggle(label, key=SCORES_LONG_TEXT.key()):
            return
    with frame.guard(), st.spinner("Hiding each token in turn"):
        found = cache.call(surprise, page.bert_key, page.text_a, page.text_b)
        perplexity = f"{found.pseudo_perplexity:,.1f}"
        SURPRISE.show(page, found, perplexity=perplexity, num_tokens=len(found.tokens))


def show_masking(page: frame.Page) -> None:
    """Draw the 80/10/10 procedure on the sentence."""
    st.subheader("How the training data is masked", anchor=False)
    row = st.container(horizontal=True, vertical_alignment="bottom")
    seed = row.number_input(
        "Seed",
        min_value=0,
        max_value=LAST_SEED,
        step=1,
        width=140,
        key=SEED.key(low=0, high=LAST_SEED),
    )
    row.button(
        "Draw again",
        icon=":material/casino:",
        on_click=lambda: SEED.put((seed + 1) % (LAST_SEED + 1)),
    )
    percentage = row.segmented_control(
        "Tokens that are chosen",
        PERCENTAGES,
        format_func="{}%".format,
        key=PERCENTAGE.key(),
    )
    with frame.guard():
        probability = (percentage or PERCENTAGE.default) / 100
        drawn = cache.call(corrupt, page.bert_key, page.text_a, page.text_b, seed, probability)
        MASKING.show(
            page,
            drawn,
            drawn={"mask": page.marks.mask},
            seed=seed,
            probability=probability,
            chosen=drawn.num_chosen,
            num_tokens=len(drawn.tokens),
        )
