"""Opening a checkpoint from a zip file on the visitor's machine."""

from __future__ import annotations

import streamlit as st

from bertcore.checkpoints.folder import OnlyPickleError

from ..access import checkpoints
from ..access.policy import policy
from ..access.room import max_megabytes
from ..shell import cache, frame, sidebar, uploads
from ..streamlit_internals import empty_box

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
    """Open the uploaded checkpoint, or say at the top of the page why it does not open.

    The zip file itself is no longer needed then, and of a checkpoint that is refused nothing is.
    """
    upload = st.session_state.get(_KEY)
    if upload is None:
        return
    with frame.guard():
        try:
            folder = uploads.receive(upload)
        finally:
            empty_box(_KEY)
        source = checkpoints.name_of(folder)
        try:
            cache.opened(sidebar.key_of(source))
        except OnlyPickleError:
            if policy().is_closed:
                uploads.discard(folder)
                raise  # on an open server the page asks whether to read it
        except Exception:
            uploads.discard(folder)
            raise
        sidebar.choose(source)
