"""How much each head matters for one input: every head removed alone, few passes for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.before_after import check_finite, cosine_change, kl_divergence
from bertcore.analysis.inputs import TOKENS_PER_BATCH, mask_positions
from bertcore.bert import Bert
from bertcore.interventions import Interventions
from bertcore.network import additive_mask, attention_explicit, attention_fused
from bertcore.tokenizer import Encoding
from bertcore.trace import Trace
from bertcore.what_if import Changes

MEASURES = ("word", "divergence", "next_sentence", "hidden")
"""Names of the effects of `HeadImportance`."""

OnShare = Callable[[float], None]
"""Told which share of the work is done, 0 to 1."""


@dataclass(frozen=True, slots=True)
class HeadImportance:
    """The effect of removing each head alone; arrays are float32 [L, H], NaN where it was off."""

    position: int | None
    """The [MASK] that is read; None if there is none, or no masked-word head."""
    chosen: str | None
    """The word whose probability is followed there."""
    word: NDArray[np.float32] | None
    """Change of ln p(chosen word): below 0, the head helps this word."""
    divergence: NDArray[np.float32] | None
    """KL(with || without the head) of the word's distribution at the [MASK], in nats."""
    next_sentence: NDArray[np.float32] | None
    """Change of the probability that B follows A; None for one text or without that head."""
    hidden: NDArray[np.float32]
    """Mean over tokens of 1 - cosine of the last hidden state with and without the head."""

    def measures(self) -> tuple[str, ...]:
        """Return which of MEASURES this input and checkpoint have."""
        return tuple(name for name in MEASURES if getattr(self, name) is not None)

    def strongest(self, measure: str, count: int = 10) -> list[tuple[int, int, float]]:
        """Return (layer, head, effect) of the heads with the largest effect, either way.

        Raises:
            ValueError: If there is no such measure here.
        """
        if measure not in self.measures():
            raise ValueError(
                f"measure is {measure!r}; this input has {', '.join(self.measures())}."
            )
        effect: NDArray[np.float32] = getattr(self, measure)
        order = np.argsort(-np.abs(effect), axis=None, kind="stable")  # NaN comes last
        places = [divmod(int(place), effect.shape[1]) for place in order[:count]]
        found = [(layer, head, float(effect[layer, head])) for layer, head in places]
        return [entry for entry in found if not np.isnan(entry[2])]


