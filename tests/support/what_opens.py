"""The table of docs/what-opens.md: a row for each kind of file that a test opens.

`python docs/make_what_opens.py` writes it from the tests that use `opens`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

_Test = TypeVar("_Test", bound=Callable[..., object])

PARTS = {
    "Tables": "Labelled files",
    "Labels": "Labels",
    "Tags": "Tags and marked spans",
    "Questions": "Questions and choices",
    "Folders": "Folders and zip files of a checkpoint",
    "Heads": "Task heads",
    "Tokenizers": "Tokenizers",
}
"""The parts of the document, in order, and their headings."""


class Row(NamedTuple):
    """One kind of file, an example of it, and what comes of it."""

    part: str
    kind: str
    example: str
    comes: str


ROWS: dict[tuple[str, str], Row] = {}
"""By part and kind."""
_FILE = Path(__file__).resolve().parents[1] / "data" / "what_opens.tsv"
_OF_FILE = {
    row.kind: row
    for line in _FILE.read_text(encoding="utf-8").splitlines()
    for row in [Row(*line.split("\t"))]
}


def add(part: str, kind: str, example: str, comes: str) -> None:
    """Add a row to the table; `part` is one of PARTS."""
    assert part in PARTS
    assert ROWS.setdefault((part, kind), found := Row(part, kind, example, comes)) == found


def opens(*row: str) -> Callable[[_Test], _Test]:
    """Mark the test that shows what a row of the table says.

    `row` is its kind, as in tests/data/what_opens.tsv; or part, kind, example and what comes.
    """
    add(*(_OF_FILE[row[0]] if len(row) == 1 else row))
    return lambda test: test


def table() -> str:
    """Return the rows as Markdown, a table for each part.

    Kinds of which the same comes are one row, without their examples.
    """
    parts = []
    for part, heading in PARTS.items():
        rows = sorted((row for row in ROWS.values() if row.part == part), key=_by_kind)
        cells = [("What", "What comes"), ("--",) * 2]
        for comes in dict.fromkeys(row.comes for row in rows):
            same = [row for row in rows if row.comes == comes]
            kinds = [row.kind if len(same) > 1 else f"{row.kind}: {row.example}" for row in same]
            cells.append(("; ".join(kinds), comes))
        lines = [" | ".join(cell.replace("|", r"\|") for cell in line) for line in cells]
        parts.append("\n".join([f"## {heading}", "", *(f"| {line} |" for line in lines)]))
    return "\n\n".join(parts) + "\n"


def _by_kind(row: Row) -> str:
    return row.kind.casefold()
