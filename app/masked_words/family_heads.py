"""The pretraining heads of BERT's relatives: ALBERT's sentence order, ELECTRA's replaced tokens."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from app.masked_words.next_words import show_next
from app.plots import pairs, strips
from app.plots.words import percent
from app.shell import cache, capabilities, frame, texts_lookup
from bertcore import Bert


def sentence_order(bert: Bert, text_a: str, text_b: str) -> float:
    """Return the probability that A comes before B."""
    return bert.sentence_order(text_a, text_b).in_order


def replaced_tokens(bert: Bert, text_a: str, text_b: str | None) -> list[float]:
    """Return the probability of each token to have been replaced."""
    return bert.replaced_tokens(text_a, text_b).tolist()


def show_order(page: frame.Page) -> None:
    """Draw ALBERT's answer for the pair."""
    in_order = cache.call(sentence_order, page.bert_key, page.text_a, page.text_b)
    st.markdown(f"#### ALBERT gives **{percent(in_order)}** that A comes before B")
    code = page.setup_code + texts_lookup.CODE["pairs.order"].format(a=page.text_a, b=page.text_b)
    table = pd.DataFrame({"class": pairs.SENTENCE_ORDER, "probability": [in_order, 1 - in_order]})
    fig = pairs.probability_bar(in_order, pairs.SENTENCE_ORDER)
    frame.figure(fig, "sentence-order", table, code, how=frame.reading("pairs.order"))
    frame.how_to_read("pairs.order")


def show_replaced(page: frame.Page) -> None:
    """Draw which tokens ELECTRA's discriminator holds for replaced."""
    st.subheader("Which words were replaced?", anchor=False)
    with frame.guard():
        tokens = page.trace.tokens
        found = cache.call(replaced_tokens, page.bert_key, page.text_a, page.text_b)
        table = pd.DataFrame({"token": tokens, "probability of being replaced": found})
        code = page.setup_code + texts_lookup.CODE["words.replaced"]
        fig = strips.replaced_strip(tokens, np.array(found, dtype=np.float32))
        frame.figure(fig, "replaced-tokens", table, code, how=frame.reading("words.replaced"))
        frame.how_to_read("words.replaced")


def show_instead(page: frame.Page) -> bool:
    """Draw what a checkpoint has in place of masked words; return whether it has no masked words.

    ELECTRA's discriminator tells replaced tokens, GPT-2 expects the next; others say why nothing.
    """
    if page.bert.module.replaced is not None:
        show_replaced(page)
    elif capabilities.tells(page, "mlm"):
        st.fragment(show_next)(page)
    elif page.bert.module.mlm is None:
        st.warning(texts_lookup.TEXTS["words.no_head"])
    else:
        return False
    return True
