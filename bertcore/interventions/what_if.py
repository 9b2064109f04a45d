"""Changes to a run of BERT: disabled parts, other attention patterns, edited ids and weights.

`Changes` describes the changes; `Changes.prepare` checks them against a network and an input, and
returns what `trace_network` applies while it runs. The weights stay unchanged.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import torch

from bertcore.architecture.config import BertConfig
from bertcore.interventions.attention_patterns import PATTERNS, check_seeing, pattern_mask
from bertcore.interventions.hooks import Cell, Interventions
from bertcore.network.attention import AttentionBlock


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Changes:
    """The differences from the plain run; hashable. Layers, heads and tokens count from 0.

    Source: heads off as in Michel et al. 2019, section 2.1 (the mask variable of a head is 0); the
    patterns of Dong et al. 2019 (UniLM), section 2.3. Editing cells is ours.
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
    segment_ids: tuple[tuple[int, int], ...] = ()
    """(token, its new segment id)."""
    position_ids: tuple[tuple[int, int], ...] = ()
    """(token, its new position id)."""
    cells: tuple[tuple[int, int, int, int, float], ...] = ()
    """Attention weights set by hand, a `Cell` each; they win over the pattern."""

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
            config: The network's shape.
            num_tokens: T.
            num_in_a: Number of tokens of [CLS], text A and its [SEP]: the prefix if no length is
                given.
            blocks: Self-attention of each layer; its own masks still apply.

        ValueError if a layer, head or token does not exist, the pattern is unknown, a token may
        attend to nothing, or the weights set in a row are impossible.
        """
        self._check(config, num_tokens)
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
        cells = [Cell(*cell) for cell in self.cells]
        return Interventions(
            mask=mask,
            gates=gates,
            skipped=self.layers_skipped,
            cells={
                layer: tuple(cell for cell in cells if cell.layer == layer)
                for layer in sorted({cell.layer for cell in cells})
            },
        )

    def silent_heads(self, config: BertConfig) -> frozenset[tuple[int, int]]:
        """Return (layer, head) of heads that contribute nothing: off, or in a skipped layer."""
        heads = range(config.num_attention_heads)
        return self.heads_off | {(layer, head) for layer in self.layers_skipped for head in heads}

    def apply_to_ids(self, name: str, ids: Sequence[int]) -> list[int]:
        """Return ids with the edits of `name` ("segment_ids" or "position_ids"), [T].

        ValueError if a token does not exist.
        """
        out = list(ids)
        for token, new in getattr(self, name):
            _check_token(token, len(out), name)
            out[token] = new
        return out

    def _check(self, config: BertConfig, num_tokens: int) -> None:
        layers, heads = config.num_hidden_layers, config.num_attention_heads
        check_heads(self.heads_off, config)
        for layer in sorted(self.layers_skipped):
            if not 0 <= layer < layers:
                raise ValueError(
                    f"layer {layer} cannot be skipped; this checkpoint has 0 to {layers - 1}."
                )
        for values in self.cells:
            cell = Cell(*values)
            if not (0 <= cell.layer < layers and 0 <= cell.head < heads):
                raise ValueError(
                    f"cells names head {cell.layer}.{cell.head}; this checkpoint has layers 0 to "
                    f"{layers - 1} and heads 0 to {heads - 1}."
                )
            for token in (cell.source, cell.target):
                _check_token(token, num_tokens, "cells")
            if not 0 <= cell.weight <= 1:
                raise ValueError(
                    f"an attention weight of {cell.weight} was given; expected 0 to 1."
                )


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


def _check_token(token: int, num_tokens: int, name: str) -> None:
    if not 0 <= token < num_tokens:
        raise ValueError(
            f"{name} refers to token {token}; the input has {num_tokens} tokens, 0 to "
            f"{num_tokens - 1}."
        )
