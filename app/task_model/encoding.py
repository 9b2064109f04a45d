"""The encoding of an uploaded file, to choose where the file does not say it."""

from pathlib import Path

import streamlit as st

from bertcore.data.encodings import ENCODINGS, NotUTF8Error, find_encoding
from bertcore.data.files import recode

from ..access.room import check_room
from ..shell.uploads import Copy


def choose_encoding(upload: Copy, slot: str) -> Path:
    """Draw the choice of an encoding where it is a guess; return the file, or a copy in UTF-8.

    Args:
        upload: The file.
        slot: What it is for; a part of the key of the box.

    Raises:
        ValueError: If it is no text, or not in the encoding that was chosen.
        OSError: If it cannot be read or written.
    """
    problem, guessed, path = "", None, upload.path
    try:
        found = find_encoding(path)
    except NotUTF8Error as error:
        problem = upload.named(str(error))
    else:
        if not found.is_guessed:
            return path
        guessed = found.name
    options = list(ENCODINGS)
    chosen: str | None = st.selectbox(
        "Encoding of the file",
        options,
        index=None if guessed is None else options.index(guessed),
        format_func=lambda name: ENCODINGS[name] + (", as guessed" if name == guessed else ""),
        key=f"{slot}_encoding_{upload.digest[:16]}",
        placeholder="choose …",
        width=300,
    )
    if chosen is None:
        raise ValueError(problem)
    if chosen == guessed:
        return path
    target = path.with_name(f"{chosen}-{path.name}")
    if not target.is_file():
        check_room(2 * path.stat().st_size)
        with upload.read():
            recode(path, target, chosen)
    return target
