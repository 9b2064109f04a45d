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
from bertcore.bert import Bert, with_parts
from bertcore.interventions import Changes, Interventions
from bertcore.likelihood import TOKENS_PER_BATCH
from bertcore.model import Model
from bertcore.network import additive_mask
from bertcore.network.task_reader import TaskReader
from bertcore.tokenizer import Encoding
from bertcore.trace import Trace

MEASURES = ("word", "divergence", "label", "answer", "next_sentence", "hidden")
"""Names of the effects of `HeadImportance`."""

OnFraction = Callable[[float], None]
"""Called with the fraction of the work done, 0 to 1."""


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

        Args:
            measure: One of `measures()`.
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
        masked: Positions that are replaced by [MASK].
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
    reader = PretrainingReadings(bert, encoding, trace, position, one_piece(bert, word or ""))
    answers = None if task is None else TaskReadings(bert, task, trace, label)
    readers: list[PretrainingReadings | TaskReadings] = [reader]
    if answers is not None:
        readers.append(answers)
    num_layers, num_heads = bert.config.num_hidden_layers, bert.config.num_attention_heads
    effects = np.full((len(MEASURES), num_layers, num_heads), np.nan, dtype=np.float32)
    whole = num_layers * (num_layers + 1) / 2  # from each layer to the last one
    for layer in range(num_layers):
        heads = [head for head in range(num_heads) if (layer, head) not in changes.heads_off]
        if layer in prepared.skipped:
            effects[:, layer, heads] = 0  # an unused head does nothing
        else:
            size = max(1, TOKENS_PER_BATCH // trace.num_tokens)
            for start in range(0, len(heads), size):
                chunk = heads[start : start + size]
                states = _without(bert, trace, prepared, layer, chunk)
                for reading in readers:
                    for name, values in reading.effects(states).items():
                        effects[MEASURES.index(name), layer, chunk] = values
        if on_fraction is not None:
            left = (num_layers - layer) * (num_layers - layer - 1) / 2
            on_fraction(1 - left / whole)
    by_measure = dict(zip(MEASURES, effects, strict=True))
    return HeadImportance(
        position=reader.position,
        chosen=reader.word,
        word=by_measure["word"] if reader.position is not None else None,
        divergence=by_measure["divergence"] if reader.position is not None else None,
        next_sentence=by_measure["next_sentence"] if reader.is_next is not None else None,
        hidden=by_measure["hidden"],
        task=None if task is None else task.kind,
        chosen_label=None if answers is None else answers.label,
        label=by_measure["label"] if answers is not None and answers.has_label else None,
        answer=by_measure["answer"] if answers is not None and answers.has_answer else None,
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


class PretrainingReadings:
    """Reads words, next sentence and the states themselves."""

    def __init__(
        self, bert: Model, encoding: Encoding, trace: Trace, position: int | None, word: str | None
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
        if "nsp" in bert.capabilities and is_pair:
            self.is_next = self._is_next(self.hidden[None])[0]

    def effects(self, hidden: Tensor) -> dict[str, NDArray[np.float32]]:
        """Return the effects by name, each [B], of states [B, T, D]."""
        out: dict[str, Tensor] = {}
        if self.position is not None:
            log_p = self._word_log_p(hidden)
            out["word"] = log_p[:, self.word_id] - self.log_p[self.word_id]
            out["divergence"] = kl_divergence(self.log_p, log_p)
        if self.is_next is not None:
            out["next_sentence"] = self._is_next(hidden) - self.is_next
        out["hidden"] = cosine_change(self.hidden.expand_as(hidden), hidden).mean(-1)
        return {name: values.float().cpu().numpy() for name, values in out.items()}

    def _word_log_p(self, hidden: Tensor) -> Tensor:
        logits = self.bert.module.mlm_logits(hidden[:, self.position])
        return torch.log_softmax(logits.float(), dim=-1)

    def _is_next(self, hidden: Tensor) -> Tensor:
        return torch.softmax(self.bert.module.nsp_logits(hidden).float(), dim=-1)[:, 0]

    def _word_id(self, word: str | None) -> int:
        tokenizer = self.bert.tokenizer
        if word is None:
            return int(self.log_p[: tokenizer.vocab_size].argmax())
        word_id = tokenizer.token_to_id(word)
        if word_id is None:
            best = tokenizer.id_to_token(self._word_id(None))
            raise ValueError(
                f"{word!r} is not a piece of this checkpoint's vocabulary, so it has no "
                f"probability. Choose one that is, such as {best!r}, its best guess."
            )
        return word_id


class TaskReadings:
    """Reads a task head's answer."""

    def __init__(self, bert: Model, task: TaskReader, trace: Trace, label: str | None) -> None:
        self.bert, self.task = bert, task
        self.has_label = task.kind in ("classes", "labels", "score")
        self.has_answer = task.kind != "score"
        self.positions = tagged_positions(trace.text_ids, trace.word_ids)
        hidden = trace.hidden_states[-1].to(bert.device)[None]
        if self.has_answer:
            self.log_p = self._log_p(hidden)[0]
        self.label = self._choose(label)
        if self.has_label:
            self.value = self._value(hidden)[0]

    def effects(self, hidden: Tensor) -> dict[str, NDArray[np.float32]]:
        """Return the effects by name, each [B], of states [B, T, D]."""
        out: dict[str, Tensor] = {}
        if self.has_label:
            out["label"] = self._value(hidden) - self.value
        # A text without a word has no tags.
        if self.has_answer and len(self.log_p):
            log_p = self._log_p(hidden)
            out["answer"] = answer_divergence(self.log_p, log_p, self.task.kind)
        return {name: values.float().cpu().numpy() for name, values in out.items()}

    def _log_p(self, hidden: Tensor) -> Tensor:
        return self.task.log_probabilities(self.bert.module, hidden, self.positions)

    def _value(self, hidden: Tensor) -> Tensor:
        """Return p(chosen label), or the score, [B]."""
        if self.task.kind == "score":
            return self.task.logits(self.bert.module, hidden)[:, 0].float()
        return self._of_label(self._log_p(hidden)).exp()

    def _of_label(self, log_p: Tensor) -> Tensor:
        assert self.label is not None
        place = self.task.labels.index(self.label)
        return log_p[..., place, 0] if self.task.kind == "labels" else log_p[..., 0, place]

    def _choose(self, label: str | None) -> str | None:
        names = self.task.labels if self.task.kind in ("classes", "labels") else ()
        if label is not None and label not in names:
            has = f"this checkpoint has {', '.join(map(repr, names[:10]))}"
            raise ValueError(
                f"{label!r} is not a label to follow; "
                f"{has if names else 'a score, tags or a span have none'}."
            )
        if label is not None or not names:
            return label
        best = self.log_p[:, 0] if self.task.kind == "labels" else self.log_p[0]
        return names[int(best.argmax())]


def _mask_position(bert: Model, encoding: Encoding, position: int | None) -> int | None:
    """Return the [MASK] to read, or None if there is none to choose from."""
    masks = mask_positions(encoding, bert.tokenizer.mask_id)
    if position is not None and position not in masks:
        raise ValueError(f"token {position} is not a [MASK]. Choose one of {masks}.")
    if "mlm" not in bert.capabilities or not masks:
        return None
    return masks[0] if position is None else position
