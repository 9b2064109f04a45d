"""The outputs that a ranking compares: runs without a head and the run with all heads.

Each class keeps the output of the run with all heads, and returns the effects by the names of
`bertcore.analysis.heads.importance.MEASURES`.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.compare.before_after import cosine_change, kl_divergence
from bertcore.analysis.compare.task_shift import answer_divergence, tagged_positions
from bertcore.analysis.shared.inputs import mask_positions
from bertcore.model import Model
from bertcore.network.task_reader import TaskReader
from bertcore.tokenizer import Encoding
from bertcore.trace import Trace


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
