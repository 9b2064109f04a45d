"""Checkpoints: open one, and see what is inside and whether all of it was read."""

import pandas as pd
import streamlit as st

from app.checkpoints import PAGE, figures
from app.checkpoints.doctor import show_doctor
from app.checkpoints.upload import offer_upload
from app.plots import theme
from app.plots.untrusted_text import plain, safe_card
from app.shell import cache, frame, sidebar, state, texts_lookup
from bertcore.analysis.health.parameters import count_parameters, tensor_rows
from bertcore.checkpoints import read_card


def choose() -> None:
    """Draw the box for a folder or hub id."""
    with st.form("open_checkpoint", border=False):
        row = st.container(horizontal=True, vertical_alignment="bottom")
        row.text_input(
            "Folder or hub id",
            key="open_source",
            placeholder="/home/me/my-bert, or a hub id such as google-bert/bert-base-uncased",
        )
        row.form_submit_button("Open", on_click=open_typed, type="primary")
    st.caption(texts_lookup.TEXTS["checkpoints.open"])
    offer_upload()


def open_typed() -> None:
    """Make what was typed the chosen checkpoint."""
    typed = st.session_state["open_source"].strip()
    if typed:
        sidebar.choose(typed)


def show_tensors(page: frame.Page) -> None:
    """Draw the load report."""
    report = page.bert.report
    row = st.container(horizontal=True, gap="medium", key="checkpoint_counts")
    for label, found in {
        "Loaded": report.matched,
        "Missing": report.missing,
        "Task head": report.task_heads,
        "Unexpected": report.unexpected,
        "Wrong shape": report.mis_shaped,
    }.items():
        row.metric(label, len(found), width="content")
    st.markdown("\n".join(f"- {plain(sentence)}" for sentence in report.sentences()))
    table = pd.DataFrame(tensor_rows(report), columns=["tensor", "shape", "what happened"])
    st.dataframe(table, hide_index=True, width="stretch", height=320)
    frame.downloads("tensors", table, page.setup_code + texts_lookup.CODE["checkpoints.tensors"])
    frame.how_to_read("checkpoints.tensors")


def show_shape(page: frame.Page) -> None:
    """Draw where the parameters are, and the config as a table."""
    counts = cache.call(count_parameters, page.bert_key)
    frame.figure(
        figures.parameter_bars(counts),
        "parameters",
        pd.DataFrame(counts.items(), columns=["part", "parameters"]),
        page.setup_code + texts_lookup.CODE["checkpoints.parameters"],
    )
    frame.how_to_read("checkpoints.parameters")
    config = page.bert.config.to_hf_dict()
    names = page.bert.config.family.fields  # theirs, in config.json, where they differ
    meanings = {names.get(ours, ours): text for ours, text in texts_lookup.CONFIG_MEANINGS.items()}
    rows = [(key, str(config[key]), text) for key, text in meanings.items() if key in config]
    table = pd.DataFrame(rows, columns=["field of config.json", "value", "meaning"])
    st.table(table.set_index("field of config.json"))


def show_card(page: frame.Page) -> None:
    """Draw the model card, without pictures and HTML."""
    card = read_card(page.bert.report.folder)
    if card is None:
        st.info(texts_lookup.TEXTS["checkpoints.no_card"])
    else:
        st.markdown(safe_card(card))


def show_memory(page: frame.Page) -> None:
    """Draw what is in memory, with a way to let go of each."""
    for index, (key, size) in enumerate(cache.loaded().items()):
        row = st.container(horizontal=True, vertical_alignment="center")
        chosen = " (in use here)" if key == page.bert_key else ""
        name = plain(sidebar.short_name(key.source))
        where = f"device {key.device}, precision {key.dtype}"
        row.markdown(f"{name}{chosen}: **{theme.megabytes(size)}** ({where})")
        row.button("Unload", key=f"unload_{index}", on_click=cache.unload, args=(key,))
    st.markdown(f"Kept traces and results: **{theme.megabytes(cache.result_bytes())}**")
    st.caption(texts_lookup.TEXTS["checkpoints.memory"])


VIEWS = {
    "What was read": show_tensors,
    "Doctor": show_doctor,
    "Shape": show_shape,
    "Model card": show_card,
    "Memory": show_memory,
}


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    choose()
    page = frame.page_without_text()
    st.subheader(plain(sidebar.short_name(page.bert_key.source)), anchor=False)
    view = st.segmented_control(
        "About it",
        list(VIEWS),
        key=state.keep("checkpoint_view", next(iter(VIEWS)), options=list(VIEWS)),
        label_visibility="collapsed",
    )
    with frame.guard():
        VIEWS[view or next(iter(VIEWS))](page)
