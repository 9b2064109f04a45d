"""Inspect: what a fine-tuned checkpoint answers, why, what would change it, and where it fails."""

import streamlit as st

from app import frame, inspection, sidebar, state, texts
from app.sections import inspect_answer, inspect_file, inspect_swaps
from app.sections.inspect_words import show_layers, show_parts, show_words

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
    name = texts.plain(sidebar.short_name(page.bert_key.source))
    st.info(texts.TEXTS["inspect.no_head"].format(name=name))
    st.code(texts.CODE["inspect.finetune"], language="bash")
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
            inspect_swaps.show(page, asked, chosen.word)
        else:
            {"words": show_words, "parts": show_parts, "layers": show_layers}[why](page, asked)


is_text = state.value("inspect_view", "text") != "file"
page = frame.begin("inspect", needs_text=is_text)
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
            inspect_file.show(page)
