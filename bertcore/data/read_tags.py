"""Tagged sentences: a word a line (CoNLL, CoNLL-U), tables of words or sentences, marked spans."""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from tokenizers import pre_tokenizers

from bertcore.configs.columns import USUAL, Columns
from bertcore.data.cells import Span, are_spans, as_text, label_text, listed, spans_of
from bertcore.data.columns import find, find_column, likely_text, summarize
from bertcore.data.examples import TaggedExample
from bertcore.data.exports import UnansweredError, examples_of, open_rows, refuse_brat
from bertcore.data.files import (
    MAX_COLUMNS,
    MAX_WORDS,
    BadRows,
    Encoding,
    Limits,
    first_items,
    kind_of,
    lines_of,
    open_text,
    whole_lines,
)
from bertcore.data.tables import Table, form_of
from bertcore.data.tag_schemes import IOB2, Entity, scheme_of

WORDS = ("tokens", "words", "word", "token", "text", "sentence", "form")
TAGS = ("tags", "ner_tags", "labels", "pos_tags", "tag", "ner_tag", "label", "ner", "entity", "pos")
SPAN_TEXTS = ("text", "data", "content", "sentence")
SPANS = ("entities", "spans", "label", "labels", "annotations", "completions")
_UD_WORD, _UD_TAG, _UD_WIDTH = 1, 3, 10
_SENTENCES = re.compile(r"(sent(ence)?|doc(ument)?)[ _]?(#|id|idx|no|num(ber)?)?", re.IGNORECASE)
"""Column of the number of each word's sentence, as in Kaggle's `Sentence #,Word,POS,Tag`."""
_TAG_ROWS = 20
"""Rows of a table that show whether they are words with tags."""
_LOOK_AT = Limits(20_000, 20_000_000)
_PART = re.compile(r"\d+[-.]\d+")
"""CoNLL-U's number of a word that is written with the next ones, or is not in the text."""
_BRACKETS = re.compile(r"(\([^()*\s]+)*\*\)*|(\([^()*\s]+)+\)+")
"""Tags of OntoNotes (CoNLL-2012)."""
_IDEOGRAPH = re.compile("([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f])")


# ---- a word a line ----


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
    names: tuple[str, ...]
    """Of the columns; () without names."""
    is_columns: bool
    """Whether it is such a file, with blank lines between its sentences."""
    rows: list[list[str]]
    """Columns of the first words."""
    is_conllu: bool = False
    separator: str = ""
    """Between columns: a comma or semicolon, else tabs or spaces."""

    def is_comment(self, line: str, *, is_first: bool) -> bool:
        """Return whether a line is no word; # is one within a sentence, or with a usual tag."""
        if self.is_conllu or not line.startswith("#"):
            return line.startswith("#")
        cells = cells_of(line, self.separator)
        return is_first and (len(cells) != self.width or cells[-1] not in self.tags)

    def is_word(self, cells: Sequence[str]) -> bool:
        """Return whether a line has a word of the text, and not a part or a group of words."""
        return not self.is_conllu or cells[0].isdecimal()


def cells_of(line: str, separator: str = "") -> list[str]:
    """Return the columns of a line, parted by tabs or else by spaces, or by another separator.

    Other white space, such as no-break spaces, belongs to the word.
    """
    line = line.rstrip(" \t")
    if separator:
        csv.field_size_limit(2**31 - 1)
        return [cell.strip(" ") for cell in next(csv.reader([line], delimiter=separator), [])]
    if "\t" in line:
        return [cell.strip(" ") for cell in line.split("\t")]
    return [cell for cell in line.split(" ") if cell]


