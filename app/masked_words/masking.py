"""The masking of pretraining, drawn on the sentence."""

from __future__ import annotations

import streamlit as st

from bertcore.analysis.words.masking_demo import corrupt

from ..shell import cache, frame
from ..shell.one_of import one_of
from ..shell.picture import Picture
from ..shell.state import Field
from .masking_figures import masking_strip, masking_table

PERCENTAGES = (5, 10, 15, 25, 40)
LAST_SEED = 999_999

SEED = Field("mask_seed", 1)
PERCENTAGE = Field("share", 15, PERCENTAGES)

MASKING = Picture(
    name="masking",
    figure=masking_strip,
    table=masking_table,
    how=(
        "The sentence as a pretraining example: {chosen} of its {num_tokens} tokens (\\[CLS\\] and "
        "\\[SEP\\] counted, but never chosen) must be predicted. Each becomes \\[MASK\\] with "
        "probability 80%, a random piece with 10%, and stays as it is with 10%. Since any token "
        "may be a random one, BERT must keep a representation of every token; the unchanged ones "
        "bias it towards the word that is there (Devlin et al. 2019). The draw is made by the code "
        "that pretrains our own BERT."
    ),
    code="""
from bertcore.analysis.words.masking_demo import corrupt

drawn = corrupt(bert, trace.text_a, trace.text_b, seed={seed}, masked_lm_prob={probability})
drawn.input_tokens, drawn.actions
""",
)


def show_masking(page: frame.Page) -> None:
    """Draw the 80/10/10 procedure on the sentence."""
    st.header("How the training data is masked", anchor=False)
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
    names = {percentage: f"{percentage}%" for percentage in PERCENTAGES}
    percentage = one_of("Chosen tokens", names, PERCENTAGE, where=row, with_label=True)
    with frame.guard():
        probability = percentage / 100
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
