"""One input of a fine-tuned model: its words, the input without some of them, and its logits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from bertcore.analysis.shared.inputs import TOKENS_PER_BATCH, Row
from bertcore.finetuning.model import TaskModel
from bertcore.finetuning.tasks import TaskInput
from bertcore.tokenizer.words import words_of

OCCLUSIONS = ("mask", "drop")
"""Ways to remove a word: [MASK] for each of its pieces, or the pieces left out."""


def task_input(model: TaskModel, text: str, text_pair: str | None = None) -> TaskInput:
    """Return a text or pair as the model reads it, cut to the longest that it was trained for.

    Answers in a text are looked for in as much of it as there are positions for.
    """
    longest = model.max_length
    if not model.task.answers_each_token and model.max_seq_length is not None:
        longest = min(longest, model.max_seq_length)
    encoding = model.tokenizer.encode(text, text_pair, max_length=longest)
    if text_pair is not None and model.module.network.config.type_vocab_size < 2:
        encoding = replace(encoding, segment_ids=[0] * len(encoding))
    return TaskInput(text, text_pair, encoding, words_of(encoding, text, text_pair))


def without(
    model: TaskModel, source: TaskInput, words: Collection[int], how: str = OCCLUSIONS[0]
) -> Row:
    """Return the input with some words removed.

    Args:
        model: Gives the mask token and says whether places may be left out.
        source: The input.
        words: Places in `source.words`.
        how: Of OCCLUSIONS.

    Raises:
        ValueError: If `how` is unknown, or "drop" is asked of a model that answers for each place.
    """
    check_occlusion(model, how)
    gone = {i for w in words for i in range(source.words[w].start, source.words[w].end)}
    ids, segments = source.encoding.input_ids, source.encoding.segment_ids
    if how == "mask":
        mask = model.tokenizer.mask_id
        return Row([mask if i in gone else token for i, token in enumerate(ids)], list(segments))
    kept = [i for i in range(len(ids)) if i not in gone]
    return Row([ids[i] for i in kept], [segments[i] for i in kept])


def check_occlusion(model: TaskModel, how: str) -> None:
    """Check that words can be removed this way.

    Raises:
        ValueError: If not.
    """
    if how not in OCCLUSIONS:
        raise ValueError(f"how is {how!r}; expected one of {', '.join(OCCLUSIONS)}.")
    if how == "drop" and model.task.answers_each_token:
        raise ValueError(
            f"a model for the task {model.task.name!r} answers for each token, so none can be "
            "left out. Take words away with 'mask'."
        )


def whole(source: TaskInput) -> Row:
    """Return the input as it is."""
    return Row(list(source.encoding.input_ids), list(source.encoding.segment_ids))


@torch.inference_mode()
def run_task(model: TaskModel, rows: Sequence[Row]) -> list[Tensor]:
    """Return the logits of many inputs, float32 on the CPU, in order.

    Returns:
        Of each input [C] ("sequence") or [T, C] ("token", "features", "span").

    Raises:
        ValueError: If a logit is NaN or infinite.
    """
    module = model.module
    device = module.device
    row_logits: list[Tensor] = [torch.empty(0)] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].input_ids))
    while order:
        longest = len(rows[order[-1]].input_ids)
        count = max(1, TOKENS_PER_BATCH // longest)
        chosen, order = order[-count:], order[:-count]
        ids = torch.full((len(chosen), longest), model.tokenizer.pad_id)
        segments = torch.zeros(len(chosen), longest, dtype=torch.long)
        kept = torch.zeros(len(chosen), longest, dtype=torch.bool)
        for place, i in enumerate(chosen):
            length = len(rows[i].input_ids)
            ids[place, :length] = torch.tensor(rows[i].input_ids)
            segments[place, :length] = torch.tensor(rows[i].segment_ids)
            kept[place, :length] = True
        mask = None if bool(kept.all()) else kept.to(device)
        logits = module(ids.to(device), segments.to(device), mask).float().cpu()
        for place, i in enumerate(chosen):
            one = logits[place]
            row_logits[i] = one[: len(rows[i].input_ids)] if model.task.answers_each_token else one
    require_finite_logits(row_logits)
    return row_logits


def require_finite_logits(logits: Iterable[Tensor]) -> None:
    """Refuse logits that are not finite.

    Raises:
        ValueError: If a number is NaN or infinite.
    """
    if not all(bool(one.isfinite().all()) for one in logits):
        raise ValueError(
            "the model answers NaN or infinity, so there is nothing to explain. The checkpoint's "
            "weights are damaged, or its number format overflows: open it in float32, or choose "
            "another checkpoint."
        )