def _layout(lines: Sequence[str], path: Path, separator: str) -> Layout:
    rows: list[list[str]] = []
    starts, is_start = [], True
    for line in lines:
        if line.strip() and not line.startswith(("#", "-DOCSTART-")):
            rows.append(cells_of(line, separator))
            starts.append(is_start)
        is_start = not line.strip() or (is_start and line.startswith(("#", "-DOCSTART-")))
    (width, _), *_ = [*Counter(map(len, rows)).most_common(1), (0, 0)]
    regular = [row for row in rows if len(row) == width]
    names = next(iter(regular), [])
    word_at, tag_at = find(names, WORDS), find(names, TAGS)
    said = [row[tag_at] for row in regular] if word_at is not None and tag_at is not None else []
    has_header = len(said) > 1 and word_at != tag_at and said.count(said[0]) == 1
    word, tag, is_conllu = 0, -1, False
    regular, body = regular[has_header:], [*zip(rows, starts, strict=True)][has_header:]
    tags = {row[-1] for row in regular}
    if has_header and word_at is not None and tag_at is not None:
        word, tag = word_at, tag_at
    elif width > 2 and regular and _counts_words(body):
        word = 1
        outer = {row[-2] for row in regular}
        if width == _UD_WIDTH or kind_of(path) == ".conllu":
            tag, is_conllu = _UD_TAG, True
        elif width == 4 and scheme_of(outer) and scheme_of({"B-X", *tags}):
            tag = width - 2  # GermEval: outer and inner entities
    has_sentences = any(not line.strip() for line in lines) and 0 < sum(starts) < len(starts)
    is_short = sum(" " not in row[word] for row in regular) > 0.95 * len(regular)
    is_regular = width >= 2 and len(regular) > 0.9 * len(body) and is_short and has_sentences
    return Layout(
        width,
        word,
        tag,
        frozenset(tags),
        has_header,
        tuple(names) if has_header else (),
        is_conllu or is_regular,
        [row for row, _ in body],
        is_conllu,
        separator,
    )


def _counts_words(rows: Sequence[tuple[list[str], bool]]) -> bool:
    """Return whether the first column numbers the words of each sentence."""
    number = 0
    for cells, is_start in rows:
        number = 0 if is_start else number
        if not _PART.fullmatch(cells[0]):
            number += 1
            if cells[0] != str(number):
                return False
    return True


def word_columns(path: Path) -> Layout | None:
    """Return how a file with one word per line is laid out; None for a table.

    Its content decides, and its name where this leaves it open.
    """
    if form_of(path) != "text":
        return None
    with open_text(path) as file:
        lines = first_items(lines_of(file, path, bad_rows=BadRows(skip=True)), len, _LOOK_AT)
    layouts = [_layout(lines, path, sign) for sign in ("", ",", ";")]
    layout = next((candidate for candidate in layouts if candidate.is_columns), layouts[0])
    refuse_brat(path, layout.rows[0] if layout.rows else ())
    if layout.is_columns:
        return layout
    if kind_of(path) == ".csv":
        return None
    try:
        with open_rows(path, BadRows(skip=True)) as table:
            rows = table.first if table.has_header else ()
            return None if tag_columns(table.columns, rows) else layout
    except ValueError:
        return layout


def is_tag_table(path: Path) -> bool:
    """Return whether a tagged file is a table, and not columns with a word per line."""
    return word_columns(path) is None


def read_tags(
    path: Path, *, columns: Columns = USUAL, bad_rows: BadRows
) -> Iterator[TaggedExample]:
    """Yield the sentences of a file, with tags as they stand there.

    Args:
        path: One word per line with its columns and a blank line between sentences (CoNLL-U: a
            treebank); or a table: of sentences as lists of words and of tags, of words with the
            number of their sentence (`Sentence #,Word,POS,Tag`), or of texts with spans (doccano,
            Label Studio, Prodigy). Optionally compressed.
        columns: `text` and `label`: numbers of columns from 1 (the first and the last; where the
            words are numbered the second; of a treebank 2 and 4, the word and its part of speech),
            or names.

    ValueError if the file cannot be read or a column is missing.
    """
    if columns.text_pair is not None:
        raise ValueError("--text-pair is not used in the task 'tag'. Leave it out.")
    layout = word_columns(path)
    if layout is None:
        with open_rows(path, bad_rows) as table:
            yield from _of_table(table, path, columns, bad_rows)
        return
    word_at = _number(columns.text, "--text", layout.word, layout.names)
    tag_at = _number(columns.label, "--label", layout.tag, layout.names)
    words = _words_of_lines(path, word_at, tag_at, layout)
    for sentence in _sentences(words, "line", path, bad_rows):
        tags = sentence.tags
        if all(map(_BRACKETS.fullmatch, tags)):
            raise ValueError(
                f"{str(path)!r} has tags in brackets, as OntoNotes has them ({tags[0][:40]!r}). "
                "Write each word's tag as B-, I- with a type, or O; or name another column with "
                "--label."
            )
        yield replace(sentence, tags=[*map(label_text, tags)])


