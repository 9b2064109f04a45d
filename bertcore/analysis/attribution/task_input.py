"""One input of a fine-tuned model: its words, its logits, and those with words left out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bertcore.analysis.shared.inputs import require_finite_logits
from bertcore.model.likelihood import TOKENS_PER_BATCH, Row
from bertcore.model.tokenizer import Encoding
from bertcore.model.tokenizer.encoding import words_of
from bertcore.training.tasks import TaskInput
from bertcore.training.tasks.answers import Target
from bertcore.training.tasks.inputs import choice_input
from bertcore.training.tasks.model import TaskModel

OCCLUSIONS = ("mask", "drop")
"""Ways to remove a word: replace each of its pieces with [MASK], or drop the pieces."""


def task_input(
    model: TaskModel, text: str, text_pair: str | None = None, *, choices: Sequence[str] = ()
) -> TaskInput:
    """Return a text or pair as the model reads it, truncated to the length it was trained for.

    For "qa", the text is read as far as the positions reach; "choice" takes no second text but
    choices, each with at least one word.

    ValueError if a choice is blank, or the model reads no choices.
    """
    if choices:
        _check_choices(model, text_pair, choices)
        rows = [_encoded(model, text, choice) for choice in choices]
        return choice_input(text, choices, rows, model.tokenizer.template(is_pair=True))
    encoding = _encoded(model, text, text_pair)
    return TaskInput(text, text_pair, encoding, words_of(encoding, text, text_pair))


def _check_choices(model: TaskModel, text_pair: str | None, choices: Sequence[str]) -> None:
    if not model.task.reads_choices:
        raise ValueError(
            f"there are {len(choices)} choices, but the model is for the task "
            f"{model.task.name!r}, which reads a text or a pair. Leave them out."
        )
    if text_pair is not None:
        raise ValueError(
            "there is a second text besides the choices; expected one text. Put both into one."
        )
    blank = next((i for i, choice in enumerate(choices) if not choice.strip()), None)
    if blank is not None:
        raise ValueError(f"choice {blank} is blank. Write at least one word, or leave it out.")


def _encoded(model: TaskModel, text: str, text_pair: str | None) -> Encoding:
    longest = model.max_length
    if not model.task.answers_each_token and model.max_seq_length is not None:
        longest = min(longest, model.max_seq_length)
    return model.tokenizer.encode(text, text_pair, max_length=longest)


def without(
    model: TaskModel, source: TaskInput, words: Collection[int], how: str = OCCLUSIONS[0]
) -> list[Row]:
    """Return the rows of the input (one, or one per choice) with some of `source.words` removed.

    ValueError if `how` is not of OCCLUSIONS, or "drop" is requested for a model that answers for
    each place.
    """
    check_occlusion(model, how)
    gone: list[set[int]] = [set() for _ in source.rows]
    for word in words:
        for number, start, end in source.spans(word):
            gone[number].update(range(start, end))
    rows = []
    for row, places in zip(source.rows, gone, strict=True):
        ids, segments = list(row.input_ids), list(row.segment_ids)
        if how == "mask":
            ids = [model.tokenizer.mask_id if i in places else id for i, id in enumerate(ids)]
        else:
            left = [i for i in range(len(ids)) if i not in places]
            ids, segments = [ids[i] for i in left], [segments[i] for i in left]
        rows.append(Row(ids, segments))
    return rows


def check_occlusion(model: TaskModel, how: str) -> None:
    """Check that words can be removed this way; ValueError if not."""
    if how not in OCCLUSIONS:
        raise ValueError(f"how is {how!r}; expected one of {', '.join(OCCLUSIONS)}.")
    if how == "drop" and model.task.answers_each_token:
        raise ValueError(
            f"a model for the task {model.task.name!r} answers for each token, so none can be "
            "left out. Remove words with 'mask'."
        )


def whole(source: TaskInput) -> list[Row]:
    """Return the rows of the unchanged input."""
    return [Row(list(row.input_ids), list(row.segment_ids)) for row in source.rows]


def run_task(model: TaskModel, inputs: Sequence[Sequence[Row]]) -> list[Tensor]:
    """Return the logits of many inputs, float32 on the CPU, in order.

    For each input, rows of `whole` or `without`: [C] ("sequence"), [N] ("choice") or [T, C]
    ("token", "features", "span").

    ValueError if a logit is NaN or infinite.
    """
    of_rows = iter(_run_rows(model, [row for rows in inputs for row in rows]))
    logits = [torch.cat([next(of_rows) for _ in rows]) for rows in inputs]
    require_finite_logits(logits)
    return logits


@torch.inference_mode()
def _run_rows(model: TaskModel, rows: Sequence[Row]) -> list[Tensor]:
    """Return the logits of each row, [C], [T, C], or of one choice [1]."""
    row_logits: list[Tensor] = [torch.empty(0)] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].input_ids))
    while order:
        count = max(1, TOKENS_PER_BATCH // len(rows[order[-1]].input_ids))
        chosen, order = order[-count:], order[:-count]
        lengths = [len(rows[i].input_ids) for i in chosen]
        batch = [
            padded([rows[i].input_ids for i in chosen], model.tokenizer.pad_id),
            padded([rows[i].segment_ids for i in chosen], 0),
        ]
        if len(set(lengths)) > 1:
            batch.append(padded([[1] * length for length in lengths], 0).bool())
        if model.task.reads_choices:  # each is run alone: an input of one choice
            batch = [part[:, None] for part in batch]
        logits = model.module(*(part.to(model.module.device) for part in batch)).float().cpu()
        for i, length, of_row in zip(chosen, lengths, logits, strict=True):
            row_logits[i] = of_row[:length] if model.task.answers_each_token else of_row
    return row_logits


def padded(lists: Sequence[Sequence[int]], value: int) -> Tensor:
    """Return rows of numbers as a tensor, the shorter ones filled with a value at the end."""
    return nn.utils.rnn.pad_sequence([torch.tensor(numbers) for numbers in lists], True, value)


@dataclass(frozen=True, slots=True)
class Occlusion:
    """The effect of each of W words on a target."""

    importance: NDArray[np.float32]
    """The target's value with the word minus that without it, [W]; NaN for [CLS] and [SEP]."""
    measure: NDArray[np.float32]
    """The probability (or score) without the word, [W]; NaN for [CLS] and [SEP]."""
    value: float
    """The target's value with all words."""
    whole: float
    """The probability (or score) with all words."""


def occlusion(
    model: TaskModel, source: TaskInput, target: Target, *, how: str = OCCLUSIONS[0]
) -> Occlusion:
    """Return how much the target loses when each word is removed in turn.

    Two words with the same meaning compensate for each other: removing one of them changes little.

    ValueError as `without`; or if the answer is NaN.

    Source: Li, Monroe and Jurafsky 2016, "Understanding neural networks through representation
        erasure", section 4; here the difference of log-odds instead of the relative one, and whole
        words.
    """
    words = source.text_words
    rows = [whole(source), *(without(model, source, [word], how) for word in words)]
    logits = run_task(model, rows)
    values = torch.stack([target.value(row_logits[None])[0] for row_logits in logits])
    measures = torch.stack([target.measure(row_logits[None])[0] for row_logits in logits])
    importance = np.full(len(source.words), np.nan, dtype=np.float32)
    remaining = importance.copy()
    importance[words] = (values[0] - values[1:]).numpy()
    remaining[words] = measures[1:].numpy()
    return Occlusion(importance, remaining, float(values[0]), float(measures[0]))
