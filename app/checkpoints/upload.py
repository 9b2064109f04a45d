"""Opening a checkpoint from a zip file on the visitor's machine."""

import io

import streamlit as st

from bertcore.checkpoints.folder import OnlyPickleError

from ..access import checkpoints
from ..access.policy import policy
from ..shell import cache, frame, sidebar, uploads
from ..shell.source import UploadBox
from ..streamlit_internals import UploadedFile

HOW_TO_ZIP = (
    "Zip the folder of the checkpoint. Only config, tokenizer, model card and weights are "
    "unpacked, on the machine where BertScope runs. "
)
LAST_FIVE = "The last five uploads are kept there."
OF_VISIT = "Nobody else can open it, and it is deleted when your visit ends."
OTHER_ARCHIVES = ("gz", "tgz", "tar", "rar", "7z", "bz2", "xz")
"""Accepted to be refused with a sentence."""
_WAS_REFUSED = "_upload_was_refused"
_BOX = UploadBox(
    key="checkpoint_zip",
    label="Zip file",
    types=("zip", *OTHER_ARCHIVES),
    megabytes=uploads.MAX_MEGABYTES,
    shows_label=False,
)


def offer_upload() -> None:
    """Draw the box for a zip file and the button that opens it."""
    # Open while there is something to go on with: an error above it draws it anew, and closed.
    is_open = bool(st.session_state.get(_WAS_REFUSED) or st.session_state.get(_BOX.key))
    with st.expander("Upload a checkpoint as a zip file", expanded=is_open):
        files = _BOX.draw()
        st.caption(HOW_TO_ZIP + (OF_VISIT if policy().is_closed else LAST_FIVE))
        st.button(
            "Open the upload",
            key="open_upload",
            icon=":material/folder_zip:",
            disabled=not files,
            on_click=_open,
            args=(files,),
        )


def _open(files: list[UploadedFile]) -> None:
    """Open the uploaded checkpoint, or say at the top of the page why it does not open.

    The zip file itself is no longer needed then, and of a checkpoint that is refused nothing is.
    """
    if not files:
        return
    st.session_state[_WAS_REFUSED] = True
    with frame.guard():
        with _BOX.taken(files) as given:
            ((_, data),) = given.values()
            folder = uploads.receive(io.BytesIO(data))
            del given, data
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
        st.session_state[_WAS_REFUSED] = False
