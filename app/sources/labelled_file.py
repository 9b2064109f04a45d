"""What pages that read a labelled file have in common."""

from collections.abc import Sequence

import streamlit as st

from ..plots import plain
from ..shell import Field

MAX_MEGABYTES = 300
"""Of a file, also when it is unpacked."""


def show_notes(notes: Sequence[str]) -> None:
    """Write how a file was read, but for its dialect, which is told where the file is chosen."""
    for note in notes:
        if " is read as " not in note:
            st.caption(plain(note))


def choose_label_map(field: Field[str]) -> str | None:
    """Draw the box for what a file's labels stand for, where they are to be named."""
    typed = st.text_input(
        "Labels of the file",
        key=field.key(),
        placeholder="by their names: or 0=negative, 1=positive",
        help=(
            "What labels of the file stand for, if they are not found by their names or numbers, "
            "or wrongly: 0=negative, 1=positive. With nothing after the = the rows are left out. "
            "In a terminal: --label-map."
        ),
        width=380,
    )
    return typed.strip() or None