def _number(column: str | None, option: str, usual: int, names: Sequence[str]) -> int:
    if column is None or column in names:
        return usual if column is None else names.index(column)
    if not column.isdecimal() or column == "0":
        raise ValueError(
            f"{option} is {column!r}; for files in columns give the column's number, from 1."
        )
    return int(column) - 1


class _Word(NamedTuple):
    """A line or row with a word and its tag, or with what is wrong with it."""

    sentence: int
    number: int
    word: str
    tag: str
    wrong: str = ""


def _sentences(
    words: Iterable[_Word], what: str, path: Path, bad_rows: BadRows
) -> Iterator[TaggedExample]:
    """Yield the sentences of words; one with a wrong word is a bad row."""
    for _, group in groupby(words, key=attrgetter("sentence")):
        right: list[_Word] = []
        wrong = ""
        for each in group:
            problem = each.wrong
            if len(right) == MAX_WORDS:
                problem = (
                    f"belongs to a sentence of more than {MAX_WORDS:,} words (it begins at {what} "
                    f"{right[0].number}); expected the end of each sentence"
                )
            if problem:
                wrong = wrong or f"{what} {each.number} of {str(path)!r} {problem}."
            else:
                right.append(each)
        if wrong:
            bad_rows.add(wrong)
        elif right:
            yield TaggedExample([w.word for w in right], [w.tag for w in right], right[0].number)


def _words_of_lines(path: Path, word_at: int, tag_at: int, layout: Layout) -> Iterator[_Word]:
    """Yield the words of a file in columns; for a tag in the last, -1, lines are as wide."""
    sentence, width, is_start, is_first = 0, 0, True, True
    needed = max(word_at, tag_at, 1) + 1
    with open_text(path) as lines:
        encoding = Encoding(lines.encoding)
        for number, line in enumerate(whole_lines(lines, path), start=1):
            line = line.rstrip("\r\n")
            if not line.strip():
                sentence, is_start = sentence + 1, True
                continue
            if line.startswith("-DOCSTART-"):
                continue
            is_comment = layout.is_comment(line, is_first=is_start)
            if is_comment or (is_first and layout.has_header):
                is_first = is_first and is_comment
                continue
            is_first = False
            cells = cells_of(line, layout.separator)
            if not layout.is_word(cells):
                continue
            is_start, width = False, width or len(cells)
            problem = encoding.damage([cells[at] for at in (word_at, tag_at) if at < len(cells)])
            if len(cells) < needed:
                problem = f"has {len(cells)} columns; expected a word and its tag: {needed}"
            elif len(cells) > MAX_COLUMNS:
                problem = f"has {len(cells):,} columns; expected at most {MAX_COLUMNS:,}"
            elif tag_at == -1 and len(cells) != width:  # the last column would be another one
                problem = (
                    f"has {len(cells)} columns, but the lines before have {width}. Name the column "
                    "of the tag with --label"
                )
            elif not problem and not cells[tag_at]:
                problem = "has an empty tag"
            if problem:
                yield _Word(sentence, number, "", "", problem)
            else:
                yield _Word(sentence, number, cells[word_at], cells[tag_at])


# ---- tables ----


