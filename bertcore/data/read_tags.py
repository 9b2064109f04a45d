"""Tagged sentences: CoNLL columns, CoNLL-U, tables of words or of sentences, and marked spans."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.examples import TaggedExample
from bertcore.data.files import (
    MAX_COLUMNS,
    MAX_WORDS,
    BadRows,
    Limits,
    first_items,
    kind_of,
    lines_of,
    listed_columns,
    open_text,
)
from bertcore.data.label_lists import listed
from bertcore.data.labels import label_text
from bertcore.data.read_spans import SPAN_TEXTS, SPANS, are_spans, spans_of, tagged_text
from bertcore.data.read_texts import as_text
from bertcore.data.tables import JSON_LINES, Row, Table, column_place, open_table
from bertcore.data.tag_schemes import OUTSIDE, from_brackets, scheme_of

_UD_WORD, _UD_TAG, _UD_MISC, _UD_WIDTH = 1, 3, 9, 10
WORDS = ("tokens", "words", "word", "token", "text", "sentence")
TAGS = ("tags", "ner_tags", "labels", "pos_tags", "tag", "ner_tag", "label", "ner", "entity", "pos")
_SENTENCES = re.compile(r"(sent(ence)?|doc(ument)?)[ _]?(#|id|idx|no|num(ber)?)?", re.IGNORECASE)
"""Column of the number of each word's sentence, as in Kaggle's `Sentence #,Word,POS,Tag`."""
_TABLES = (".csv", *JSON_LINES, ".parquet", ".arrow", ".feather", ".xlsx")
_TAG_ROWS = 20
"""Rows of a table that show whether they are words with tags."""
_LOOK_AT = Limits(20_000, 20_000_000)


class TaggedColumns(NamedTuple):
    """A sentence in words, with several tags each."""

    words: list[str]
    tags: list[list[str]]
    """Of each column that was asked for, the tags of the words."""
    row: int
    """Line where it begins, from 1."""
    is_new_document: bool
    """Whether -DOCSTART- stands before it."""


class Layout(NamedTuple):
    """The columns of a file with one word per line, from its first lines."""

    width: int
    """Columns of most lines; 0 without any."""
    word: int
    """Column of the word, from 0."""
    tag: int
    """Column of its tag, from 0; -1 for the last."""
    tags: frozenset[str]
    """What stands in the last column of lines that do not begin with #."""
    has_header: bool
    """Whether the first line names the columns."""
    share: float
    """Of the lines that have that many columns."""
    has_blanks: bool
    """Whether blank lines stand between sentences."""
    rows: list[list[str]]
    """Columns of the first words."""
    is_short: bool = True
    """Whether what stands for words are words, without spaces."""

    def is_comment(self, line: str) -> bool:
        """Return whether a line before a sentence is no word: # is a word, too."""
        if not line.startswith("#"):
            return False
        cells = cells_of(line)
        return len(cells) != self.width or cells[-1] not in self.tags


def cells_of(line: str) -> list[str]:
    """Return the columns of a line, parted by tabs or else by spaces.

    Other white space, such as no-break spaces, belongs to the word.
    """
    line = line.rstrip(" \t")
    if "\t" in line:
        return [cell.strip(" ") for cell in line.split("\t")]
    return [cell for cell in line.split(" ") if cell]


