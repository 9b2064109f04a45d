"""Opening a checkpoint from a zip file on the visitor's machine."""

from __future__ import annotations

import streamlit as st

from ..access import checkpoints
from ..access.policy import policy
from ..access.room import max_megabytes
from ..shell import frame, sidebar, uploads

HOW_TO_ZIP = (
    "Zip the folder of the checkpoint. Only config, tokenizer, model card and weights are "
    "unpacked, on the machine where BertScope runs. "
)
LAST_FIVE = "The last five uploads are kept there."
OF_VISIT = "Nobody else can open it, and it is deleted when your visit ends."
_KEY = "checkpoint_zip"


def offer_upload() -> None:
    """Draw the box for a zip file and the button that opens it."""
    with st.expander("Upload a checkpoint as a zip file"):
        upload = st.file_uploader(
            "Zip file",
            type="zip",
            key=_KEY,
            max_upload_size=max_megabytes(uploads.MAX_MEGABYTES),
            label_visibility="collapsed",
        )
        st.caption(HOW_TO_ZIP + (OF_VISIT if policy().is_closed else LAST_FIVE))
        st.button(
            "Open the upload",
            key="open_upload",
            icon=":material/folder_zip:",
            disabled=upload is None,
            on_click=_open,
        )


def _open() -> None:
    """Open the uploaded checkpoint, or say at the top of the page why it does not open."""
    upload = st.session_state.get(_KEY)
    if upload is not None:
        with frame.guard():
            sidebar.choose(checkpoints.name_of(uploads.receive(upload)))
