"""Who wrote the word: its logit, share by share."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ..plots import plain
from ..plots.logit_shares import (
    grid,
    shares_table,
    staircase,
    token_boxes,
    token_shares,
    tokens_table,
)
from ..shell import Field, Picture, frame
from .run import AskedWord, Run, attribution, best_words

NUM_CHOICES = 8  # words that can be chosen: the most probable ones
NOTHING = ""

WORD = Field("layer_word", NOTHING)  # empty for the most probable
AGAINST = Field("layer_against", NOTHING)  # empty for no other word

HOW = (
    "A token's vector is a sum of what embeddings, heads and neurons wrote. Two things are fixed "
    "at their values in this run: the divisor of each LayerNorm, and the factor by which the "
    "masked-word head's activation scales each number. With these fixed, {sum} is a sum too, and "
    "the shares add up to **{logit}**. "
)
LIMITS = (
    "Blue raised it, orange lowered it. A share is not what would be lost without that part, since "
    "the fixed factors would then change. What a part caused in later layers is credited to those "
    "layers."
)
_CODE = """{run}
from bertcore.analysis.words.logit_attribution import logit_attribution

found = logit_attribution(bert, trace, {position}, {word!r}, {against!r})
"""
STAIRCASE = Picture(
    name="who-wrote",
    figure=staircase,
    table=shares_table,
    needs=frozenset({"parts", "mlm"}),
    how=HOW + LIMITS,
    code=_CODE
    + """[(part.kind, part.layer, part.head, part.logit) for part in found.parts]
found.logit                                        # their sum
""",
)
GRID = Picture(
    name="who-wrote-by-part",
    figure=grid,
    table=shares_table,
    needs=frozenset({"parts", "mlm"}),
    how=(
        "The same shares of {sum}, head by head; the embeddings and the biases after the last "
        "layer are in the staircase above."
    ),
    code=_CODE
    + """found.heads(0), found.total("feed_forward", layer=0)
found.sources                                      # from which token, [L, H, T]
""",
)

SOURCES = Picture(
    name="who-wrote-from-tokens",
    figure=token_boxes,
    table=tokens_table,
    needs=frozenset({"parts", "mlm"}),
    how=(
        "What the heads wrote, by the token that they took it from, summed over all layers: the "
        "boxes add up to the attention bars of the staircase. In later layers a token's vector "
        "already contains what it read from other tokens."
    ),
    code=_CODE + "found.sources.sum((0, 1))                          # [T]\n",
)


def choose_word(page: frame.Page, run: Run, position: int, where: DeltaGenerator) -> AskedWord:
    """Draw the choice of a word among the most probable; return what is asked.

    Without a masked-word head there is no word.
    """
    if "mlm" not in page.bert.capabilities:
        return AskedWord(position, None, None)
    words = best_words(run, position, NUM_CHOICES)
    word = where.selectbox(
        "Word",
        words,
        key=WORD.key(default=words[0], options=words),
        width=150,
        help="The word whose logit is split into shares. The first is BERT's prediction.",
    )
    others = [NOTHING, *(other for other in words if other != word)]
    against = where.selectbox(
        "Compared with",
        others,
        format_func=lambda name: name or "no other word",
        key=AGAINST.key(options=others),
        width=170,
        help="The shares are then of the difference between the two logits. What raises all words "
        "equally cancels out.",
    )
    return AskedWord(position, word, against or None)


def show_who_wrote(page: frame.Page, run: Run, asked: AskedWord) -> None:
    """Draw the shares of the word's logit."""
    shares = attribution(run, asked)
    against = "" if asked.against is None else f", not “{plain(asked.against)}”"
    st.header(f"Who wrote “{plain(shares.word)}”{against}?", anchor=False)
    values: dict[str, Any] = {
        "run": run.python,
        "position": asked.position,
        "word": asked.word,
        "against": asked.against,
        "sum": asked.sum,
    }
    logit = f"{shares.logit:.2f}".replace("-", "−")
    STAIRCASE.show(page, shares, logit=logit, **values)
    st.subheader("Head by head", anchor=False)
    on_ground = {"is_dark": page.is_dark}
    GRID.show(page, shares, drawn=on_ground, **values)
    st.subheader("From which tokens", anchor=False)
    taken = token_shares(shares, run.trace.tokens)
    SOURCES.show(page, taken, drawn=on_ground, **values)