@torch.no_grad()
def rank_heads(
    bert: Bert,
    encoding: Encoding,
    *,
    changes: Changes | None = None,
    position: int | None = None,
    word: str | None = None,
    on_share: OnShare | None = None,
) -> HeadImportance:
    """Remove each head alone and measure what it does to the output.

    Removing a head changes nothing below it, so the run begins at its layer, from the states of
    one trace; the removals of a layer run together. That is about half of the work of whole runs.

    Args:
        encoding: The input, with [MASK] where a word is to be read.
        changes: In force in all runs; heads that are off there are not ranked.
        position: Which [MASK] to read; None: the first.
        word: A piece of the vocabulary to follow there; None: the best one with all heads.

    Raises:
        ValueError: If there is no [MASK] at `position`, `word` is no piece of the vocabulary, or
            the states hold NaN.

    Source: Michel et al. 2019, section 3.2 (ablating one head); one input in place of a test set.
    """
    bert.require_parts()
    changes = changes or Changes()
    trace = bert.trace("", encoding=encoding, changes=changes)
    check_finite(trace)
    prepared = changes.prepare(
        bert.config,
        trace.num_tokens,
        num_in_a=encoding.num_in_a,
        dtype=bert.dtype,
        device=bert.device,
    )
    reader = _Reader(bert, encoding, trace, position, word)
    num_layers, num_heads = bert.config.num_hidden_layers, bert.config.num_attention_heads
    effects = np.full((len(MEASURES), num_layers, num_heads), np.nan, dtype=np.float32)
    whole = num_layers * (num_layers + 1) / 2  # from each layer to the last one
    for layer in range(num_layers):
        heads = [head for head in range(num_heads) if (layer, head) not in changes.heads_off]
        if layer in prepared.skipped:
            effects[:, layer, heads] = 0  # a head that is not used does nothing
        else:
            size = max(1, TOKENS_PER_BATCH // trace.num_tokens)
            for start in range(0, len(heads), size):
                chunk = heads[start : start + size]
                effects[:, layer, chunk] = reader.effects(
                    _without(bert, trace, prepared, layer, chunk)
                )
        if on_share is not None:
            left = (num_layers - layer) * (num_layers - layer - 1) / 2
            on_share(1 - left / whole)
    found = dict(zip(MEASURES, effects, strict=True))
    return HeadImportance(
        position=reader.position,
        chosen=reader.word,
        word=found["word"] if reader.position is not None else None,
        divergence=found["divergence"] if reader.position is not None else None,
        next_sentence=found["next_sentence"] if reader.is_next is not None else None,
        hidden=found["hidden"],
    )


def _without(
    bert: Bert, trace: Trace, prepared: Interventions, layer: int, heads: list[int]
) -> Tensor:
    """Return the last hidden states without each of `heads` of a layer, [B, T, D]."""
    network, device = bert.module, bert.device
    block = network.layers[layer].attention
    context = (trace.attentions[layer].to(device) @ trace.values[layer].to(device))[None]
    if prepared.gates is not None:
        context = context * prepared.gates[layer]
    context = context.repeat(len(heads), 1, 1, 1)  # [B, H, T, K]
    context[range(len(heads)), heads] = 0
    before = trace.hidden_states[layer].to(device)
    hidden: Tensor = network.layers[layer].feed_forward(block.combine(context, before))
    mask = None if prepared.mask is None else additive_mask(prepared.mask[None], hidden.dtype)
    for above in range(layer + 1, len(network.layers)):
        if above not in prepared.skipped:
            hidden = _run_layer(bert, prepared, above, hidden, mask)
    return hidden


def _run_layer(
    bert: Bert, prepared: Interventions, index: int, hidden: Tensor, mask: Tensor | None
) -> Tensor:
    """Return a layer's output, [B, T, D], under the changes."""
    layer = bert.module.layers[index]
    queries, keys, values = layer.attention.project(hidden)
    edit = prepared.edit(index)
    if edit is None:
        context = attention_fused(queries, keys, values, mask)
    else:
        context, _ = attention_explicit(queries, keys, values, mask, None, edit)
    if prepared.gates is not None:
        context = context * prepared.gates[index]
    out: Tensor = layer.feed_forward(layer.attention.combine(context, hidden))
    return out


class _Reader:
    """Reads off the last hidden states what `HeadImportance` holds, against the run with all."""

    def __init__(
        self, bert: Bert, encoding: Encoding, trace: Trace, position: int | None, word: str | None
    ) -> None:
        self.bert = bert
        self.hidden = trace.hidden_states[-1].to(bert.device)
        self.position = _mask_position(bert, encoding, position)
        self.word: str | None = None
        if self.position is not None:
            self.log_p = self._word_log_p(self.hidden[None])[0]
            self.word_id = self._word_id(word)
            self.word = bert.tokenizer.id_to_token(self.word_id)
        is_pair = 1 in encoding.text_ids
        self.is_next: Tensor | None = None
        if bert.module.nsp is not None and is_pair:
            self.is_next = self._is_next(self.hidden[None])[0]

    def effects(self, hidden: Tensor) -> NDArray[np.float32]:
        """Return the effects in the order of MEASURES, [4, B], of states [B, T, D]."""
        out = torch.full((len(MEASURES), len(hidden)), torch.nan)
        if self.position is not None:
            log_p = self._word_log_p(hidden)
            out[0] = (log_p[:, self.word_id] - self.log_p[self.word_id]).cpu()
            out[1] = kl_divergence(self.log_p, log_p).cpu()
        if self.is_next is not None:
            out[2] = (self._is_next(hidden) - self.is_next).cpu()
        out[3] = cosine_change(self.hidden.expand_as(hidden), hidden).mean(-1).cpu()
        return out.numpy()

    def _word_log_p(self, hidden: Tensor) -> Tensor:
        logits = self.bert.module.mlm_logits(hidden[:, self.position])
        return torch.log_softmax(logits.float(), dim=-1)

    def _is_next(self, hidden: Tensor) -> Tensor:
        return torch.softmax(self.bert.module.nsp_logits(hidden).float(), dim=-1)[:, 0]

    def _word_id(self, word: str | None) -> int:
        tokenizer = self.bert.tokenizer
        if word is None:
            return int(self.log_p[: tokenizer.vocab_size].argmax())
        found = tokenizer.token_to_id(word)
        if found is None:
            best = tokenizer.id_to_token(self._word_id(None))
            raise ValueError(
                f"{word!r} is no piece of this checkpoint's vocabulary, so it has no probability. "
                f"Choose one that is, such as {best!r}, its best guess."
            )
        return found


def _mask_position(bert: Bert, encoding: Encoding, position: int | None) -> int | None:
    """Return the [MASK] to read, or None if there is none to choose from."""
    masks = mask_positions(encoding, bert.tokenizer.mask_id)
    if position is not None and position not in masks:
        raise ValueError(f"token {position} is not a [MASK]. Choose one of {masks}.")
    if bert.module.mlm is None or not masks:
        return None
    return masks[0] if position is None else position
