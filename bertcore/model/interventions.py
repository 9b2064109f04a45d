"""Changes to a run of BERT: disabled parts, and other attention patterns.

`Changes` describes them; `Changes.prepare` checks them against a network and an input, and returns
the `Interventions` that `trace_network` applies while it runs. The weights stay unchanged.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import torch
from torch import Tensor

from bertcore.model.architecture.config import BertConfig
from bertcore.model.network.attention import AttentionBlock, AttentionFunction, attention_fused

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
    """Return the rectangles for `Changes.blocked` that describe a mask, bool [T, T].

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


@dataclass(frozen=True, slots=True)
class Interventions:
    """Changes prepared for one network and one input of T tokens, on the network's device."""

    mask: Tensor | None
    """True = attend, [T, T]; None: all attend to all."""
    gates: Tensor | None
    """Factor of each head's context, [L, H, 1, 1], 0 or 1; None: all on."""
    skipped: frozenset[int]
    """Layers that pass their input on unchanged."""

    def attention_of(self, layer: int) -> AttentionFunction:
        """Return a layer's attention function under the changes; the mask comes with each call."""

        def attend(
            queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout: float
        ) -> Tensor:
            context = attention_fused(queries, keys, values, mask, dropout)
            return context if self.gates is None else context * self.gates[layer]

        return attend


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Changes:
    """The differences from the plain run; hashable. Layers, heads and tokens count from 0.

    Source: heads off as in Michel et al. 2019, section 2.1 (the mask variable of a head is 0); the
    patterns of Dong et al. 2019 (UniLM), section 2.3.
    """

    heads_off: frozenset[tuple[int, int]] = frozenset()
    """(layer, head) of heads whose context is 0 before the output projection."""
    layers_skipped: frozenset[int] = frozenset()
    """Layers that pass their input on unchanged: no attention, no feed-forward, no LayerNorm."""
    pattern: str = PATTERNS[0]
    """One of PATTERNS."""
    prefix_length: int | None = None
    """Tokens of the prefix, 0 to T, for the pattern "prefix"; None: [CLS], text A and its [SEP]."""
    blocked: tuple[tuple[int, int, int, int], ...] = ()
    """Which tokens may not attend to which, for "drawn": a `Block` each; see `blocks_of`."""

    def __bool__(self) -> bool:
        """Return whether anything differs from the defaults."""
        return any(getattr(self, field.name) != field.default for field in fields(self))

    def __repr__(self) -> str:
        """Return a Python expression for it, with only what differs from the defaults."""
        return f"Changes({', '.join(self._arguments())})"

    def _arguments(self) -> Iterable[str]:
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, frozenset):
                value = f"frozenset({sorted(value)})"
            elif isinstance(value, tuple):
                value = tuple(tuple(entry) for entry in value)  # without the names: no imports
            yield f"{field.name}={value}" if field.name != "pattern" else f"pattern={value!r}"

    def prepare(
        self,
        config: BertConfig,
        num_tokens: int,
        *,
        num_in_a: int,
        blocks: Sequence[AttentionBlock],
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> Interventions:
        """Check the changes and prepare them for a network and an input.

        Args:
            num_in_a: Number of tokens of [CLS], text A and its [SEP]: the prefix if no length is
                given.
            blocks: Self-attention of each layer; its own masks still apply.

        ValueError if a layer, head or token does not exist, the pattern is unknown, or a token
        may attend to nothing.
        """
        check_heads(self.heads_off, config)
        layers = config.num_hidden_layers
        for layer in sorted(self.layers_skipped):
            if not 0 <= layer < layers:
                raise ValueError(
                    f"layer {layer} cannot be skipped; this checkpoint has 0 to {layers - 1}."
                )
        gates = None
        if self.heads_off:
            gates = torch.ones(config.num_hidden_layers, config.num_attention_heads, 1, 1)
            for layer, head in self.heads_off:
                gates[layer, head] = 0
            gates = gates.to(device, dtype)
        prefix_length = num_in_a if self.prefix_length is None else self.prefix_length
        mask = pattern_mask(self.pattern, num_tokens, prefix_length, self.blocked)
        if mask is not None:
            mask = mask.to(device)
            for layer, block in enumerate(blocks):
                own = block.allowed(num_tokens)
                if own is not None:
                    check_seeing(mask, own, layer)
        return Interventions(mask=mask, gates=gates, skipped=self.layers_skipped)

    def silent_heads(self, config: BertConfig) -> frozenset[tuple[int, int]]:
        """Return (layer, head) of heads that contribute nothing: off, or in a skipped layer."""
        heads = range(config.num_attention_heads)
        return self.heads_off | {(layer, head) for layer in self.layers_skipped for head in heads}


def every_head(config: BertConfig) -> list[tuple[int, int]]:
    """Return all (layer, head) of a network, in order."""
    layers, heads = range(config.num_hidden_layers), range(config.num_attention_heads)
    return [(layer, head) for layer in layers for head in heads]


def parse_head(text: str) -> tuple[int, int]:
    """Return (layer, head) of a head written as layer.head.

    ValueError if it does not have this form.

    >>> parse_head("0.3")
    (0, 3)
    """
    layer, dot, head = text.strip().partition(".")
    if not (dot and layer.isdecimal() and head.isdecimal() and len(text) < 20):
        raise ValueError(f"{text[:40]!r} is not a head; write layer.head, such as 0.3.")
    return int(layer), int(head)


def check_heads(heads: Iterable[tuple[int, int]], config: BertConfig) -> None:
    """Check that (layer, head) pairs exist; ValueError if one does not."""
    layers, count = config.num_hidden_layers, config.num_attention_heads
    for layer, head in sorted(heads):
        if not (0 <= layer < layers and 0 <= head < count):
            raise ValueError(
                f"there is no head {layer}.{head}; this checkpoint has layers 0 to {layers - 1} "
                f"and heads 0 to {count - 1}. Write layer.head, such as 0.{count - 1}."
            )
