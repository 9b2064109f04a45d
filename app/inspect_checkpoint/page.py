"""Inspect: what a fine-tuned checkpoint answers, why, what would change it, and where it fails."""

import streamlit as st

from app.inspect_checkpoint import PAGE, counterfactuals, file_results
from app.inspect_checkpoint import answer as inspect_answer
from app.inspect_checkpoint import model as inspection
from app.inspect_checkpoint.attributions import show_layers, show_parts, show_words
from app.plots.untrusted_text import plain
from app.shell import frame, sidebar, state, texts_lookup

VIEWS = {"text": "One text", "file": "A labelled file"}
WHYS = {
    "words": "Words",
    "parts": "Embeddings",
    "layers": "Layers",
    "swaps": "Counterfactuals",
}


def has_model(page: frame.Page) -> bool:
    """Say what to do if the checkpoint has no task head, or one that is not for this page."""
    if inspection.has_head(page.bert):
        with frame.guard(stop=True):
            inspection.model(page.bert_key)
        return True
    name = plain(sidebar.short_name(page.bert_key.source))
    st.info(texts_lookup.TEXTS["inspect.no_head"].format(name=name))
    st.code(texts_lookup.CODE["inspect.finetune"], language="bash")
    return False


def show_text(page: frame.Page) -> None:
    """Draw the answer to the text of the box, and one way to explain it."""
    with frame.guard(stop=True):
        read = inspect_answer.chosen_texts(page)
        chosen = None if read is None else inspect_answer.show(page, read)
    if chosen is None:
        return
    st.subheader("Why?", anchor=False)
    whys = dict(WHYS)
    if not inspection.can_explain_by_gradients(page.bert_key):
        del whys["parts"], whys["layers"]
    row = st.container(horizontal=True, vertical_alignment="center")
    why = row.segmented_control(
        "Why",
        list(whys),
        format_func=whys.__getitem__,
        key=state.keep("inspect_why", "words", options=list(whys)),
        required=True,
        label_visibility="collapsed",
    )
    with row:
        asked = inspect_answer.choose_how(page, read, chosen)
    with frame.guard():
        if why == "swaps":
            counterfactuals.show(page, asked, chosen.word)
        else:
            {"words": show_words, "parts": show_parts, "layers": show_layers}[why](page, asked)


def draw() -> None:
    """Draw the page."""
    is_text = state.value("inspect_view", "text") != "file"
    page = frame.begin(PAGE, needs_text=is_text)
    if has_model(page):
        st.segmented_control(
            "What to look at",
            list(VIEWS),
            format_func=VIEWS.__getitem__,
            key=state.keep("inspect_view", "text", options=list(VIEWS)),
            required=True,
            label_visibility="collapsed",
        )
        if is_text:
            show_text(page)
        else:
            with frame.guard():
                file_results.show(page)
