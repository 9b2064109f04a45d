"""Labelled files of well-known data sets, a few rows each, as they are published."""

import shutil
from pathlib import Path
from typing import NamedTuple

from tests.support import what_opens
from tests.support.cases import cases

_FOLDER = Path(__file__).resolve().parents[1] / "data" / "public_files"
SHORT = (
    *("the old house", "a new film", "she ran", "the cat was bad", "paris and berlin", "milk"),
    *("a good house", "the old man", "very bad fish", "new shop", "the river", "a dog"),
)
"""The texts in each file, in order."""


class Case(NamedTuple):
    """A file, and what it holds."""

    file: str
    """Its name in tests/data/public_files."""
    task: str
    first: tuple[str, ...]
    """Text, second text if there is one, and label or labels of the first example."""
    labels: tuple[str, ...]
    """All labels; () for scores."""
    kind: str
    """The rest is its row in docs/what-opens.md."""
    example: str
    comes: str


CASES = tuple(
    Case(file, task, tuple(first), tuple(labels), *row)
    for file, task, first, labels, *row in cases("public_files")
)
for case in CASES:
    what_opens.add("Tables", case.kind, case.example, case.comes)


def made(case: Case, folder: Path) -> Path:
    """Copy the file into a folder; return its path there."""
    return Path(shutil.copy(_FOLDER / case.file, folder))
