"""Tagged sentences: CoNLL columns, CoNLL-U, and JSON lines with lists of words and tags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import TaggedExample
from bertcore.data.files import (
    MAX_COLUMNS,
    MAX_WORDS,
    BadRows,
    kind_of,
    lines_of,
    listed_columns,
    open_text,
)
from bertcore.data.tables import JSON_LINES, column_place, open_table

_ENTITY = re.compile(r"O|[BIES]-.+")
_UD_WORD, _UD_TAG = 2, 4
JSON_WORDS, JSON_TAGS = ("tokens", "words"), ("tags", "ner_tags", "labels", "pos_tags")


class TaggedColumns(NamedTuple):
    """A sentence in words, with several tags each."""

    words: list[str]
    tags: list[list[str]]
    """Of each column that was asked for, the tags of the words."""
    row: int
    """Line where it begins, from 1."""
    is_new_document: bool
    """Whether -DOCSTART- stands before it."""


def read_tags(
    path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
) -> Iterator[TaggedExample]:
    """Yield the sentences of a file.

    Entity tags in IOB1 format (B- only between neighbours, as in CoNLL-2003) become IOB2.

    Args:
        path: .jsonl with a list of words and one of tags per line; or one word per line with its
            columns and a blank line between sentences; .conllu: a treebank. Optionally compressed.
        columns: `text` and `label`: numbers of columns from 1 (the first and the last; of .conllu
            2 and 4, the word and its part of speech), or names in JSON lines.
        bad_rows: Collects sentences that cannot be used.

    Raises:
        ValueError: If the file cannot be read or a column is missing.
    """
    if columns.text_pair is not None:
        raise ValueError("--text-pair is not used in the task 'tag'. Leave it out.")
    if kind_of(path) in JSON_LINES:
        examples = _json(path, columns, bad_rows)
    else:
        examples = _columns(path, columns, bad_rows)
    for example in examples:
        yield TaggedExample(example.words, to_iob2(example.tags), example.row)


def to_iob2(tags: Sequence[str]) -> list[str]:
    """Return entity tags with B- at each beginning; other tags are unchanged.

    >>> to_iob2(["I-PER", "I-PER", "O", "I-LOC", "B-LOC", "I-ORG"])
    ['B-PER', 'I-PER', 'O', 'B-LOC', 'B-LOC', 'B-ORG']
    >>> to_iob2(["NOUN", "VERB"])
    ['NOUN', 'VERB']
    """
    if not are_entities(tags):
        return list(tags)
    out: list[str] = []
    for i, tag in enumerate(tags):
        inside = i > 0 and tags[i - 1][2:] == tag[2:] and tags[i - 1][0] in "BI"
        out.append(f"B-{tag[2:]}" if tag.startswith("I-") and not inside else tag)
    return out


def are_entities(tags: Sequence[str]) -> bool:
    """Return whether tags mark entities (O, B-X, I-X, E-X, S-X), so that seqeval can score them."""
    return all(_ENTITY.fullmatch(tag) for tag in tags)


def _columns(path: Path, columns: Columns, bad_rows: BadRows) -> Iterator[TaggedExample]:
    is_ud = kind_of(path) == ".conllu"
    word_at = _number(columns.text, "--text", _UD_WORD if is_ud else 1) - 1
    tag_at = _number(columns.label, "--label", _UD_TAG if is_ud else 0) - 1  # -1: the last
    for block in read_columns(path, word_at, (tag_at,), bad_rows=bad_rows):
        yield TaggedExample(block.words, block.tags[0], block.row)


def read_columns(
    path: Path,
    word_at: int,
    tags_at: Sequence[int],
    *,
    bad_rows: BadRows,
    file: BinaryIO | None = None,
) -> Iterator[TaggedColumns]:
    """Yield the sentences of a file with one word and its tags per line, as they are read.

    Args:
        path: .conllu, or any file in columns with a blank line between sentences; optionally
            compressed.
        word_at: Column of the word, from 0.
        tags_at: Columns of tags, from 0; -1: the last one; every line has the same number of
            columns.
        bad_rows: Collects sentences that cannot be used.
        file: The same file, already open; its position shows how far it has been read.

    Raises:
        ValueError: If the file cannot be read, or a sentence cannot be used and is not skipped.
    """
    is_ud = kind_of(path) == ".conllu"
    words: list[str] = []
    tags: list[list[str]] = [[] for _ in tags_at]
    start, wrong, width, is_new = 1, "", 0, False
    needed = max(word_at, *tags_at, 1) + 1

    def finish() -> Iterator[TaggedColumns]:
        nonlocal words, tags, wrong, is_new
        if wrong:
            bad_rows.add(wrong)
        elif words:
            yield TaggedColumns(words, tags, start, is_new)
            is_new = False
        words, tags, wrong = [], [[] for _ in tags_at], ""

    with open_text(path, file) as lines:
        for number, line in enumerate(lines_of(lines, path), start=1):
            if not line.strip():
                yield from finish()
                continue
            if line.startswith("-DOCSTART-"):
                is_new = True
                continue
            if is_ud and line.startswith("#"):
                continue
            cells = line.split("\t") if "\t" in line else line.split()
            if is_ud and not cells[0].isdigit():  # 3-4: parts that follow; 3.1: not in the text
                continue
            if not words and not wrong:
                start = number
            if len(cells) < needed:
                wrong = wrong or (
                    f"line {number} of {str(path)!r} has {len(cells)} columns; expected a word and "
                    f"its tag, at least {needed}."
                )
                continue
            if len(cells) > MAX_COLUMNS:
                wrong = wrong or (
                    f"line {number} of {str(path)!r} has {len(cells):,} columns; expected a word "
                    f"and its tags, at most {MAX_COLUMNS:,}."
                )
                continue
            width = width or len(cells)
            if -1 in tags_at and len(cells) != width:  # the last column would be another one
                wrong = wrong or (
                    f"line {number} of {str(path)!r} has {len(cells)} columns, but the lines "
                    f"before have {width}."
                    + " Name the column of the tag with --label."
                    * (len(tags_at) == 1)
                )
                continue
            if len(words) == MAX_WORDS:
                wrong = wrong or (
                    f"the sentence at line {start} of {str(path)!r} has more than {MAX_WORDS:,} "
                    "words; expected a blank line after each sentence."
                )
                continue
            cells = [cell.strip() for cell in cells]
            words.append(cells[word_at])
            for tag, place in zip(tags, tags_at, strict=True):
                tag.append(cells[place])
            if not words[-1] or not all(tag[-1] for tag in tags):
                wrong = wrong or f"line {number} of {str(path)!r} has an empty word or tag."
        yield from finish()


def _json(path: Path, columns: Columns, bad_rows: BadRows) -> Iterator[TaggedExample]:
    with open_table(path, bad_rows) as table:

        def find(name: str | None, usual: Sequence[str], option: str) -> int:
            names = [name] if name else usual
            for wanted in names:
                if wanted in table.columns:
                    return column_place(table.columns, wanted, path)
            raise ValueError(
                f"{str(path)!r} has no column {' or '.join(map(repr, names))}; it has "
                f"{listed_columns(table.columns)}. Name it with {option}."
            )

        word_at = find(columns.text, JSON_WORDS, "--text")
        tag_at = find(columns.label, JSON_TAGS, "--label")
        for row in table.rows:
            words, tags = row.cells[word_at], row.cells[tag_at]
            where = f"row {row.number} of {str(path)!r}"
            if not isinstance(words, list) or not isinstance(tags, list) or not words:
                bad_rows.add(f"{where} has no list of words with a list of tags.")
            elif len(words) != len(tags):
                bad_rows.add(f"{where} has {len(words)} words but {len(tags)} tags.")
            elif not all(isinstance(word, str) and word.strip() for word in words):
                bad_rows.add(f"{where} has a word that is empty or not text.")
            elif not all(isinstance(tag, str | int) and str(tag) for tag in tags):
                bad_rows.add(f"{where} has a missing tag.")
            else:
                yield TaggedExample(words, [str(tag) for tag in tags], row.number)


def _number(column: str | None, option: str, usual: int) -> int:
    if column is None:
        return usual
    if not column.isdecimal() or column == "0":
        raise ValueError(
            f"{option} is {column!r}; for files in columns give the column's number, from 1."
        )
    return int(column)
