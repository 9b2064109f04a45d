"""Files of minimal pairs: a good and a bad sentence, and their groups."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bertcore.data.files import BadRows, listed_columns
from bertcore.data.sentence_list import SentenceList
from bertcore.data.tables import always, column_place, open_table

BUNDLED = Path(__file__).parent / "data" / "minimal_pairs.tsv"
"""Twenty phenomena of English, ten pairs each, written for this project. It is not BLiMP."""
GOOD = ("sentence_good", "good", "good_sentence", "grammatical", "acceptable")
"""Usual names of the column of good sentences."""
BAD = ("sentence_bad", "bad", "bad_sentence", "ungrammatical", "unacceptable")
MOST_GROUPS = 500
"""Different values of a column that groups pairs by default; of more it is a number or a text."""


@dataclass(frozen=True, slots=True)
class MinimalPair:
    """Two minimally different sentences: one is acceptable, the other is not."""

    good: str
    bad: str
    groups: tuple[str, ...]
    """Its value in each grouping column of its file, [G]."""
    row: int
    """Number of its row in the file, from 1."""


@dataclass(frozen=True, slots=True)
class PairFile:
    """The pairs of a file."""

    pairs: tuple[MinimalPair, ...]
    columns: tuple[str, ...]
    """Names of the grouping columns, [G]."""
    sentence_columns: tuple[str, str]
    """Names of the columns of the good and the bad sentences."""
    notes: tuple[str, ...] = ()
    """What is odd about them, one sentence each."""
    num_pairs: int = 0
    """Of the whole file, of which these may be evenly spaced ones; 0 for a group."""

    def select(self, column: str, group: str) -> "PairFile":
        """Return the pairs of one group; ValueError if there is no such column."""
        place = self.columns.index(column)
        pairs = tuple(pair for pair in self.pairs if pair.groups[place] == group)
        return PairFile(pairs, self.columns, self.sentence_columns)


def read_pairs(
    path: Path,
    *,
    good: str | None = None,
    bad: str | None = None,
    groups: Sequence[str] | None = None,
    most: int | None = None,
    bad_rows: BadRows | None = None,
) -> PairFile:
    """Read the minimal pairs of a table or of JSON lines.

    Args:
        path: .csv, .tsv or .jsonl, optionally compressed as .gz or .xz.
        good, bad: Columns of the two sentences; None takes a usual name for each.
        groups: Columns that group pairs, each counted once; None takes every other column with 2 to
            MOST_GROUPS values, at least one of them on several rows.
        most: Of more pairs, every n-th is kept; None keeps all.
        bad_rows: Collects rows that cannot be used; None rejects them.

    ValueError if a column is missing (the message lists the columns), a row cannot be used, no row
    is left, or the file cannot be read.
    """
    bad_rows = BadRows() if bad_rows is None else bad_rows
    with open_table(path, bad_rows, has_header=always) as table:
        names = table.columns
        places = (
            _place(names, good, GOOD, "good", path),
            _place(names, bad, BAD, "bad", path),
        )
        if places[0] == places[1]:
            raise ValueError(
                f"column {names[places[0]]!r} is given for both the good and the bad sentence. "
                "Give two columns."
            )
        if groups is None:
            others = [place for place in range(len(names)) if place not in places]
        else:
            others = [_place(names, name, (), "groups", path) for name in dict.fromkeys(groups)]
        pairs = []
        for row in table.rows:
            problem = _problem([(names[place], row.cells[place]) for place in places])
            if problem is not None:
                bad_rows.add(f"row {row.number} of {str(path)!r} {problem}.")
            else:
                texts = [_as_text(row.cells[place]) for place in places]
                values = tuple(_as_text(row.cells[place]) for place in others)
                pairs.append(MinimalPair(texts[0], texts[1], values, row.number))
    if not pairs:
        reason = f" {bad_rows.first}" if bad_rows.first else ""
        raise ValueError(f"{str(path)!r} has no minimal pair to score.{reason}")
    columns = tuple(names[place] for place in others)
    chosen = range(len(columns)) if groups is not None else _grouping(pairs, len(columns))
    grouped = tuple(
        MinimalPair(pair.good, pair.bad, tuple(pair.groups[i] for i in chosen), pair.row)
        for pair in pairs
    )
    columns = tuple(columns[i] for i in chosen)
    sentences, notes = (names[places[0]], names[places[1]]), _notes(grouped, columns)
    kept = grouped if most is None else grouped[:: -(-len(grouped) // most)]
    return PairFile(kept, columns, sentences, notes, len(grouped))


@lru_cache(maxsize=1)
def bundled_pairs() -> PairFile:
    """Return our own pairs: 20 phenomena of English, 10 pairs each."""
    return read_pairs(BUNDLED)


def pairs_of_list(sentences: SentenceList) -> PairFile:
    """Return the lines of a list that have two sentences, the acceptable one first, as pairs.

    An asterisk before the second sentence, as linguists write it, does not belong to it.

    ValueError if no line has two sentences.
    """
    pairs, num_stars = [], 0
    for row, line in enumerate(sentences.lines, start=1):
        bad = line.other.removeprefix("*").lstrip()
        if bad:
            pairs.append(MinimalPair(line.text, bad, (), row))
            num_stars += line.other != bad
    if not pairs:
        raise ValueError(
            "no line of the list has two sentences. Write an acceptable one, a tab or |||, and an "
            "unacceptable one."
        )
    notes = []
    single = len(sentences.lines) - len(pairs)
    if single:
        lines = "1 line has" if single == 1 else f"{single:,} lines have"
        notes.append(f"{lines} one sentence, and cannot be graded.")
    if num_stars:
        stars = "1 second sentence" if num_stars == 1 else f"{num_stars:,} second sentences"
        notes.append(f"The asterisk before {stars} is left out.")
    return PairFile(
        tuple(pairs),
        (),
        ("sentence_good", "sentence_bad"),
        (*notes, *_notes(pairs, ())),
        len(pairs),
    )


def _notes(pairs: Sequence[MinimalPair], columns: Sequence[str]) -> tuple[str, ...]:
    notes = []
    equal = [pair.row for pair in pairs if pair.good == pair.bad]
    if equal:
        some = "1 pair has" if len(equal) == 1 else f"{len(equal):,} pairs have"
        notes.append(
            f"{some} the same sentence twice (row {equal[0]:,}): a tie, which counts as wrong."
        )
    for place, column in enumerate(columns):
        sizes = Counter(pair.groups[place] for pair in pairs)
        single = [group for group, size in sizes.items() if size == 1]
        if single:
            some = "1 group" if len(single) == 1 else f"{len(single):,} groups"
            notes.append(
                f"{some} of column {column[:40]!r} with a single pair (such as "
                f"{single[0][:40]!r}): an accuracy of 0 or 100% there means very little."
            )
    return tuple(notes)


def _grouping(pairs: Sequence[MinimalPair], num_columns: int) -> list[int]:
    """Return the places of the columns that group pairs, coarse ones first."""
    sizes = [len({pair.groups[place] for pair in pairs}) for place in range(num_columns)]
    places = [i for i, size in enumerate(sizes) if 2 <= size <= min(MOST_GROUPS, len(pairs) - 1)]
    return sorted(places, key=lambda i: sizes[i])


def _place(
    names: Sequence[str], wanted: str | None, usual: Sequence[str], option: str, path: Path
) -> int:
    lowered = [name.lower() for name in names]
    if wanted is None:
        found = next((name for name in usual if name in lowered), None)
        if found is not None:
            return column_place(lowered, found, path)
    elif wanted in names:
        return column_place(names, wanted, path)
    listed = listed_columns(names)
    what = f"no column {wanted!r}" if wanted else f"no column of {option} sentences"
    raise ValueError(f"{str(path)!r} has {what}; it has {listed}. Name one with --{option}.")


def _problem(cells: Sequence[tuple[str, object]]) -> str | None:
    """Return the problem with the sentences of a row, by column; None if there is none."""
    for column, cell in cells:
        if isinstance(cell, (dict, list)):
            kind = "an object" if isinstance(cell, dict) else "a list"
            return f"has {kind} in column {column!r}; expected a sentence"
        text = _as_text(cell)
        if not text:
            return f"has no sentence in column {column!r}"
    return None


def _as_text(cell: object) -> str:
    return "" if cell is None else str(cell).strip()
