"""Tokens & embeddings: the input of BERT, taken apart."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from bertcore.analysis.space import embeddings
from bertcore.analysis.space.embeddings import token_columns

from ..plots import Figure, plain, shorten_middle, theme
from ..shell import Picture, frame, one_of
from ..shell.links import TOKEN
from ..shell.links import TOKENS_VIEW as VIEW
from ..token_strip.token_strip import token_strip
from ..token_strip.word_steps import word_steps
from . import PAGE
from .embedding_sum import show_leave_one_out, show_norm, show_sum
from .growth import show_growth
from .positions import show_positions

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


def nearest_words(neighbours: Sequence[tuple[str, float]], *, word: str) -> Figure:
    """Draw the pieces of the token table nearest to `word` as bars, the nearest on top."""
    rows, cosines = list(range(len(neighbours))), [cosine for _, cosine in neighbours]
    names = [theme.escape(name) for name, _ in neighbours]
    fig = Figure()
    fig.add(
        "bar",
        x=cosines,
        y=rows,
        orientation="h",
        marker={"color": theme.SEGMENT_A},
        text=[f"{cosine:.2f}" for cosine in cosines],
        textposition="auto",
        customdata=names,
        hovertemplate="%{customdata}: cosine %{x:.4f}<extra></extra>",
    )
    title = f"cosine to {theme.escape(word)} in the token table"
    theme.plot_layout(fig, "", title, "", 60 + 27 * len(rows))
    fig.update_yaxes(tickvals=rows, ticktext=names, autorange="reversed", showgrid=False)
    fig.update_xaxes(rangemode="tozero")
    return fig


NEAREST = Picture(
    name="nearest-words",
    figure=nearest_words,
    table=lambda neighbours: pd.DataFrame(neighbours, columns=["piece", "cosine"]),
    how=(
        "The pieces whose rows in the token table point most in the direction of the chosen "
        "token's row: what the model treats as similar before it has read any context."
    ),
    code="""
from bertcore.analysis.space.embeddings import nearest_words

nearest_words(bert, trace.input_ids[{index}], top_k=12)
""",
)


def show_nearest(page: frame.Page, index: int) -> None:
    """Draw the nearest rows of the token table."""
    nearest = page.compute(embeddings.nearest_words, page.trace.input_ids[index])
    NEAREST.show(page, nearest, drawn={"word": page.trace.tokens[index]}, index=index)


VIEWS = {
    "Three embeddings": show_sum,
    "LayerNorm": show_norm,
    "Leave one out": show_leave_one_out,
    "Position table": show_positions,
    "Nearest words": show_nearest,
    "A vocabulary grows": show_growth,
}


STRIP = Picture(
    name="tokens",
    table=lambda trace: pd.DataFrame(token_columns(trace)),
    how=(
        "Choose a token with the mouse, or with the arrow keys and Enter: the pictures below "
        "follow it. {marks}"
    ),
    code="""
import pandas as pd
from bertcore.analysis.space.embeddings import token_columns

pd.DataFrame(token_columns(trace))
""",
)


@frame.fragment
def show(page: frame.Page) -> None:
    """Draw everything that follows the chosen token; runs alone when another is chosen."""
    trace = page.trace
    TOKEN.key(low=0, high=trace.num_tokens - 1)
    index = TOKEN.value
    with frame.guard():
        token_strip(trace, key="strip", selected=index, on_pick=TOKEN.put)
        with st.container(horizontal=True, vertical_alignment="center", key="strip_row"):
            marks = PIECE_MARKS.get(page.bert.tokenizer.kind, "")
            st.caption(STRIP.reading(marks=marks))
            STRIP.offer(page, trace, width="content", with_caption=False, marks=marks)
        show_steps(page, index)
    view = one_of("Picture", list(VIEWS), VIEW)
    with frame.guard():
        VIEWS[view](page, index)


def draw() -> None:
    """Draw the page."""
    show(frame.begin(PAGE))
