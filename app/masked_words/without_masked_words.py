"""Checkpoints without masked words: ELECTRA's replaced tokens, GPT-2's next words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from bertcore import Model

from ..plots.figure import Figure
from ..shell import cache, capabilities, frame
from ..shell.picture import Picture
from .next_words import show_next
from .replaced_figures import replaced_strip

NO_MASKED_WORDS = (
    "This checkpoint has no masked-word (MLM) head, so it cannot predict words; fine-tuned "
    "checkpoints often lack it. Choose a pretrained one such as `default` in the sidebar."
)


def _replaced_figure(result: tuple[list[str], list[float]]) -> Figure:
    tokens, probabilities = result
    return replaced_strip(tokens, np.array(probabilities, dtype=np.float32))


def _replaced_table(result: tuple[list[str], list[float]]) -> pd.DataFrame:
    tokens, probabilities = result
    return pd.DataFrame({"token": tokens, "probability of being replaced": probabilities})


REPLACED = Picture(
    name="replaced-tokens",
    figure=_replaced_figure,
    table=_replaced_table,
    how=(
        "This checkpoint is an ELECTRA discriminator: it does not predict hidden words; it "
        "predicts for each token whether it was replaced by another. Write a wrong word in a "
        "sentence and see whether its box turns bright."
    ),
    code="""
bert.replaced_tokens(trace.text_a, trace.text_b)        # [T]
""",
)


def replaced_tokens(bert: Model, text_a: str, text_b: str | None) -> list[float]:
    """Return the probability that each token was replaced, [T]."""
    return bert.replaced_tokens(text_a, text_b).tolist()


def show_replaced(page: frame.Page) -> None:
    """Draw the probability that each token was replaced, by ELECTRA's discriminator."""
    st.header("Which words were replaced?", anchor=False)
    with frame.guard():
        probabilities = cache.call(replaced_tokens, page.bert_key, page.text_a, page.text_b)
        REPLACED.show(page, (page.trace.tokens, probabilities))


def show_instead(page: frame.Page) -> bool:
    """Draw what a checkpoint has instead of masked words; return whether it has no masked words.

    ELECTRA's discriminator detects replaced tokens, GPT-2 predicts the next; others say why not.
    """
    if "replaced" in page.bert.capabilities:
        show_replaced(page)
    elif "mlm" in page.bert.capabilities:
        return False
    elif capabilities.never_has(page.bert, "mlm"):
        capabilities.tells(page, "mlm")
        frame.fragment(show_next)(page)
    else:
        st.warning(NO_MASKED_WORDS)
    return True
