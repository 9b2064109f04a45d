"""The visitor's changes, kept in the session and the URL, and the runs with and without them."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from bertcore import BertConfig, Trace
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.interventions import PATTERNS, Block, Cell, Changes, every_head, parse_head

from ..shell import Field, cache, frame
from ..shell.links import HEADS_OFF, name_of

LAYERS_SKIPPED: Field[list[int]] = Field("skip", [])
PATTERN = Field("pattern", PATTERNS[0], PATTERNS)
PREFIX_LENGTH = Field("prefix", 0)
DRAWN = Field("drawn", "")
"""Rectangles that are blocked in a mask drawn by hand; see `format_blocks`."""
SEGMENT_IDS: Field[list[str]] = Field("segment", [])  # edited segment ids, each as token.id
POSITION_IDS: Field[list[str]] = Field("position", [])
CELLS: Field[list[str]] = Field("cell", [])
"""Edited attention weights, each as layer.head:source-target:weight."""
LISTS = (HEADS_OFF, LAYERS_SKIPPED, SEGMENT_IDS, POSITION_IDS, CELLS)

_CELL = re.compile(r"(\d{1,3})\.(\d{1,3}):(\d{1,4})-(\d{1,4}):(0(?:\.\d{1,6})?|1(?:\.0{1,6})?)")
_EDIT = re.compile(r"(\d{1,4})\.(\d{1,6})")


class Case(NamedTuple):
    """An input and the changes; small and hashable."""

    key: cache.BertKey
    text_a: str
    text_b: str | None
    masked: tuple[int, ...]
    """Positions that are replaced by [MASK]."""
    changes: Changes

    @property
    def arguments(self) -> tuple[str, str | None, tuple[int, ...], Changes]:
        """Those of the views, behind the checkpoint."""
        return (self.text_a, self.text_b, self.masked, self.changes)

    @property
    def before(self) -> Trace:
        """The run without changes."""
        return cache.computed(_run, self._replace(changes=Changes()))


def keep_all(config: BertConfig, trace: Trace) -> None:
    """Keep the values of all fields, so that they are in the URL."""
    num_tokens = trace.num_tokens
    HEADS_OFF.key(options=[name_of(*head) for head in every_head(config)])
    LAYERS_SKIPPED.key(options=list(range(config.num_hidden_layers)))
    PATTERN.key(options=patterns(config))
    if PATTERN.value == "prefix":
        in_a = trace.text_ids.index(1) if 1 in trace.text_ids else num_tokens // 2
        PREFIX_LENGTH.key(default=in_a, low=0, high=num_tokens)
    DRAWN.key()
    for field in (SEGMENT_IDS, POSITION_IDS, CELLS):
        field.key()


def chosen(config: BertConfig, num_tokens: int) -> Changes:
    """Return the chosen changes; those that do not fit this input or checkpoint are left out."""
    pattern = PATTERN.value
    return Changes(
        heads_off=frozenset(parse_head(text) for text in HEADS_OFF.value),
        layers_skipped=frozenset(LAYERS_SKIPPED.value),
        pattern=pattern,
        prefix_length=PREFIX_LENGTH.value if pattern == "prefix" else None,
        blocked=blocks(num_tokens) if pattern == "drawn" else (),
        segment_ids=edits(SEGMENT_IDS, num_tokens, config.type_vocab_size),
        position_ids=edits(POSITION_IDS, num_tokens, num_positions(config)),
        cells=cells(config, num_tokens),
    )


def patterns(config: BertConfig) -> tuple[str, ...]:
    """Return the attention patterns on offer, of PATTERNS.

    With causal attention the first is causal already, and so would be all but a drawn one.
    """
    return ("bidirectional", "drawn") if config.family.is_causal else PATTERNS


def num_positions(config: BertConfig) -> int:
    """Return the rows of the position table; 0 if there is none (rotary positions)."""
    return 0 if "positions" in config.family.absent else config.max_position_embeddings


def forget_all() -> None:
    """Undo every change; what is hidden stays hidden."""
    for field in LISTS:
        field.put([])
    PATTERN.put(PATTERN.default)
    DRAWN.put("")


def edits(field: Field[list[str]], num_tokens: int, limit: int) -> tuple[tuple[int, int], ...]:
    """Return (token, new id) of SEGMENT_IDS or POSITION_IDS, one for each token."""
    by_token = {}
    for text in field.value:
        match = _EDIT.fullmatch(text)
        if match and int(match[1]) < num_tokens and int(match[2]) < limit:
            by_token[int(match[1])] = int(match[2])
    return tuple(sorted(by_token.items()))


def put_edit(field: Field[list[str]], token: int, new: int | None) -> None:
    """Set the new id of a token, or undo the edit (None)."""
    kept = [text for text in field.value if not text.startswith(f"{token}.")]
    field.put(kept if new is None else [*kept, f"{token}.{new}"])


def cells(config: BertConfig, num_tokens: int) -> tuple[Cell, ...]:
    """Return the edited attention weights, one for each cell."""
    weights: dict[tuple[int, int, int, int], float] = {}
    for text in CELLS.value:
        match = _CELL.fullmatch(text)
        if match is None:
            continue
        layer, head, source, target = map(int, match.groups()[:4])
        fits = layer < config.num_hidden_layers and head < config.num_attention_heads
        if fits and max(source, target) < num_tokens:
            weights[layer, head, source, target] = float(match[5])
    return tuple(Cell(*place, weight) for place, weight in weights.items())


def put_cell(cell: Cell, *, remove: bool = False) -> None:
    """Set an attention weight, or undo the edit."""
    place = f"{cell.layer}.{cell.head}:{cell.source}-{cell.target}:"
    kept = [text for text in CELLS.value if not text.startswith(place)]
    weight = f"{cell.weight:.6f}".rstrip("0").rstrip(".")
    CELLS.put(kept if remove else [*kept, f"{place}{weight}"])


def blocks(num_tokens: int) -> tuple[Block, ...]:
    """Return the blocked rectangles of the drawing, without those beyond the input."""
    rectangles = parse_blocks(DRAWN.value)
    return tuple(block for block in rectangles if max(block) < num_tokens)


def put_blocks(drawn: Iterable[Block]) -> None:
    """Keep a drawing."""
    DRAWN.put(format_blocks(drawn))


def format_blocks(drawn: Iterable[Sequence[int]]) -> str:
    """Return rectangles as a short text for the URL.

    >>> format_blocks([(0, 3, 5, 5), (4, 4, 1, 2)])
    '0-3:5,4:1-2'
    """

    def span(first: int, last: int) -> str:
        return str(first) if first == last else f"{first}-{last}"

    return ",".join(f"{span(*block[:2])}:{span(*block[2:])}" for block in drawn)


def parse_blocks(text: str) -> tuple[Block, ...]:
    """Return the rectangles of a text; parts that are not rectangles are left out.

    >>> parse_blocks("0-3:5,x,4:2-1")
    (Block(first_source=0, last_source=3, first_target=5, last_target=5),)
    """
    rectangles = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?:(\d{1,4})(?:-(\d{1,4}))?", part)
        if match:
            bounds = [int(match[1]), int(match[2] or match[1])]
            bounds += [int(match[3]), int(match[4] or match[3])]
            if bounds[0] <= bounds[1] and bounds[2] <= bounds[3]:
                rectangles.append(Block(*bounds))
    return tuple(rectangles)


# ---- runs with and without the changes ----


def about(page: frame.Page, case: Case) -> dict[str, Any]:
    """Return the input and the changes that the numbers of a file belong to."""
    report = page.bert.report
    return {
        "checkpoint": page.bert_key.source,
        "fingerprint": None if report is None else report.fingerprint,
        "text_a": case.text_a,
        "text_b": case.text_b,
        "masked": case.masked,
        "changes": case.changes,
    }


def _run(case: Case) -> Trace:
    bert = cache.opened(case.key)
    encoding = masked_encoding(bert, case.text_a, case.text_b, case.masked)
    return bert.trace(case.text_a, case.text_b, encoding=encoding, changes=case.changes)
