"""The effect of a change on a fine-tuned head: classes, tags, a score, a span."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.analysis.compare.before_after import kl_divergence
from bertcore.base.memory import out_of_memory
from bertcore.model.model import Model
from bertcore.model.network.task_reader import TaskReader
from bertcore.model.trace import Trace
from bertcore.training.tasks.model import read_task_head

SPAN_NAMES = ("start", "end")


@dataclass(frozen=True, slots=True)
class TaskShift:
    """A task head's answers before and after: N answers with C choices each."""

    kind: str
    """One of READER_KINDS."""
    choices: tuple[str, ...]
    """The C classes or tags; for "span" the tokens, for "score" the single word "score"."""
    names: tuple[str, ...]
    """N names: for "tags" the words as in the text, for "span" start and end, else one empty name.
    """
    positions: tuple[int | None, ...]
    """For "tags" the token of each answer, [N]; else None."""
    before: NDArray[np.float32]
    """Probabilities, [N, C]; rows sum to 1, except for "labels". For "score" the score, [1, 1]."""
    after: NDArray[np.float32]
    divergence: NDArray[np.float32]
    """KL(before || after) of each answer in nats, [N]; for "labels" the sum over the labels, for
    "score" NaN."""

    def changed(self) -> list[int]:
        """Return the answers whose best choice changed; for "labels", whose set changed."""
        if self.kind == "score":
            return []
        if self.kind == "labels":
            return [0] if bool(((self.before > 0.5) != (self.after > 0.5)).any()) else []
        return np.flatnonzero(self.before.argmax(-1) != self.after.argmax(-1)).tolist()


def readable_task(bert: Model) -> tuple[TaskReader | None, str]:
    """Return the checkpoint's task head, or None, and why it cannot be read if there is one."""
    try:
        return read_task_head(bert), ""
    except (ValueError, RuntimeError) as error:
        if out_of_memory(error):
            raise
        return None, str(error)


@torch.no_grad()
def compare_task(bert: Model, reader: TaskReader, before: Trace, after: Trace) -> TaskShift:
    """Compare a task head's answers to two runs of the same tokens, whose states are finite.

    ValueError if the tokens differ.
    """
    if before.input_ids != after.input_ids:
        raise ValueError("the two runs have different tokens; run the same input twice.")
    states = [trace.hidden_states[-1].to(bert.device)[None] for trace in (before, after)]
    if reader.kind == "score":
        old, new = (reader.logits(bert.module, hidden).float().cpu().numpy() for hidden in states)
        none = np.full(1, np.nan, dtype=np.float32)
        return TaskShift("score", ("score",), ("",), (None,), old, new, none)
    positions = tagged_positions(before.text_ids, before.word_ids) if reader.kind == "tags" else ()
    log_p, log_q = (reader.log_probabilities(bert.module, h, positions)[0].cpu() for h in states)
    divergence = kl_divergence(log_p, log_q)
    if reader.kind == "labels":  # [C, 2] (yes, no) -> [1, C]
        log_p, log_q = log_p[:, 0][None], log_q[:, 0][None]
        divergence = divergence.sum()[None]
    names: tuple[str, ...] = ("",)
    if reader.kind == "tags":
        names = tuple(_word(before, position) for position in positions)
    elif reader.kind == "span":
        names = SPAN_NAMES
    return TaskShift(
        kind=reader.kind,
        choices=tuple(before.tokens) if reader.kind == "span" else reader.labels,
        names=names,
        positions=tuple(positions) or (None,) * len(names),
        before=log_p.exp().numpy(),
        after=log_q.exp().numpy(),
        divergence=divergence.numpy(),
    )


def tagged_positions(text_ids: Sequence[int], word_ids: Sequence[int]) -> list[int]:
    """Return the first token of each word of the texts; a tagger is trained on these alone.

    Source: Devlin et al. 2019, section 5.3.
    """
    words = list(word_ids)
    return [
        position
        for position, text_id in enumerate(text_ids)
        if text_id >= 0 and words.index(words[position]) == position
    ]


def _word(trace: Trace, first: int) -> str:
    """Return the word that begins at a token."""
    word, end = trace.word_ids[first], first + 1
    while end < trace.num_tokens and trace.word_ids[end] == word:
        end += 1
    return trace.word_text(first, end)


def answer_divergence(log_p: Tensor, log_q: Tensor, kind: str) -> Tensor:
    """Return one KL divergence in nats, [...], for all answers, from log p and log q, [..., N, M].

    The mean over the tagged tokens; otherwise the sum over the answers: the one of the classes,
    those of all labels, or those of start and end.
    """
    each = kl_divergence(log_p, log_q)
    return each.mean(-1) if kind == "tags" else each.sum(-1)
