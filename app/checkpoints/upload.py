"""Opening a checkpoint from a zip file of the visitor's machine."""

from __future__ import annotations

import streamlit as st

from app.shell import frame, sidebar, texts_lookup, uploads

_KEY = "checkpoint_zip"


def offer_upload() -> None:
    """Draw the box for a zip file and the button that opens it."""
    with st.expander("Upload a checkpoint as a zip file"):
        upload = st.file_uploader(
            "Zip file",
            type="zip",
            key=_KEY,
            max_upload_size=uploads.MAX_MEGABYTES,
            label_visibility="collapsed",
        )
        st.caption(texts_lookup.TEXTS["checkpoints.zip"])
        icon = ":material/folder_zip:"
        st.button("Open the upload", icon=icon, disabled=upload is None, on_click=_open)


def _open() -> None:
    """Make the uploaded checkpoint the chosen one, or say at the top of the page why not."""
    upload = st.session_state.get(_KEY)
    if upload is not None:
        with frame.guard():
            sidebar.choose(str(uploads.receive(upload)))
