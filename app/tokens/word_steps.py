"""How the word of a chosen token was cut: normalisation, then the longest match that was found."""

import streamlit as st

from bertcore.analysis.space import embeddings
from bertcore.tokenizer.wordpiece import WordSteps

from ..component import Component
from ..plots import plain, shorten_middle
from ..shell import frame

MAX_TRIED = 14  # most failed candidates drawn for a piece; the others are only counted

COMPONENT = Component("bertscope_word_steps", __file__)
PIECE_MARKS = {
    "WordPiece": "## continues a word.",
    "byte-level BPE": "Ġ stands for the space before a word; letters beyond English are cut into "
    "bytes, each shown as a letter.",
    "Unigram": "▁ stands for the space before a word.",
}
"""How each kind of tokenizer marks where words begin or continue."""


def word_steps(steps: WordSteps, *, key: str) -> None:
    """Draw what happened to one word."""
    COMPONENT(
        key=key,
        data={
            "word": steps.word,
            "normalized": steps.normalized,
            "isAdded": steps.is_added,
            "steps": [[name, after] for name, _, after in steps.steps],
            "pieces": [
                {
                    "token": piece.token,
                    "id": piece.id,
                    "tried": piece.tried[:MAX_TRIED],
                    "more": max(0, len(piece.tried) - MAX_TRIED),
                }
                for piece in steps.pieces
            ],
            "reason": steps.unk_reason or "",
        },
    )


def show_steps(page: frame.Page, index: int) -> None:
    """Draw how the chosen token's word was cut."""
    text_id = page.trace.text_ids[index]
    if text_id < 0:
        st.caption(
            f"{plain(page.trace.tokens[index])} is not part of the text: the tokenizer adds it, as "
            "in training. In BERT, answers about the whole text are read from [CLS], and [SEP] "
            "ends each text. Choose a word to see how it is cut."
        )
        return
    kind = page.bert.tokenizer.kind
    if kind != "WordPiece":
        st.caption(
            f"This checkpoint's tokenizer is {kind}, not WordPiece: its pieces are shown, but the "
            "steps that lead to them are not."
        )
        return
    text = embeddings.kept_text(page.trace, text_id)
    words = page.compute(embeddings.explain_words, text)
    steps = embeddings.word_at(words, page.trace.offsets[index])
    with st.container(border=True):
        st.markdown(f"**How “{plain(shorten_middle(steps.word))}” is cut**")
        word_steps(steps, key="steps")
        if any(piece.tried for piece in steps.pieces):
            st.caption(
                "WordPiece takes the longest beginning of the word that is in the vocabulary, then "
                "continues with the rest. Candidates that are not in it are crossed out."
            )