def tag_columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns | None:
    """Return the columns of a table of tagged words, sentences or spans; None if it is none."""
    of_spans = _span_places(names, rows)
    if of_spans is not None:
        return Columns(text=names[of_spans[0]], label=names[of_spans[1]])
    words, tags = find(names, WORDS), find(names, TAGS)
    if words is None or tags is None:
        return None
    for row in rows[:_TAG_ROWS]:
        cells = (row[words], row[tags]) if len(row) > max(words, tags) else ("", "")
        are_lists = all(isinstance(c, list) or str(c).startswith("[") for c in cells)
        if are_lists or (_sentence_place(names) >= 0 and " " not in str(cells[1])):
            return Columns(text=names[words], label=names[tags])
    return None


def _sentence_place(names: Sequence[str]) -> int:
    """Return the column with the number of each word's sentence in a table of words; -1: none."""
    if find(names, ("word", "token", "words", "tokens")) is None:
        return -1
    return next((i for i, name in enumerate(names) if _SENTENCES.fullmatch(name)), -1)


def _of_table(
    table: Table, path: Path, columns: Columns, bad_rows: BadRows
) -> Iterator[TaggedExample]:
    first = next(table.rows, None)
    if first is None:
        return
    table = replace(table, rows=chain([first], table.rows))
    names = table.columns
    of_spans = _span_places(names, table.first, columns, are=_look_like_spans)
    if of_spans is not None:
        yield from _of_spans(table, *of_spans, path, bad_rows)
        return
    word_at = find_column(names, columns.text, "--text", path, usual=WORDS, what="words (tokens)")
    tag_at = find_column(names, columns.label, "--label", path, usual=TAGS, what="tags")
    sentence_at = _sentence_place(names)
    is_word = isinstance(first.cells[word_at], str)
    if is_word and sentence_at >= 0 and " " not in as_text(first.cells[tag_at]):
        places = sentence_at, word_at, tag_at
        yield from _sentences(_words_of_rows(table, places), "row", path, bad_rows)
        return
    num = num_longer = 0

    def read(cells: Sequence[Any], row: int) -> Iterator[TaggedExample]:
        words, tags = map(_items, (cells[word_at], cells[tag_at]))
        if words == tags == []:
            raise UnansweredError("empty sentence")
        if words is None or tags is None or not words:
            raise ValueError("no list of words with a list of tags")
        if len(words) != len(tags):
            raise ValueError(f"{len(words)} words but {len(tags)} tags")
        if not all(isinstance(word, str) and word for word in words):
            raise ValueError("a word that is empty or not text")
        if any(isinstance(tag, list | dict) for tag in tags):
            raise ValueError("a tag that is a list")
        yield TaggedExample(words, [label_text(as_text(tag)) for tag in tags], row)

    for example in examples_of(table, path, bad_rows, read):
        num, num_longer = num + 1, num_longer + (len(example.words) > 1)
        yield example
    if num > 1 and not num_longer and is_word:
        raise ValueError(
            f"{str(path)!r} has one word in each of its {num:,} rows, but no column with the "
            "number of its sentence. Add one, called 'Sentence #', or write a blank line after "
            "each sentence into a .txt file."
        )


def _items(cell: Any) -> list[Any] | None:
    """Return the items of a cell that is a list, writes one out, or has spaces between them."""
    items = listed(cell)
    if isinstance(cell, str) and not isinstance(items, list):
        return cell.split(" ")
    return items if isinstance(items, list) else None


def _words_of_rows(table: Table, places: tuple[int, int, int]) -> Iterator[_Word]:
    """Yield the words of a table; a new sentence begins where its number changes."""
    number, current = 0, ""
    for row in table.rows:
        cells = (row.cells[place] for place in places)
        sentence, word, tag = (c if isinstance(c, str) else as_text(c) for c in cells)
        if sentence and sentence != current:
            number, current = number + 1, sentence
        yield _Word(number, row.number, word, label_text(tag))


# ---- spans ----


