"""Marked spans of a text as tagged words: doccano, Label Studio, Prodigy, spaCy and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tokenizers import pre_tokenizers

from bertcore.data.examples import TaggedExample
from bertcore.data.files import BadRows
from bertcore.data.label_lists import listed
from bertcore.data.tag_schemes import IOB2, Entity

SPAN_TEXTS = ("text", "data", "content", "sentence")
SPANS = ("entities", "spans", "label", "labels", "annotations", "completions")
_STARTS = ("start", "start_offset", "startOffset", "begin", "start_char", "offset")
_ENDS = ("end", "end_offset", "endOffset", "stop", "end_char")
_KINDS = ("label", "labels", "type", "entity", "tag", "entity_group", "entity_type", "category")
_IDEOGRAPH = re.compile("([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f])")


class Span(NamedTuple):
    """A marked part of a text: characters from `first` to before `end`, and its type."""

    first: int
    end: int
    kind: str
    text: str | None = None
    """What the file says that it reads; None if it does not."""


def are_spans(cell: Any) -> bool:
    """Return whether a cell of JSON, or its text, lists marked spans, at least one."""
    try:
        return bool(spans_of(cell))
    except ValueError:
        return False


def spans_of(cell: Any) -> list[Span]:
    """Return the spans that a cell lists.

    ValueError if it is no list of spans; the message is a phrase.
    """
    items = listed(cell)
    if isinstance(items, Mapping):
        items = [items]
    if items is None:
        return []
    if not isinstance(items, list):
        raise ValueError(f"{str(cell)[:40]!r} in place of a list of spans")
    spans: list[Span] = []
    for item in items:
        if isinstance(item, Mapping) and isinstance(item.get("result"), list):  # Label Studio
            if not item.get("was_cancelled"):
                marked = (one for one in item["result"] if not _is_without_span(one))
                return [span for one in marked for span in spans_of(one)]
            continue
        spans.append(_span(item))
    return spans


def _is_without_span(item: Any) -> bool:
    """Return whether a result of Label Studio marks no part of a text, as a relation does."""
    return isinstance(item, Mapping) and "value" not in item


def _span(item: Any) -> Span:
    if isinstance(item, Mapping):
        values = item.get("value", item)
        values = values if isinstance(values, Mapping) else item
        first, end, kind = (
            next((values[name] for name in names if name in values), None)
            for names in (_STARTS, _ENDS, _KINDS)
        )
        if end is None and isinstance(first, int) and isinstance(values.get("length"), int):
            end = first + values["length"]
        said = values.get("text")
    else:
        first, end, kind = item[:3] if isinstance(item, list) and len(item) >= 3 else (None,) * 3
        said = None
    kind = kind[0] if isinstance(kind, list) and kind else kind
    is_kind = isinstance(kind, str | int) and not isinstance(kind, bool)
    if type(first) is not int or type(end) is not int or not is_kind:
        raise ValueError(f"{str(item)[:60]!r} in place of a span (start, end and type)")
    return Span(first, end, str(kind), said if isinstance(said, str) else None)


def tagged_text(text: str, spans: Sequence[Span], row: int, bad_rows: BadRows) -> TaggedExample:
    """Return the words of a text with the tags of its spans.

    The text is cut as BERT cuts it, at spaces, punctuation and ideographs, and where a span begins
    or ends. Of spans that overlap, the first and longest is kept.

    Args:
        spans: Its spans, in any order.
        row: Of the file.
        bad_rows: Is told of overlaps.

    ValueError if a span is not within the text; the message is a phrase.
    """
    kept: list[Span] = []
    for span in sorted(_placed(text, spans), key=lambda span: (span.first, -span.end)):
        if kept and span.first < kept[-1].end:
            bad_rows.note("Some entities overlap: of each two, the first and longer one is read.")
        else:
            kept.append(span)
    cuts = sorted({place for span in kept for place in span[:2]})
    words = list(_words(text, cuts))
    entities = []
    for span in kept:
        own = [n for n, (start, end) in enumerate(words) if span.first <= start and end <= span.end]
        if own:
            entities.append(Entity(span.kind, own[0], own[-1] + 1))
    tags = IOB2.tags(entities, len(words))
    return TaggedExample([text[start:end] for start, end in words], tags, row)


def _placed(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield spans by characters; JavaScript counts those beyond U+FFFF twice."""
    for span in spans:
        first, end = span.first, span.end
        if span.text is not None and text[first:end] != span.text:
            before, inside = (
                text.encode("utf-16-le", "surrogatepass")[2 * a : 2 * b]
                for a, b in ((0, first), (first, end))
            )
            decoded = inside.decode("utf-16-le", "replace")
            if decoded.strip() == span.text.strip():
                first = len(before.decode("utf-16-le", "replace"))
                end = first + len(decoded)
        if not 0 <= first < end <= len(text):
            raise ValueError(
                f"the span {first} to {end} ({span.kind[:40]!r}), but its text has {len(text)} "
                "characters"
            )
        yield span._replace(first=first, end=end)


def _words(text: str, cuts: Sequence[int]) -> Iterator[tuple[int, int]]:
    for _, (start, end) in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(text):
        for piece in _IDEOGRAPH.split(text[start:end]):
            stop = start + len(piece)
            for cut in (*(cut for cut in cuts if start < cut < stop), stop):
                if cut > start:
                    yield start, cut
                start = cut
