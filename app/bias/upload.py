"""Uploads of published sets: CrowS-Pairs, StereoSet or WinoBias, recognised by their content."""

from __future__ import annotations

import re
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
from bertcore.data.files import BadRows, kind_of
from bertcore.data.texts_file import shown_name

from ..shell import UploadSource
from ..shell.source import Incomplete
from ..shell.uploads import Copy

MOST_ITEMS = 3000
"""Items that the page scores; `bertscope bias` scores all."""
ABOUT = (
    "CrowS-Pairs (`crows_pairs_anonymized.csv`), StereoSet (`dev.json`), or both files of WinoBias "
    "(`pro_stereotyped_...` and `anti_stereotyped_...`), as published by their authors; also "
    "compressed (.gz, .bz2, .xz, .zip). They contain offensive sentences and are not shipped."
)

_WINOBIAS = re.compile(rb"(?:\xef\xbb\xbf)?\d+\s+[^\[\],]*\[[^\[\]]+\].*\[[^\[\]]+\]")
"""The first line of one of its files."""

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


def read_uploaded(copies: Sequence[Copy]) -> Uploaded:
    """Return the items of one or two files.

    Raises:
        Incomplete: If it is the first of two.
        ValueError: If there are more than two, or they are none of the sets.
    """
    if len(copies) > 2:
        raise ValueError(f"there are {len(copies)} files; expected one, or the two of WinoBias.")
    bad_rows = BadRows(skip=True)

    def named(sentence: str) -> str:
        for copy in copies:
            sentence = copy.named(sentence)
        return sentence

    try:
        items, given = _read(copies, bad_rows)
    except Incomplete:
        raise
    except ValueError as error:
        raise ValueError(named(str(error))) from error
    notes = list(map(named, bad_rows.notes()))
    step = -(-len(items) // MOST_ITEMS)
    if step > 1:
        notes.append(
            f"{-(-len(items) // step):,} of {len(items):,} items, evenly spaced, are scored here; "
            "`bertscope bias` scores all."
        )
    # With the names, which show which file is the stereotype's.
    return Uploaded(items[::step], " ".join(c.digest for c in copies), tuple(notes), given)


def _read(copies: Sequence[Copy], bad_rows: BadRows) -> tuple[Items, str]:
    if len(copies) == 2:
        # In either order: the names show which file is the stereotype's.
        pro, anti = sorted(copies, key=lambda each: "anti" in each.name.lower())
        items = read_winobias(pro.path, anti.path, bad_rows=bad_rows)
        return items, _paths(pro.name, anti.name)
    (copy,) = copies
    path = copy.path
    with path.open("rb") as file:
        if _WINOBIAS.match(file.readline(1000)):
            raise Incomplete(
                f"{shown_name(copy.name)} is one of the two files of WinoBias. Add the other one."
            )
    read = read_stereoset if path.suffix == ".stereoset" else read_crows_pairs
    return read(path, bad_rows=bad_rows), _paths(copy.name)


def _paths(*names: str) -> str:
    return ", ".join(f"Path({name!r})" for name in names)


def _kind(name: str, path: Path) -> str:
    """Return the ending of StereoSet's JSON, or that of a table."""
    text = path.read_bytes()
    is_json = text.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")
    return ".stereoset" if is_json and b'"intrasentence"' in text else kind_of(Path(name))[:20]


_FILES = UploadSource(
    key="bias_upload",
    label="Published sets",
    read=read_uploaded,
    about=lambda uploaded: f"{len(uploaded.items):,} items",
    accepts_several=True,
    most=50_000_000,
    instead="Score it with `bertscope bias`.",
    kind=_kind,
    shows_label=False,
)