def _span_places(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    columns: Columns = USUAL,
    *,
    are: Callable[[Any], bool] = are_spans,
) -> tuple[int, int] | None:
    """Return the columns of texts and of their spans; None if no column has spans."""

    def has(place: int | None, look: Callable[[Any], bool]) -> bool:
        return place is not None and any(look(row[place]) for row in rows if place < len(row))

    wanted = SPANS if columns.label is None else (columns.label,)
    usual = (find(names, (name,)) for name in wanted)
    spans = next((place for place in usual if has(place, are)), None)
    if spans is None and columns.label is None:
        spans = next((place for place in range(len(names)) if has(place, are_spans)), None)
    if spans is None:
        return None
    text = find(names, SPAN_TEXTS if columns.text is None else (columns.text,))
    if text is None and columns.text is None:
        others = [name for i, name in enumerate(names) if i != spans]
        cells = [[as_text(row[i]) for i in range(len(row)) if i != spans] for row in rows]
        name, _ = likely_text(summarize(others, cells))
        text = None if name is None else names.index(name)
    return None if text is None or text == spans else (text, spans)


def _look_like_spans(cell: Any) -> bool:
    """Return whether a cell has spans, or what its authors meant as such."""
    items = listed(cell)
    return isinstance(items, list) and any(isinstance(item, list | dict) for item in items[:1])


def _of_spans(
    table: Table, text_at: int, spans_at: int, path: Path, bad_rows: BadRows
) -> Iterator[TaggedExample]:
    num_empty = 0

    def read(cells: Sequence[Any], row: int) -> Iterator[TaggedExample]:
        nonlocal num_empty
        text, marks = cells[text_at], cells[spans_at]
        if not label_text(as_text(marks)):
            raise UnansweredError("")
        if not isinstance(text, str) or not text.strip():
            raise ValueError("no text")
        spans = spans_of(marks)
        yield tagged_text(text, spans, row, bad_rows)
        num_empty += not spans

    yield from examples_of(table, path, bad_rows, read)
    if num_empty:
        bad_rows.note(
            f"Texts of {path.name!r} with an empty list of spans: {num_empty:,}. Each is a "
            "sentence without entities: leave out those that nobody annotated."
        )


def tagged_text(text: str, spans: Sequence[Span], row: int, bad_rows: BadRows) -> TaggedExample:
    """Return the words of a text with the tags of its spans.

    The text is cut as BERT cuts it, at spaces, punctuation and ideographs, and where a span begins
    or ends. Of spans that overlap, the first and longest is kept, which is noted.

    ValueError if a span is not within the text; the message is a phrase.
    """
    apart: list[Span] = []
    placed = [_placed(text, span) for span in spans]
    for span in sorted(placed, key=lambda span: (span.first, -span.end)):
        if apart and span.first < apart[-1].end:
            bad_rows.note("Some entities overlap: of each two, the first and longer one is read.")
        else:
            apart.append(span)
    words = list(_words(text, sorted({place for span in apart for place in span[:2]})))
    entities = []
    for span in apart:
        own = [n for n, (start, end) in enumerate(words) if span.first <= start and end <= span.end]
        if own:
            entities.append(Entity(span.kind, own[0], own[-1] + 1))
    tags = IOB2.tags(entities, len(words))
    return TaggedExample([text[start:end] for start, end in words], tags, row)


def _placed(text: str, span: Span) -> Span:
    """Return a span by characters; JavaScript counts those beyond U+FFFF twice."""
    first, end = span.first, span.end
    if span.text is not None and text[first:end] != span.text:
        units = text.encode("utf-16-le", "surrogatepass")
        before, inside = (
            units[2 * a : 2 * b].decode("utf-16-le", "replace") for a, b in ((0, first), span[:2])
        )
        if inside.strip() == span.text.strip():
            first, end = len(before), len(before) + len(inside)
    if not 0 <= first < end <= len(text):
        raise ValueError(
            f"the span {first} to {end} ({span.kind[:40]!r}), but its text has {len(text)} "
            "characters"
        )
    return span._replace(first=first, end=end)


def _words(text: str, cuts: Sequence[int]) -> Iterator[tuple[int, int]]:
    for _, (start, end) in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text):
        for piece in _IDEOGRAPH.split(text[start:end]):
            stop = start + len(piece)
            for cut in (*(cut for cut in cuts if start < cut < stop), stop):
                if cut > start:
                    yield start, cut
                start = cut
