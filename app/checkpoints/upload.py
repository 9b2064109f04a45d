"""Opening a checkpoint from a zip file of the visitor's machine."""

from __future__ import annotations

import streamlit as st

from ..shell import frame, sidebar, uploads

HOW_TO_ZIP = (
    "Zip the folder of the checkpoint. Only config, tokenizer, model card and weights are "
    "unpacked, on the machine where BertScope runs. The last five uploads are kept there."
)
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
        st.caption(HOW_TO_ZIP)
        icon = ":material/folder_zip:"
        st.button("Open the upload", icon=icon, disabled=upload is None, on_click=_open)


def _open() -> None:
    """Open the uploaded checkpoint, or say at the top of the page why it does not open."""
    upload = st.session_state.get(_KEY)
    if upload is not None:
        with frame.guard():
            sidebar.choose(str(uploads.receive(upload)))