def look_at_columns(path: Path) -> Layout:
    """Return how the columns of a file with one word per line are laid out."""
    with open_text(path) as file:
        lines = first_items(lines_of(file, path), len, _LOOK_AT)
    rows: list[list[str]] = []
    starts, is_start = [], True
    for line in lines:
        if line.strip() and not line.startswith(("#", "-DOCSTART-")):
            starts.append(is_start)
            rows.append(cells_of(line))
            is_start = False
        elif not line.strip():
            is_start = True
    if kind_of(path) == ".conllu":
        return Layout(_UD_WIDTH, _UD_WORD, _UD_TAG, frozenset(), False, 1.0, True, rows)
    (width, _), *_ = [*Counter(map(len, rows)).most_common(1), (0, 0)]
    kept = [(row, start) for row, start in zip(rows, starts, strict=True) if len(row) == width]
    words = [cell.casefold() for cell in kept[0][0]] if kept else []
    tags = [row[-1] for row, _ in kept]
    has_header = len(kept) > 1 and words[-1] in TAGS and tags.count(tags[0]) == 1
    has_header = has_header and bool({*words[:-1]} & {*WORDS, *TAGS})
    kept = kept[has_header:]
    word, tag = 0, -1
    if width > 2 and kept and _counts_words(kept):
        word = 1
        outer = {row[-2] for row, _ in kept}
        if width == _UD_WIDTH:
            tag = _UD_TAG
        elif width == 4 and scheme_of(outer) and scheme_of({"B-X", *tags[has_header:]}):
            tag = width - 2  # GermEval: outer and inner entities
    return Layout(
        width=width,
        word=word,
        tag=tag,
        tags=frozenset(tags[has_header:]),
        has_header=has_header,
        share=len(kept) / max(1, len(rows)),
        has_blanks=any(not line.strip() for line in lines),
        rows=rows[has_header:],
        is_short=sum(" " not in row[word] for row, _ in kept) > 0.95 * len(kept),
    )


def _counts_words(rows: Iterable[tuple[list[str], bool]]) -> bool:
    """Return whether the first column numbers the words of each sentence."""
    number = 0
    for cells, is_start in rows:
        number = 1 if is_start else number + 1
        if cells[0] != str(number):
            return False
    return True


def read_tags(
    path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
) -> Iterator[TaggedExample]:
    """Yield the sentences of a file, with tags as they stand there.

    Args:
        path: One word per line with its columns and a blank line between sentences (.conllu: a
            treebank); or a table: of sentences as lists of words and of tags, of words with the
            number of their sentence (`Sentence #,Word,POS,Tag`), or of texts with spans (doccano,
            Label Studio, Prodigy). Optionally compressed.
        columns: `text` and `label`: numbers of columns from 1 (the first and the last; where the
            words are numbered the second; of .conllu 2 and 4, the word and its part of speech, or a
            field of the last column: name=B-PER), or names in a table.
        bad_rows: Collects sentences that cannot be used.

    ValueError if the file cannot be read or a column is missing.
    """
    if columns.text_pair is not None:
        raise ValueError("--text-pair is not used in the task 'tag'. Leave it out.")
    if is_tag_table(path):
        with open_table(path, bad_rows) as table:
            yield from _of_table(table, path, columns, bad_rows)
        return
    layout = look_at_columns(path)
    word_at = _number(columns.text, "--text", layout.word)
    is_field = kind_of(path) == ".conllu" and not (columns.label or "4").isdecimal()
    tag_at = _UD_MISC if is_field else _number(columns.label, "--label", layout.tag)
    for block in read_columns(path, word_at, (tag_at,), bad_rows=bad_rows, layout=layout):
        tags = block.tags[0]
        if is_field:
            tags = [_field(tag, columns.label or "") for tag in tags]
        tags = from_brackets(tags) or list(map(label_text, tags))
        yield TaggedExample(block.words, tags, block.row)


def tag_columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns | None:
    """Return the columns of a table of tagged words, sentences or spans; None if it is none."""
    lowered = {name.casefold(): place for place, name in reversed([*enumerate(names)])}
    words = next((lowered[name] for name in WORDS if name in lowered), -1)
    tags = next((lowered[name] for name in TAGS if name in lowered), -1)
    for row in rows[:_TAG_ROWS] if -1 not in (words, tags) else ():
        cells = (row[words], row[tags])
        are_lists = all(isinstance(c, list) or str(c).startswith("[") for c in cells)
        has_number = any(map(_SENTENCES.fullmatch, names)) and " " not in str(row[tags])
        if are_lists or (has_number and lowered.keys() & {"word", "token", "words", "tokens"}):
            return Columns(text=names[words], label=names[tags])
    of_spans = _span_columns(names, rows)
    return of_spans and Columns(text=names[of_spans[0]], label=names[of_spans[1]])


def _field(features: str, name: str) -> str:
    """Return a field of the last column of CoNLL-U, such as name=B-PER; O without it."""
    parts = (part.partition("=") for part in re.split(r"[| ]", features))
    return next((value for key, _, value in parts if key == name), OUTSIDE)


