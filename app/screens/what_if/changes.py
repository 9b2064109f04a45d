"""The visitor's changes, kept in the session and the URL."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bertcore import BertConfig, Trace
from bertcore.model.interventions import PATTERNS, Block, Changes, every_head, parse_head

from ...shell import Field
from ...shell.links import HEADS_OFF, name_of

LAYERS_SKIPPED: Field[list[int]] = Field("skip", [])
PATTERN = Field("pattern", PATTERNS[0], PATTERNS)
PREFIX_LENGTH = Field("prefix", 0)
DRAWN = Field("drawn", "")
"""Rectangles that are blocked in a mask drawn by hand; see `format_blocks`."""
CHANGES = (HEADS_OFF, LAYERS_SKIPPED, PATTERN, DRAWN)


class Case(NamedTuple):
    """An input and the changes: the first arguments of the views."""

    text_a: str
    text_b: str | None
    masked: tuple[int, ...]
    """Positions that are replaced by [MASK]."""
    changes: Changes


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


def chosen(num_tokens: int) -> Changes:
    """Return the chosen changes; those that do not fit this input or checkpoint are left out."""
    pattern = PATTERN.value
    return Changes(
        heads_off=frozenset(parse_head(text) for text in HEADS_OFF.value),
        layers_skipped=frozenset(LAYERS_SKIPPED.value),
        pattern=pattern,
        prefix_length=PREFIX_LENGTH.value if pattern == "prefix" else None,
        blocked=blocks(num_tokens) if pattern == "drawn" else (),
    )


def patterns(config: BertConfig) -> tuple[str, ...]:
    """Return the attention patterns on offer, of PATTERNS.

    With causal attention the first is causal already, and so would be all but a drawn one.
    """
    return ("bidirectional", "drawn") if config.family.is_causal else PATTERNS


def forget_all() -> None:
    """Undo every change; what is hidden stays hidden."""
    HEADS_OFF.put([])
    LAYERS_SKIPPED.put([])
    PATTERN.put(PATTERN.default)
    DRAWN.put("")


def blocks(num_tokens: int) -> tuple[Block, ...]:
    """Return the blocked rectangles of the drawing, without those beyond the input."""
    rectangles = parse_blocks(DRAWN.value)
    return tuple(block for block in rectangles if max(block) < num_tokens)


def put_blocks(drawn: Iterable[Iterable[int]]) -> None:
    """Keep a drawing, as the browser reports it."""
    DRAWN.put(format_blocks(Block(*map(int, block)) for block in drawn))


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
