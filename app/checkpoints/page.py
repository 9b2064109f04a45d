"""Checkpoints: open one, and see what it contains and whether all of it was read."""

import streamlit as st

from bertcore.checkpoints import read_card

from ..access.policy import policy
from ..plots import plain, theme
from ..plots.untrusted_text import safe_card
from ..shell import Field, cache, frame, one_of, sidebar
from . import PAGE
from .contents import show_shape, show_tensors
from .doctor import show_doctor
from .upload import offer_upload

HOW_TO_OPEN = (
    "A folder contains config.json, model.safetensors and vocab.txt or tokenizer.json, as written "
    "by `bertscope pretrain` and transformers. A hub id (user/name, or user/name@revision) is "
    "fetched from the Hugging Face hub, the only time that the app uses the network; it first "
    "shows what will be fetched and how much. Private checkpoints open with your own token (`hf "
    "auth login`)."
)
HOW_TO_CHOOSE = (
    "This server opens the checkpoints that the sidebar lists, and those that you upload here."
)
NAMED = (
    "It is closed because it answers to a name besides localhost. If nobody else can reach that "
    "name, start it with `--open` to open folders and hub ids here."
)
NO_CARD = (
    "This checkpoint has no model card (README.md), so what it was trained on is not documented."
)
HOW_MEMORY = (
    "Checkpoints are shared by everybody who uses this server; the least recently used is closed "
    "when there are too many. An unloaded checkpoint opens again when somebody needs it."
)


def choose() -> None:
    """Draw the box for a folder or hub id; on a closed server, a note on what can be opened."""
    if policy().is_closed:
        st.caption(f"{HOW_TO_CHOOSE} {NAMED}" if policy().is_closed_by_name else HOW_TO_CHOOSE)
        offer_upload()
        return
    with st.form("open_checkpoint", border=False):
        row = st.container(horizontal=True, vertical_alignment="bottom")
        row.text_input(
            "Folder or hub id",
            key="open_source",
            placeholder="/home/me/my-bert, or a hub id such as google-bert/bert-base-uncased",
        )
        row.form_submit_button("Open", on_click=open_typed, type="primary")
    st.caption(HOW_TO_OPEN)
    offer_upload()


def open_typed() -> None:
    """Choose the checkpoint that was typed."""
    typed = st.session_state.get("open_source", "").strip()
    if typed:
        sidebar.choose(typed)


def show_card(page: frame.Page) -> None:
    """Draw the model card, without pictures and HTML."""
    report = page.bert.report
    assert report is not None  # the page opened a folder
    card = read_card(report.folder)
    if card is None:
        st.info(NO_CARD)
    else:
        st.markdown(safe_card(card))


def show_memory(page: frame.Page) -> None:
    """Draw the checkpoints in memory, each with a button to unload it."""
    for index, (key, size) in enumerate(cache.loaded().items()):
        row = st.container(horizontal=True, vertical_alignment="center")
        chosen = " (in use here)" if key == page.bert_key else ""
        name = plain(sidebar.short_name(key.source))
        where = f"device {key.device}, precision {key.dtype}"
        row.markdown(f"{name}{chosen}: **{theme.megabytes(size)}** ({where})")
        row.button("Unload", key=f"unload_{index}", on_click=cache.unload, args=(key,))
    st.markdown(f"Cached traces and results: **{theme.megabytes(cache.result_bytes())}**")
    st.caption(HOW_MEMORY)


MEMORY = "Memory"
VIEWS = {
    "What was read": show_tensors,
    "Doctor": show_doctor,
    "Shape": show_shape,
    "Model card": show_card,
    MEMORY: show_memory,
}
VIEW = Field("checkpoint_view", next(iter(VIEWS)), tuple(VIEWS))


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    choose()
    page = frame.page_without_text()
    st.header(plain(sidebar.short_name(page.bert_key.source)), anchor=False)
    # On a closed server, what others have open is private.
    views = [view for view in VIEWS if view != MEMORY or not policy().is_closed]
    view = one_of("About it", views, VIEW)
    with frame.guard():
        VIEWS[view](page)
