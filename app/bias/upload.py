"""Uploads of published sets: CrowS-Pairs, StereoSet or WinoBias, recognised by their content."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bertcore.bias import (
    GapItem,
    PronounItem,
    StereotypePair,
    read_crows_pairs,
    read_stereoset,
    read_winobias,
)
from bertcore.data.files import BadRows
from bertcore.data.texts_file import shown_name

from ..shell import uploads
from ..shell.source import UploadSource

MOST_BYTES = 50_000_000
"""Of the unpacked text of a file."""
MOST_ITEMS = 3000
"""Items that the page scores; `bertscope bias` scores all."""
ABOUT = (
    "CrowS-Pairs (`crows_pairs_anonymized.csv`), StereoSet (`dev.json`), or both files of WinoBias "
    "(`pro_stereotyped_...` and `anti_stereotyped_...`), as published by their authors; also "
    "compressed (.gz, .xz). They contain offensive sentences and are not shipped."
)

Items = tuple[StereotypePair, ...] | tuple[GapItem, ...] | tuple[PronounItem, ...]


class Uploaded(NamedTuple):
    """The items of what was uploaded, and a key that identifies them."""

    items: Items
    key: str
    notes: tuple[str, ...]
    files: str
    """The files in Python, as the arguments of the reader."""


def choose() -> Uploaded | None:
    """Draw the box for files; return what was read, kept across pages, or None.

    Raises:
        ValueError: If what was uploaded cannot be read.
    """
    return _FILES.choose()


def read_uploaded(files: Sequence[tuple[str, bytes]]) -> Uploaded:
    """Return the items of one or two files.

    Args:
        files: Names and contents.

    Raises:
        ValueError: If there are more than two, or they are none of the sets.
    """
    if len(files) > 2:
        raise ValueError(f"there are {len(files)} files; expected one, or the two of WinoBias.")
    instead = "Score it with `bertscope bias`."
    texts = [
        (name, uploads.unpacked_text(name, data, most=MOST_BYTES, instead=instead))
        for name, data in files
    ]
    bad_rows = BadRows(skip=True)
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, (name, text) in enumerate(texts):
            # Our own name: the visitor's could lead elsewhere.
            path = Path(folder) / f"set-{number}{_kind(text)}"
            path.write_bytes(text)
            paths.append((path, name))
        try:
            items, given = _read(paths, bad_rows)
        except ValueError as error:
            raise ValueError(_with_names(str(error), paths)) from error
        left_out = _with_names(bad_rows.sentence() or "", paths)
    notes = [left_out] if left_out else []
    step = -(-len(items) // MOST_ITEMS)
    if step > 1:
        notes.append(
            f"{-(-len(items) // step):,} of {len(items):,} items, evenly spaced, are scored here; "
            "`bertscope bias` scores all."
        )
    # With the names, which show which file is the stereotype's.
    parts = [part for name, data in files for part in (name.encode(), data)]
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()
    return Uploaded(items[::step], digest, tuple(notes), given)


def _read(paths: Sequence[tuple[Path, str]], bad_rows: BadRows) -> tuple[Items, str]:
    names = [name for _, name in paths]
    if len(paths) == 2:
        # In either order: the names show which file is the stereotype's.
        ordered = sorted(paths, key=lambda each: "anti" in each[1].lower())
        items = read_winobias(ordered[0][0], ordered[1][0], bad_rows=bad_rows)
        return items, _paths(*(name for _, name in ordered))
    path = paths[0][0]
    read = read_stereoset if path.suffix == ".json" else read_crows_pairs
    return read(path, bad_rows=bad_rows), _paths(*names)


def _paths(*names: str) -> str:
    return ", ".join(f"Path({name!r})" for name in names)


def _kind(text: bytes) -> str:
    """Return the ending of JSON, or of the table that the first line looks like."""
    start = text.lstrip(b"\xef\xbb\xbf \r\n\t")[:1]
    if start == b"{" and b'"intrasentence"' in text:
        return ".json"
    if start == b"{":
        return ".jsonl"
    return ".tsv" if b"\t" in text.split(b"\n", 1)[0] else ".csv"


def _with_names(sentence: str, paths: Sequence[tuple[Path, str]]) -> str:
    for path, name in paths:
        sentence = sentence.replace(repr(str(path)), shown_name(name))
    return sentence


_FILES = UploadSource(
    key="bias_upload",
    label="Published sets",
    read=read_uploaded,
    about=lambda uploaded: f"{len(uploaded.items):,} items",
    accepts_several=True,
    shows_label=False,
)
