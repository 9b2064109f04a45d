"""Tagged files as a stream of sentences: CoNLL-U, and CoNLL with two or four columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pyarrow as pa

from bertcore.data.conllu import ParsedSentence, stream_conllu
from bertcore.data.files import BadRows, kind_of, lines_of, open_text, whole_lines
from bertcore.data.read_tags import cells_of, read_columns
from bertcore.data.tag_schemes import scheme_of, to_iob2
from bertcore.data.word_tags import WordTags, joined, spans_in

TAGGED = (".conllu", ".conll")
TREE_FIELDS = (
    pa.field("upos", pa.string()),
    pa.field("xpos", pa.string()),
    pa.field("deprel", pa.string()),
    pa.field("head_distance", pa.int32()),
)
"""Of CoNLL-U. `head_distance`: words from a word to its head, positive if the head stands to the
right; null for the root."""
_LOOK_AT_SENTENCES = 200


class TaggedText(NamedTuple):
    """One sentence of a tagged file."""

    is_new_document: bool
    text: str
    tags: WordTags
    line: int
    """At which its words begin, from 1."""
    is_joined: bool
    """Whether its `# text =` is not what its words make up, so that `text` is put together from
    these."""


def tag_fields(path: Path) -> tuple[pa.Field, ...]:
    """Return the columns of a tagged file, from its beginning.

    Of .conll with four columns (CoNLL-2003) these are pos, chunk, ner; with two, ner if all tags of
    the first sentences are entity tags, else tag.

    ValueError if the file has no sentence or a different number of columns.
    """
    if kind_of(path) == ".conllu":
        return TREE_FIELDS
    num = _num_columns(path)
    if num == 4:
        return tuple(pa.field(name, pa.string()) for name in ("pos", "chunk", "ner"))
    # Problems of a sentence are reported, or counted, when it is read.
    blocks = read_columns(path, 0, (1,), bad_rows=BadRows(skip=True))
    first = [block.tags[0] for block in islice(blocks, _LOOK_AT_SENTENCES)]
    scheme = scheme_of(tag for tags in first for tag in tags)
    is_ner = scheme is not None and scheme.form != "bare"
    return (pa.field("ner" if is_ner else "tag", pa.string()),)


def read_tagged(
    path: Path, raw: BinaryIO, fields: Sequence[pa.Field], bad_rows: BadRows
) -> Iterator[TaggedText]:
    """Yield the sentences of a tagged file.

    Args:
        path: .conllu or .conll, plain or compressed.
        raw: The same file, open; its position shows how far it has been read.
        fields: From `tag_fields`.
        bad_rows: Collects sentences that cannot be used.

    ValueError if it cannot be read, or a sentence cannot be used and is not skipped.
    """
    if kind_of(path) == ".conllu":
        with open_text(path, raw) as file:
            sentences = stream_conllu(
                whole_lines(file, path), repr(str(path)), bad_rows.add, needs_trees=False
            )
            for parsed in sentences:
                yield _of_tree(parsed)
        return
    places = (*range(1, len(fields)), -1)  # the last, if all lines have the same number of columns
    for block in read_columns(path, 0, places, bad_rows=bad_rows, file=raw):
        text, spans = joined(block.words)
        values = tuple(
            tuple(to_iob2(tags) if field.name == "ner" else tags)
            for field, tags in zip(fields, block.tags, strict=True)
        )
        tags = WordTags(tuple(block.words), spans, values)
        yield TaggedText(block.is_new_document, text, tags, block.row, False)


def _of_tree(parsed: ParsedSentence) -> TaggedText:
    text, spans, is_joined = parsed.text, parsed.spans, False
    if parsed.written is not None and parsed.written != text:
        moved = spans_in(text, spans, parsed.written)
        if moved is None:
            is_joined = True
        else:
            text, spans = parsed.written, moved
    distances = tuple(None if head < 0 else head - word for word, head in enumerate(parsed.heads))
    tags = [
        tuple(None if tag == "_" else tag for tag in column)
        for column in (parsed.tags, parsed.own_tags, parsed.relations)
    ]
    found = WordTags(parsed.words, spans, (*tags, distances))
    return TaggedText(parsed.is_new_document, text, found, parsed.line, is_joined)


def _num_columns(path: Path) -> int:
    with open_text(path) as file:
        for number, line in enumerate(lines_of(file, path), start=1):
            if line.strip() and not line.startswith("-DOCSTART-"):
                num = len(cells_of(line))
                if num not in (2, 4):
                    raise ValueError(
                        f"line {number} of {str(path)!r} has {num} column{'s' * (num != 1)}; "
                        "expected a word and its tag, or the four of CoNLL-2003 (word, part of "
                        "speech, chunk, entity), with a blank line after each sentence."
                    )
                return num
    raise ValueError(f"{str(path)!r} has no sentence. Give a file with a word and its tag a line.")
