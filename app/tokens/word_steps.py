"""How the word of a chosen token was cut: normalisation, then the longest match that was found."""

import streamlit as st

from bertcore.analysis.space import embeddings

from ..plots import plain, shorten_middle
from ..shell import frame
from ..token_strip.word_steps import word_steps

PIECE_MARKS = {
    "WordPiece": "## continues a word.",
    "byte-level BPE": "Ġ stands for the space before a word; letters beyond English are cut into "
    "bytes, each shown as a letter.",
    "Unigram": "▁ stands for the space before a word.",
}
"""How each kind of tokenizer marks where words begin or continue."""


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
