"""How much each token surprises BERT when it alone is hidden."""

from __future__ import annotations

import streamlit as st

from bertcore.analysis.words.surprise import Surprise, surprise

from ..shell import cache, frame
from ..shell.cache import Texts
from ..shell.jobs import waiting
from ..shell.jobs.background import Progress, Work
from ..shell.picture import Picture
from ..shell.state import Field
from .surprise_figures import surprise_strip, surprise_table

AT_ONCE = 64
"""Most tokens of a text that is scored within the page's run; a longer one is queued."""

SCORES_ALL = Field("surprise", False)
"""Off until asked for: each edit of the text would cost a run of BERT for each token."""

SURPRISE = Picture(
    name="surprise",
    figure=surprise_strip,
    table=surprise_table,
    how=(
        "Each token in turn is hidden on its own, and BERT predicts it from the rest; a typed "
        "\\[MASK\\] stays masked. Colour is its surprise in bits: 0 means that it was certain, "
        "and each further bit halves the probability. Below each token is BERT's own guess, with "
        "✓ if it was right. Over the {num_tokens} tokens the pseudo-perplexity is "
        "**{perplexity}**: as if BERT had to choose among that many equally likely pieces each "
        "time (Salazar et al. 2020)."
    ),
    code="""
from bertcore.analysis.words.surprise import surprise

surprises = surprise(bert, trace.text_a, trace.text_b)
surprises.bits, surprises.pseudo_perplexity
""",
)


def show_surprise(page: frame.Page) -> None:
    """Draw how much each token surprises BERT when it alone is hidden."""
    st.header("What surprises BERT", anchor=False)
    label = f"Score the tokens of the text (runs of BERT: {_num_scored(page)})"
    if not st.toggle(label, key=SCORES_ALL.key()):
        return
    with frame.guard():
        surprises = _surprises(page)
        if surprises is None:
            return
        perplexity = f"{surprises.pseudo_perplexity:,.1f}"
        SURPRISE.show(page, surprises, perplexity=perplexity, num_tokens=len(surprises.tokens))


def _num_scored(page: frame.Page) -> int:
    """Return how many tokens are hidden in turn: those of the text that are not [MASK]."""
    ids = zip(page.trace.input_ids, page.trace.text_ids, strict=True)
    return sum(text >= 0 and token != page.bert.tokenizer.mask_id for token, text in ids)


def _surprises(page: frame.Page) -> Surprise | None:
    """Return the surprise; of a long text None while it is computed and its progress is drawn."""
    read = Texts(page.bert_key, page.text_a, page.text_b)
    if page.trace.num_tokens <= AT_ONCE:
        return cache.call(surprise, *read)

    def work(progress: Progress) -> Surprise:
        return surprise(
            page.bert,
            page.text_a,
            page.text_b,
            progress=lambda fraction: progress(fraction, "Hiding each token in turn"),
        )

    surprises: Surprise | None = waiting.result(Work(("surprise", read), work), "surprise")
    return surprises
