"""Files that a visitor uploads, the one door of all upload boxes: read once, and not kept longer.

Streamlit keeps an upload in memory until its session ends. Here it leaves that memory as soon as it
is taken, whatever comes of it: it is written to the disk, read from there once, and deleted when
nothing refers to the copy any more. Only what was read is kept, and counts for the visitor's room.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import streamlit as st

from ...plots import plain
from ...server.room import hold, max_megabytes
from ...server.streamlit_internals import (
    RerunException,
    StopException,
    UploadedFile,
    file_ids,
    remove_upload,
)
from .. import cache, turns
from . import on_disk
from .on_disk import Copy

T = TypeVar("T")

EXPECTED = (ValueError, OSError, RuntimeError, MemoryError)
"""Errors whose message is a sentence for the visitor."""
_FAULT = "the file cannot be read because of a fault of BertScope. Give another one."


class Incomplete(ValueError):  # noqa: N818 - no fault of the files
    """The files of a box are sound, but others must join them."""


class File(NamedTuple):
    """An uploaded file, in memory."""

    name: str
    """As the visitor calls it; never used as a path."""
    data: bytes


@dataclass(slots=True)
class _Record:
    """What is kept of a box, in the session."""

    ids: list[str] = field(default_factory=list)
    """Of the files whose names are in the box."""
    copies: dict[str, Copy] = field(default_factory=dict)
    """By id: those that others may join, in a box for several."""
    value: Any = None
    """What was read; None if there is nothing."""
    refusal: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadSource(Generic[T]):
    """A box for files, which leave Streamlit's memory when they are taken, and what was read."""

    key: str
    """Key of the box; what is kept of it is in the session under the same key with "_" in front."""
    label: str
    read: Callable[[Sequence[Copy]], T]
    """Called once for each upload, not once for each click; keeps the copies that it returns."""
    about: Callable[[T], str]
    """What was read, as "200 pairs"; said where it stays without a file in the box."""
    types: Sequence[str] | None = None
    """Endings of the names that it takes; None: all."""
    megabytes: int = on_disk.TEXTS_MEGABYTES
    """Of a file, on an open server."""
    accepts_several: bool = False
    shows_label: bool = True
    most: int = 100_000_000
    """Bytes of a file when it is unpacked."""
    instead: str = "Give a part of it."
    """What to do with a larger one, as a sentence."""
    kind: Callable[[str, Path], str] = on_disk.ending_of
    """Returns the ending of a copy's name, by the name and content of the unpacked file."""

    def choose(self) -> T | None:
        """Draw the box; return what was read from its files, or from the last ones, or None.

        ValueError, OSError, RuntimeError or MemoryError if they cannot be read, or could not be
        while their names were in the box.
        """
        files, record = self._draw(), self._record
        ids = file_ids(self.key) or [file.file_id for file in files]
        if ids and ids != record.ids:
            self._take(files, ids)
        if ids and record.refusal:
            raise ValueError(record.refusal)
        if not ids and record.value is not None:
            st.caption(f"Your last file is still here: {plain(self.about(record.value))}.")
        return record.value  # type: ignore[no-any-return]  # T, as `read` returned it

    @property
    def value(self) -> T | None:
        """What was read last; None if nothing was, or it was refused."""
        return self._record.value  # type: ignore[no-any-return]

    def replace(self, value: T | None) -> None:
        """Keep another value, or none, in place of what was read from the same files."""
        hold(self.key, cache.num_bytes(value))
        self._record.value = value

    def refuse(self, error: Exception) -> None:
        """Keep nothing of what was read but a sentence: it turned out to be of no use."""
        self._keep(_Record(self._record.ids, refusal=str(error)))

    @property
    def _record(self) -> _Record:
        record: _Record = st.session_state.setdefault(f"_{self.key}", _Record())
        return record

    def _draw(self) -> list[UploadedFile]:
        """Draw the box; return its files, without those that were taken."""
        uploaded = st.file_uploader(
            self.label,
            type=None if self.types is None else list(self.types),
            key=self.key,
            accept_multiple_files=self.accepts_several,
            max_upload_size=max_megabytes(self.megabytes),
            label_visibility="visible" if self.shows_label else "collapsed",
        )
        return uploaded if isinstance(uploaded, list) else [uploaded] if uploaded else []

    @contextmanager
    def _taken(self, files: Sequence[UploadedFile]) -> Iterator[dict[str, File]]:
        """Give files of the box by id; at the end of the block, Streamlit no longer has them."""
        try:
            yield {file.file_id: File(file.name, file.getvalue()) for file in files}
        finally:
            for file in files:
                remove_upload(file.file_id)
                file.truncate(0)  # the state of the box keeps it until the next run

    def _keep(self, record: _Record) -> None:
        hold(self.key, cache.num_bytes(record.value))
        kept = self._record  # not replaced: Streamlit keeps the former value until the next run
        kept.ids, kept.copies = record.ids, record.copies
        kept.value, kept.refusal = record.value, record.refusal

    def _take(self, files: Sequence[UploadedFile], ids: list[str]) -> None:
        """Read what is in the box, in place of what was read before, which is dropped first."""
        before = self._record.copies
        copies = {file: before[file] for file in ids if file in before}
        self._keep(_Record())
        before.clear()
        record = _Record(ids)
        turns.give_back()
        try:
            # A packed file of 4 MB may take seconds of Python to unpack to nothing.
            with turns.beside_pages():
                with self._taken(files) as given:
                    for file, (name, data) in given.items():
                        copies[file] = on_disk.write_copy(
                            name, data, self.most, self.instead, self.kind
                        )
                if not copies:
                    raise ValueError("the file is no longer on this server. Upload it again.")
                record.value = self.read([copies[file] for file in ids if file in copies])
            if self.accepts_several:
                record.copies = copies
            self._keep(record)
        except (RerunException, StopException):
            self._keep(_Record(copies=copies))  # the next run reads them again
            raise
        except Exception as error:
            is_expected = isinstance(error, EXPECTED)
            refused = _Record(ids, refusal=str(error) if is_expected else _FAULT)
            if isinstance(error, Incomplete):
                refused.copies = dict(copies)
            self._keep(refused)
            copies.clear()  # what is left of the block would keep them for as long as the error
            cache.clear_frames(error)
            raise
