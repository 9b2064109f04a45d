"""Head importance for one input: the effect of removing each head, in a few batched passes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.compare.before_after import check_finite, cosine_change, kl_divergence
from bertcore.analysis.compare.task_shift import answer_divergence, readable_task, tagged_positions
from bertcore.analysis.shared.inputs import mask_positions, masked_encoding, one_piece
from bertcore.model.bert import Bert, with_parts
from bertcore.model.interventions import Changes, Interventions
from bertcore.model.likelihood import TOKENS_PER_BATCH
from bertcore.model.model import Model
from bertcore.model.network import additive_mask
from bertcore.model.network.task_reader import TaskReader
from bertcore.model.tokenizer import Encoding
from bertcore.model.trace import Trace

MEASURES = ("word", "divergence", "label", "answer", "next_sentence", "hidden")
"""Names of the effects of `HeadImportance`."""

OnFraction = Callable[[float], None]
"""Called with the fraction of the work done, 0 to 1."""
Effect = Callable[[Tensor], Tensor]
"""Last hidden states [B, T, D] of runs without a head -> what changed, [B]."""


@dataclass(frozen=True, slots=True)
class HeadImportance:
    """The effect of removing each head alone; float32 [L, H], NaN for heads that were off."""

    position: int | None
    """Position of the [MASK] that is read; None without one, or without a masked-word head."""
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
    task: str | None = None
    """The kind of the task head that was read, of READER_KINDS; None without one."""
    chosen_label: str | None = None
    """The class or label whose probability is followed; None if the task has none for a text."""
    label: NDArray[np.float32] | None = None
    """Change of p(chosen label), or of the score of a regression; None for tags and spans."""
    answer: NDArray[np.float32] | None = None
    """KL(with || without the head) of the task head's whole answer, in nats: all classes, the mean
    over the tagged tokens, start and end together; None for a score."""

    def measures(self) -> tuple[str, ...]:
        """Return which of MEASURES this input and checkpoint have."""
        return tuple(name for name in MEASURES if getattr(self, name) is not None)

    def strongest(self, measure: str, count: int = 10) -> list[tuple[int, int, float]]:
        """Return (layer, head, effect) of the heads with the largest effect in either direction.

        `measure` is one of `measures()`.
        """
        effect: NDArray[np.float32] = getattr(self, measure)
        order = np.argsort(-np.abs(effect), axis=None, kind="stable")  # NaN comes last
        places = [divmod(int(place), effect.shape[1]) for place in order[:count]]
        entries = [(layer, head, float(effect[layer, head])) for layer, head in places]
        return [entry for entry in entries if not np.isnan(entry[2])]


@torch.no_grad()
def rank_heads(
    bert: Model,
    text_a: str,
    text_b: str | None = None,
    masked: Sequence[int] = (),
    changes: Changes = Changes(),  # noqa: B008  # frozen
    position: int | None = None,
    word: str | None = None,
    label: str | None = None,
    *,
    on_fraction: OnFraction | None = None,
) -> HeadImportance:
    """Remove each head alone and measure the effect on the output.

    Removing a head changes nothing below it, so the run begins at its layer, from the states of one
    trace; the removals of a layer run together. That is about half the work of full runs.

    Args:
        changes: Changes applied in all runs; heads turned off there are not ranked.
        position: Position of the [MASK] to read; None: the first one.
        word: A piece of the vocabulary to follow there; None: the best one with all heads.
        label: The class or label of the checkpoint's task head to follow; None: the best one with
            all heads.

    ValueError if a position does not exist, there is no [MASK] at `position`, `word` is not a piece
    of the vocabulary, `label` is not one of the task's, or the states hold NaN.

    Source: Michel et al. 2019, section 3.2 (ablating one head); one input instead of a test set.
    """
    task, _ = readable_task(bert)
    bert = with_parts(bert)
    encoding = masked_encoding(bert, text_a, text_b, masked)
    trace = bert.trace("", encoding=encoding, changes=changes)
    check_finite(trace)
    prepared = changes.prepare(
        bert.config,
        trace.num_tokens,
        num_in_a=encoding.num_in_a,
        blocks=[layer.attention for layer in bert.module.layers],
        dtype=bert.dtype,
        device=bert.device,
    )
    position = _mask_position(bert, encoding, position)
    read, chosen = _pretraining_readings(
        bert, encoding, trace, position, one_piece(bert, word or "")
    )
    chosen_label = None
    if task is not None:
        of_task, chosen_label = _task_readings(bert, task, trace, label)
        read |= of_task
    num_layers, num_heads = bert.config.num_hidden_layers, bert.config.num_attention_heads
    effects = {n: np.full((num_layers, num_heads), np.nan, dtype=np.float32) for n in read}
    whole = num_layers * (num_layers + 1) / 2  # from each layer to the last one
    for layer in range(num_layers):
        heads = [head for head in range(num_heads) if (layer, head) not in changes.heads_off]
        size = max(1, TOKENS_PER_BATCH // trace.num_tokens)
        for start in range(0, len(heads), size):
            chunk = heads[start : start + size]
            if layer in prepared.skipped:
                states = None  # an unused head does nothing
            else:
                states = _without(bert, trace, prepared, layer, chunk)
            for name, effect in read.items():
                values = 0 if states is None else effect(states).float().cpu().numpy()
                effects[name][layer, chunk] = values
        if on_fraction is not None:
            left = (num_layers - layer) * (num_layers - layer - 1) / 2
            on_fraction(1 - left / whole)
    return HeadImportance(
        position=position,
        chosen=chosen,
        task=None if task is None else task.kind,
        chosen_label=chosen_label,
        **{name: effects.get(name) for name in MEASURES},  # type: ignore[arg-type]
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
    above = [i for i in range(layer + 1, len(network.layers)) if i not in prepared.skipped]
    return network.run_layers(hidden, mask, layers=above, attention_of=prepared.attention_of)


def _pretraining_readings(
    bert: Model, encoding: Encoding, trace: Trace, position: int | None, word: str | None
) -> tuple[dict[str, Effect], str | None]:
    """Return the effects on words, next sentence and the states, and the word that is followed."""
    last = trace.hidden_states[-1].to(bert.device)
    read: dict[str, Effect] = {}
    if position is not None:
        tokenizer = bert.tokenizer

        def log_p(hidden: Tensor) -> Tensor:
            return bert.module.mlm_logits(hidden[:, position]).float().log_softmax(-1)

        usual = log_p(last[None])[0]
        best = int(usual[: tokenizer.vocab_size].argmax())
        word_id = best if word is None else tokenizer.token_to_id(word)
        if word_id is None:
            raise ValueError(
                f"{word!r} is not a piece of this checkpoint's vocabulary, so it has no "
                f"probability. Choose one that is, such as {tokenizer.id_to_token(best)!r}, its "
                "best guess."
            )
        word = tokenizer.id_to_token(word_id)
        read["word"] = lambda hidden: log_p(hidden)[:, word_id] - usual[word_id]
        read["divergence"] = lambda hidden: kl_divergence(usual, log_p(hidden))
    if "nsp" in bert.capabilities and 1 in encoding.text_ids:

        def is_next(hidden: Tensor) -> Tensor:
            return bert.module.nsp_logits(hidden).float().softmax(-1)[:, 0]

        follows = is_next(last[None])[0]
        read["next_sentence"] = lambda hidden: is_next(hidden) - follows
    read["hidden"] = lambda hidden: cosine_change(last.expand_as(hidden), hidden).mean(-1)
    return read, None if position is None else word


def _task_readings(
    bert: Model, task: TaskReader, trace: Trace, label: str | None
) -> tuple[dict[str, Effect], str | None]:
    """Return the effects on a task head's answer, and the label that is followed."""
    last = trace.hidden_states[-1].to(bert.device)[None]
    positions = tagged_positions(trace.text_ids, trace.word_ids)
    names = task.labels if task.kind in ("classes", "labels") else ()
    if label is not None and label not in names:
        has = f"this checkpoint has {', '.join(map(repr, names[:10]))}"
        raise ValueError(
            f"{label!r} is not a label to follow; "
            f"{has if names else 'a score, tags or a span have none'}."
        )
    if task.kind == "score":

        def score(hidden: Tensor) -> Tensor:
            return task.logits(bert.module, hidden)[:, 0].float()

        own = score(last)
        return {"label": lambda hidden: score(hidden) - own}, None

    def log_p(hidden: Tensor) -> Tensor:
        return task.log_probabilities(bert.module, hidden, positions)

    usual = log_p(last)[0]
    read: dict[str, Effect] = {}
    if len(usual):  # a text without a word has no tags
        read["answer"] = lambda hidden: answer_divergence(usual, log_p(hidden), task.kind)
    if names:
        best = usual[:, 0] if task.kind == "labels" else usual[0]
        label = label or names[int(best.argmax())]
        place = names.index(label)

        def p_of_label(hidden: Tensor) -> Tensor:
            p = log_p(hidden).exp()
            return p[..., place, 0] if task.kind == "labels" else p[..., 0, place]

        p = p_of_label(last)
        read["label"] = lambda hidden: p_of_label(hidden) - p
    return read, label


def _mask_position(bert: Model, encoding: Encoding, position: int | None) -> int | None:
    """Return the [MASK] to read, or None if there is none to choose from."""
    masks = mask_positions(encoding, bert.tokenizer.mask_id)
    if position is not None and position not in masks:
        raise ValueError(f"token {position} is not a [MASK]. Choose one of {masks}.")
    if "mlm" not in bert.capabilities or not masks:
        return None
    return masks[0] if position is None else position
