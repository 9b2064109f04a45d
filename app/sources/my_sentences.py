"""My sentences: up to 500 of the visitor's own, one list for all pages that offer it."""

import hashlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

import streamlit as st

from bertcore.data.texts import (
    MOST_LINES,
    SentenceList,
    Texts,
    list_text,
    read_sentence_list,
    read_upload,
)
from bertcore.model.tokenizer.truncation import MOST_CHARACTERS

from ..plots import plain
from ..server import visits
from ..server.policy import policy
from ..server.room import check_room
from ..server.streamlit_internals import MAX_TYPED
from ..shell import UploadSource, frame
from ..shell.uploads.on_disk import Copy
from ..shell.words import tr

MINE = "pasted"
"""As links of 0.1.0 have it, when Heads and the layer map had boxes of their own."""
OFFERED = {MINE: "My sentences"}
"""What every page that offers the list calls it: the value of its field, and the button's text."""
NOTHING_YET = (
    f"Write or paste your sentences above, one per line, at most {MOST_LINES} of together "
    f"{MAX_TYPED:,} characters (the box takes no longer text), or fill the list from a file. It "
    "is the same list on every page that offers it, and is kept for your visit."
)
FORMAT = (
    "Asterisks mark a word: the \\*bank\\* of the river. A tab or ||| separates two texts: "
    "sentence A and B. What follows a tab is a label where labels are used."
)
_PLACEHOLDER = "He sat on the *bank* of the river.\nThe *bank* lent him money."
_BOX, _TEXT, _NOTES = "my_sentences", "_my_sentences", "_my_sentences_notes"
_SAVED = "_my_sentences_saved"
_FEW = 60
"""Most lines that the Python shown repeats; longer lists are read from a file there."""


@dataclass(frozen=True, slots=True)
class MySentences:
    """The list, and a key that identifies it."""

    found: SentenceList = field(compare=False)
    key: str
    """Equal for equal lists, and short."""
    code: str = field(compare=False)
    """Python that makes it, as `mine`."""


def choose() -> MySentences | None:
    """Draw the list; return it, None while it is empty.

    ValueError if there is no sentence in what was written, or no room for it on this server.
    """
    place = st.container()
    with st.popover(tr("Fill from a file"), icon=":material/upload_file:"), frame.guard():
        uploaded = _FILE.choose()
        if uploaded is not None:
            _FILE.replace(None)  # the list is what stays, with what is changed in it
            added = list_text(uploaded.sentences)
            _put("\n".join(filter(str.strip, (_kept(), added))), uploaded.notes)
    _read_again()
    if _BOX not in st.session_state:
        st.session_state[_BOX] = _kept()
    place.text_area(
        tr("My sentences, one per line"),
        key=_BOX,
        height=160,
        max_chars=MAX_TYPED,
        placeholder=_PLACEHOLDER,
        help=tr(FORMAT),
        on_change=lambda: _put(st.session_state[_BOX]),
    )
    mine = kept()
    if mine is None:
        st.info(NOTHING_YET)
        return None
    for note in (*st.session_state.get(_NOTES, ()), *mine.found.notes):
        st.caption(plain(note))
    return mine


def kept() -> MySentences | None:
    """Return the list as it is, None while it is empty; ValueError if it has no sentence."""
    text = _kept()
    if not text.strip():
        return None
    found = read_sentence_list(text)
    return MySentences(found, hashlib.sha256(text.encode()).hexdigest(), _code(text, found))


def _code(text: str, found: SentenceList) -> str:
    read = "from bertcore.data import read_sentence_list\n\n"
    if len(found.lines) <= _FEW:
        return f"{read}mine = read_sentence_list({text!r})\n"
    return (
        f"from pathlib import Path\n{read}"
        f"# Your {len(found.lines)} sentences, saved one per line.\n"
        'mine = read_sentence_list(Path("sentences.txt").read_text(encoding="utf-8"))\n'
    )


def _put(text: str, notes: Sequence[str] = ()) -> None:
    """Keep a text, without lines beyond MOST_LINES and what is too long, which the notes state.

    The whole is as long as a box may send back, or the next click would lose it.
    """
    lines = [line[: 2 * MOST_CHARACTERS] for line in text.splitlines()]
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if len(filled) > MOST_LINES:
        lines = lines[: filled[MOST_LINES]]
        notes = (
            *notes,
            f"There were {len(filled):,} sentences: the first {MOST_LINES} were taken.",
        )
    ends = list(accumulate(len(line) + 1 for line in lines))
    num_fitting = bisect_right(ends, MAX_TYPED)
    if num_fitting < len(lines):
        notes = (
            *notes,
            f"The list takes {MAX_TYPED:,} characters: {len(lines) - num_fitting:,} lines were "
            "left out.",
        )
    text = "\n".join(lines[:num_fitting])
    st.session_state[_BOX] = st.session_state[_TEXT] = text
    st.session_state[_NOTES] = notes
    place = _file()
    if place is not None:
        with frame.guard():
            before = place.stat().st_size if place.is_file() else 0
            check_room(max(0, len(text.encode()) - before))
            place.write_text(text, encoding="utf-8")
            st.session_state[_SAVED] = place.stat().st_mtime_ns


def _read_again() -> None:
    """Read the list as another tab of the visit left it; before its box is drawn."""
    place = _file()
    if place is None or not place.is_file():
        return
    saved = place.stat().st_mtime_ns
    if saved != st.session_state.get(_SAVED):
        st.session_state[_SAVED] = saved
        st.session_state[_BOX] = st.session_state[_TEXT] = place.read_text(encoding="utf-8")


def _kept() -> str:
    """Return the list as it was written."""
    kept: str = st.session_state.setdefault(_TEXT, "")
    return kept


def _file() -> Path | None:
    """Return the file of the visit, which goes with it; None on an open server."""
    return visits.current().folder / "my_sentences.txt" if policy().is_closed else None


def _read(copies: Sequence[Copy]) -> Texts:
    (copy,) = copies
    return copy.apart(read_upload, copy.inner, max_rows=MOST_LINES)


_FILE = UploadSource(
    key="my_sentences_upload",
    label="A text with a sentence per line, or a table (CSV, JSON, Parquet, ...)",
    read=_read,
    about=lambda texts: f"{len(texts.sentences):,} sentences",
)
