"""Attention patterns as masks: UniLM's four, or drawn by hand as rectangles."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

PATTERNS = ("bidirectional", "causal", "right-to-left", "prefix", "drawn")
"""Which token may attend to which: all to all (BERT); each to itself and those before (GPT);
each to itself and those after; a prefix to itself, the rest also to all before (UniLM); as drawn.
What a layer masks by itself (causal attention, a window) stays masked."""


class Block(NamedTuple):
    """A rectangle of a drawn mask: these tokens may not attend to those. Bounds are included."""

    first_source: int
    last_source: int
    first_target: int
    last_target: int


def pattern_mask(
    pattern: str,
    num_tokens: int,
    prefix_length: int,
    blocked: Iterable[tuple[int, int, int, int]] = (),
) -> Tensor | None:
    """Return which token may attend to which, bool [T, T], row = query token; None: all to all.

    Args:
        prefix_length: Number of tokens of the prefix, 0 to T, for "prefix".
        blocked: The rectangles, for "drawn".

    ValueError if the pattern is unknown, the prefix is too long, a block does not fit, or a token
    may attend to nothing.

    Source: Dong et al. 2019 (UniLM), section 2.3 and figure 1: tokens of the prefix see the prefix,
    and those after it see the prefix and all tokens before them.
    """
    if pattern not in PATTERNS:
        raise ValueError(f"pattern is {pattern!r}; expected one of {', '.join(PATTERNS)}.")
    if pattern == "bidirectional":
        return None
    if pattern == "drawn":
        return _drawn(blocked, num_tokens)
    allowed = torch.ones(num_tokens, num_tokens, dtype=torch.bool).tril()
    if pattern == "right-to-left":
        return allowed.T
    if pattern == "prefix":
        if not 0 <= prefix_length <= num_tokens:
            raise ValueError(
                f"prefix_length is {prefix_length}; the input has {num_tokens} tokens. "
                f"Choose 0 to {num_tokens}."
            )
        allowed[:, :prefix_length] = True
    return allowed


def check_seeing(mask: Tensor, own: Tensor, layer: int) -> None:
    """Check that a pattern leaves each token something to attend to in a layer with a mask.

    Args:
        mask: Mask of the pattern, True = may attend, bool [T, T].
        own: Mask of the layer, likewise.
        layer: Its number, for the message.

    ValueError if a token may attend to nothing.
    """
    blind = (~(mask & own).any(-1)).nonzero().flatten().tolist()
    if blind:
        raise ValueError(
            f"token {blind[0]} may attend to nothing in layer {layer}: the layer masks all that "
            "the pattern leaves it (later tokens, or those outside its window). Let it attend to "
            "itself."
        )


def blocks_of(allowed: Tensor) -> tuple[Block, ...]:
    """Return the rectangles for `Changes.blocked` that describe a mask.

    Args:
        allowed: True = may attend, bool [T, T]; row = query token.

    >>> blocks_of(torch.tensor([[True, False], [True, False]]))
    (Block(first_source=0, last_source=1, first_target=1, last_target=1),)
    """
    blocks: list[Block] = []
    rows = (~allowed.bool()).tolist()
    start = 0
    for row in range(1, len(rows) + 1):
        if row < len(rows) and rows[row] == rows[start]:
            continue
        blocks += [Block(start, row - 1, first, last) for first, last in _spans(rows[start])]
        start = row
    return tuple(blocks)


def _spans(row: Sequence[bool]) -> Iterable[tuple[int, int]]:
    """Yield first and last index of each stretch of True."""
    first = None
    for index, value in enumerate([*row, False]):
        if value and first is None:
            first = index
        elif not value and first is not None:
            yield first, index - 1
            first = None


def _drawn(blocked: Iterable[tuple[int, int, int, int]], num_tokens: int) -> Tensor:
    allowed = torch.ones(num_tokens, num_tokens, dtype=torch.bool)
    for values in blocked:
        block = Block(*values)
        if not all(0 <= bound < num_tokens for bound in block):
            raise ValueError(
                f"the drawn mask refers to token {max(block)}, but the input has {num_tokens} "
                "tokens. Draw it again for this text."
            )
        sources = slice(block.first_source, block.last_source + 1)
        allowed[sources, block.first_target : block.last_target + 1] = False
    blind = (~allowed.any(-1)).nonzero().flatten().tolist()
    if blind:
        raise ValueError(
            f"token {blind[0]} may attend to nothing in the drawn mask, so its attention cannot "
            "sum to 1. Let it attend to at least one token, such as itself."
        )
    return allowed
