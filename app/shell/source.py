"""Files that a visitor uploads as the source of a page: read once, and kept across pages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import streamlit as st

from . import uploads

T = TypeVar("T")


class File(NamedTuple):
    """An uploaded file."""

    name: str
    """As the visitor calls it; never used as a path."""
    data: bytes

    @property
    def digest(self) -> str:
        """SHA-256 of name and data."""
        return hashlib.sha256(self.name.encode() + b"\0" + self.data).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadSource(Generic[T]):
    """A box for files, and what was read from them until the next ones."""

    key: str
    """Key of the box; what was read is in the session under the same key with "_" in front."""
    label: str
    read: Callable[[Sequence[File]], T]
    """Called once for each upload, not once for each click."""
    about: Callable[[T], str]
    """What was read, as "200 pairs"; said where it stays without a file in the box."""
    accepts_several: bool = False
    shows_label: bool = True

    def choose(self) -> T | None:
        """Draw the box; return what was read from its files, or from the last ones, or None.

        Raises:
            ValueError: If they cannot be read.
        """
        uploaded = st.file_uploader(
            self.label,
            key=self.key,
            accept_multiple_files=self.accepts_several,
            max_upload_size=uploads.TEXTS_MEGABYTES,
            label_visibility="visible" if self.shows_label else "collapsed",
        )
        uploads.check_refused(self.key)
        files = uploaded if isinstance(uploaded, list) else [] if uploaded is None else [uploaded]
        last: tuple[tuple[str, ...], T] | None = st.session_state.get(f"_{self.key}")
        if not files:
            if last is None:
                return None
            st.caption(f"Still shown: the {self.about(last[1])} of your last file.")
            return last[1]
        ids = tuple(file.file_id for file in files)
        if last is None or last[0] != ids:
            with uploads.reading(self.key):
                last = ids, self.read([File(file.name, file.getvalue()) for file in files])
            st.session_state[f"_{self.key}"] = last
        return last[1]
