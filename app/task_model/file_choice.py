"""The choice of a labelled file: an upload, or the dev data of a shipped checkpoint."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bertcore.checkpoints.source import FINE_TUNED, labelled_file
from bertcore.configs import Columns

from ..access.room import max_megabytes
from ..plots.formats import shorten_middle
from ..plots.untrusted_text import plain
from ..shell import frame, uploads
from ..streamlit_internals import UploadedFile, empty_box
from . import labelled_files
from .choices import COLUMNS, JOINT_COLUMNS, SKIP_BAD_ROWS, USUAL_COLUMN
from .labelled_files import Labelled
from .task_views import TaskView

_BOX, _FILE = "inspect_upload", "_inspect_file"


def choose_file(view: TaskView, source: str, labels: tuple[str, ...]) -> Labelled | None:
    """Draw the upload of a file and how to read it; a shipped checkpoint brings its own file.

    The last upload stays chosen, on every page that asks for a labelled file.

    Args:
        view: View of the task.
        source: Source of the checkpoint.
        labels: Labels of the model.
    """
    upload = st.file_uploader(
        view.upload,
        type=list(view.file_types),
        key=_BOX,
        max_upload_size=max_megabytes(labelled_files.MAX_MEGABYTES),
    )
    is_refused = True
    with frame.guard():
        uploads.check_refused(_BOX)
        _keep(upload)
        is_refused = False
    if is_refused:
        return None
    kept: tuple[str, Path, str] | None = st.session_state.get(_FILE)
    if kept is None or not kept[1].is_file():
        st.caption(
            "The file stays on this server and is read a few thousand rows at a time. It may be "
            "packed as .gz or .xz. In a terminal, `bertscope evaluate` does the same."
        )
        if source not in FINE_TUNED:
            return None
        st.markdown(
            f"**Example:** the dev data of `{source}`, on which its best checkpoint was chosen."
        )
        path = labelled_file(source)
    else:
        path = kept[1]
        if upload is None:
            name = plain(shorten_middle(kept[2], 60))
            st.caption(f"Your last file is still here: **{name}**.")
    labelled = None
    with frame.guard():
        try:
            names = view.column_names(path)
        except ValueError:
            if upload is not None:
                empty_box(_BOX)  # its copy is on the disk
            raise
        columns = _columns(view, names, view.joint_columns(names, labels))
        skip = st.toggle("Leave out rows that cannot be read", key=SKIP_BAD_ROWS.key())
        labelled = Labelled(path, columns, skip)
    return labelled


def _keep(upload: UploadedFile | None) -> None:
    """Save a new upload in place of the one before.

    Raises:
        ValueError: As `labelled_files.receive`.
    """
    known = st.session_state.get(_FILE)
    if upload is not None and (known is None or known[0] != upload.file_id):
        st.session_state.pop(_FILE, None)
        with uploads.reading(_BOX):
            path = labelled_files.receive(upload, upload.name)
        st.session_state[_FILE] = (upload.file_id, path, upload.name)


def _columns(view: TaskView, names: tuple[str, ...], joint: str | None) -> Columns:
    """Draw the choice of columns; nothing if the file has none.

    Args:
        view: View of the task.
        names: Names of the columns.
        joint: The columns that are the label together, if any; they are the default.
    """
    if not names:
        return Columns()
    row = st.container(horizontal=True)
    picked = {}
    for field, title in view.columns.items():
        options = [USUAL_COLUMN, *names]
        default = USUAL_COLUMN
        if field == "label" and joint is not None:
            options, default = [joint, *options], joint
        picked[field] = row.selectbox(
            title,
            options,
            format_func=lambda name: JOINT_COLUMNS if name == joint else shorten_middle(name),
            key=COLUMNS[field].key(default=default, options=options),
            width=220,
        )
    return Columns(
        **{field: None if name == USUAL_COLUMN else name for field, name in picked.items()}
    )