def is_tag_table(path: Path) -> bool:
    """Return whether a tagged file is a table, and not columns with a word per line."""
    if kind_of(path) in _TABLES:
        return True
    with open_text(path) as file:
        first = next(lines_of(file, path), "")
    names = [cell.strip().casefold() for cell in first.split("\t")]
    has_sentences = any(map(_SENTENCES.fullmatch, names))
    return has_sentences and bool({*names} & {*WORDS}) and bool({*names} & {*TAGS})


def read_columns(
    path: Path,
    word_at: int,
    tags_at: Sequence[int],
    *,
    bad_rows: BadRows,
    file: BinaryIO | None = None,
    layout: Layout | None = None,
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
        layout: Of the file; None looks at it.

    ValueError if the file cannot be read, or a sentence cannot be used and is not skipped.
    """
    is_ud = kind_of(path) == ".conllu"
    layout = layout or look_at_columns(path)
    words: list[str] = []
    tags: list[list[str]] = [[] for _ in tags_at]
    start, wrong, width, is_new, is_first = 1, "", 0, False, True
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
            is_comment = line.startswith("#") if is_ud else not words and layout.is_comment(line)
            if is_comment or (is_first and layout.has_header):
                is_first = is_first and is_comment
                continue
            is_first = False
            cells = cells_of(line)
            if is_ud and not cells[0].isdigit():  # 3-4: parts that follow; 3.1: not in the text
                continue
            if not words and not wrong:
                start = number
            width = width or len(cells)
            problem = _problem(cells, needed, width if -1 in tags_at else None)
            if problem is None and len(words) == MAX_WORDS:
                problem = (
                    f"belongs to a sentence of more than {MAX_WORDS:,} words (it begins at line "
                    f"{start}); expected a blank line after each sentence"
                )
            if problem is not None:
                choose = " Name the column of the tag with --label." * ("before" in problem)
                wrong = wrong or f"line {number} of {str(path)!r} {problem}.{choose}"
                continue
            words.append(cells[word_at])
            for tag, place in zip(tags, tags_at, strict=True):
                tag.append(cells[place])
            if not all(tag[-1] for tag in tags):
                wrong = wrong or f"line {number} of {str(path)!r} has an empty tag."
        yield from finish()


def _problem(cells: Sequence[str], needed: int, width: int | None) -> str | None:
    """Return a phrase on a line that cannot be used."""
    num = len(cells)
    if num < needed:
        return f"has {num} columns; expected a word and its tag, at least {needed}"
    if num > MAX_COLUMNS:
        return f"has {num:,} columns; expected a word and its tags, at most {MAX_COLUMNS:,}"
    if width is not None and num != width:  # the last column would be another one
        return f"has {num} columns, but the lines before have {width}"
    return None


def _of_table(
    table: Table, path: Path, columns: Columns, bad_rows: BadRows
) -> Iterator[TaggedExample]:
    first = next(table.rows, None)
    if first is None:
        return
    rows = chain([first], table.rows)
    of_spans = _span_columns(table.columns, table.first, columns, are=_look_like_spans)
    if of_spans is not None:
        yield from _of_spans(rows, *of_spans, path, bad_rows)
        return
    word_at = _find(table.columns, columns.text, WORDS, "--text", path)
    tag_at = _find(table.columns, columns.label, TAGS, "--label", path)
    sentence_at = next(
        (i for i, name in enumerate(table.columns) if _SENTENCES.fullmatch(name) and i != word_at),
        -1,
    )
    if (
        isinstance(first.cells[word_at], str)
        and sentence_at >= 0
        and " " not in _text(first.cells[tag_at])
    ):
        yield from _of_words(rows, (sentence_at, word_at, tag_at), path, bad_rows)
        return
    num = num_longer = 0
    for row in rows:
        where = f"row {row.number} of {str(path)!r}"
        words, tags = map(_items, (row.cells[word_at], row.cells[tag_at]))
        if words is None or tags is None or not words:
            bad_rows.add(f"{where} has no list of words with a list of tags.")
        elif len(words) != len(tags):
            bad_rows.add(f"{where} has {len(words)} words but {len(tags)} tags.")
        elif not all(isinstance(word, str) and word for word in words):
            bad_rows.add(f"{where} has a word that is empty or not text.")
        elif any(isinstance(tag, list | dict) for tag in tags):
            bad_rows.add(f"{where} has a tag that is a list.")
        else:
            num, num_longer = num + 1, num_longer + (len(words) > 1)
            yield TaggedExample(words, [label_text(as_text(tag)) for tag in tags], row.number)
    if num > 1 and not num_longer and isinstance(first.cells[word_at], str):
        raise ValueError(
            f"{str(path)!r} has one word in each of its {num:,} rows, but no column with the "
            "number of its sentence. Add one, called 'Sentence #', or write a blank line after "
            "each sentence into a .txt file."
        )


def _of_spans(
    rows: Iterable[Row], text_at: int, spans_at: int, path: Path, bad_rows: BadRows
) -> Iterator[TaggedExample]:
    for row in rows:
        text = row.cells[text_at]
        if isinstance(text, dict):  # Label Studio's `data`
            text = next((value for value in text.values() if isinstance(value, str)), "")
        try:
            if not isinstance(text, str) or not text.strip():
                raise ValueError("no text")
            yield tagged_text(text, spans_of(row.cells[spans_at]), row.number, bad_rows)
        except ValueError as error:
            bad_rows.add(f"row {row.number} of {str(path)!r} has {error}.")


def _of_words(
    rows: Iterable[Row], places: tuple[int, int, int], path: Path, bad_rows: BadRows
) -> Iterator[TaggedExample]:
    """Yield the sentences of a table of words; a new one begins where its number changes."""
    words: list[str] = []
    tags: list[str] = []
    current, start = "", 1
    for row in rows:
        sentence, word, tag = (_text(row.cells[place]) for place in places)
        if sentence and sentence != current:
            if words:
                yield TaggedExample(words, tags, start)
            words, tags, current, start = [], [], sentence, row.number
        if len(words) == MAX_WORDS:
            bad_rows.add(
                f"row {row.number} of {str(path)!r} is beyond the {MAX_WORDS:,} words of the "
                f"sentence {current[:40]!r}."
            )
            continue
        words.append(word)
        tags.append(label_text(tag))
    if words:
        yield TaggedExample(words, tags, start)


def _look_like_spans(cell: Any) -> bool:
    """Return whether a cell has spans, or what its authors meant as such."""
    items = listed(cell)
    return isinstance(items, list) and any(isinstance(item, list | dict) for item in items[:1])


def _span_columns(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    columns: Columns = USUAL,
    *,
    are: Callable[[Any], bool] = are_spans,
) -> tuple[int, int] | None:
    """Return the columns of texts and of their spans; None if no column has spans.

    Args:
        names, rows: Of the table; some rows.
        columns: Those that were asked for.
        are: Whether a cell has spans.
    """
    places = {name.casefold(): place for place, name in reversed([*enumerate(names)])}
    for text in SPAN_TEXTS if columns.text is None else [columns.text.casefold()]:
        for spans in SPANS if columns.label is None else [columns.label.casefold()]:
            at = places.get(text, -1), places.get(spans, -1)
            if -1 not in at and any(are(row[at[1]]) for row in rows if at[1] < len(row)):
                return at
    return None


def _find(
    names: Sequence[str], name: str | None, usual: Sequence[str], option: str, path: Path
) -> int:
    lowered = {one.casefold(): one for one in reversed(names)}
    for wanted in [name] if name else usual:
        if wanted in names:
            return column_place(names, wanted, path)
        if name is None and wanted in lowered:
            return column_place(names, lowered[wanted], path)
    wanted = " or ".join(map(repr, [name] if name else usual[:2]))
    raise ValueError(
        f"{str(path)!r} has no column {wanted}; it has {listed_columns(names)}. Name it with "
        f"{option}."
    )


def _items(cell: Any) -> list[Any] | None:
    """Return the items of a cell that is a list, writes one out, or has spaces between them."""
    items = listed(cell)
    if isinstance(cell, str) and not isinstance(items, list):
        return cell.split(" ")
    return items if isinstance(items, list) else None


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else as_text(cell)


def _number(column: str | None, option: str, usual: int) -> int:
    if column is None:
        return usual
    if not column.isdecimal() or column == "0":
        raise ValueError(
            f"{option} is {column!r}; for files in columns give the column's number, from 1."
        )
    return int(column) - 1
