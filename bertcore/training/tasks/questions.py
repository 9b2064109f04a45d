"""Extractive question answering: windows over a long text, and answers from their logits."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.data.examples import QuestionExample
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.tasks.rows import RowBuilder, Rows

MAX_QUESTION_TOKENS = 64
MAX_ANSWER_TOKENS = 30
NUM_BEST = 20
_NO_LIMIT = 10**9


class Window(NamedTuple):
    """One row: a part of a question's text."""

    question: int
    first_token: int
    """Token of the text that the window begins with."""
    num_tokens: int
    """Tokens of the text in it."""
    row_offset: int
    """Place of its first token in the row, behind [CLS] question [SEP]."""
    cls_place: int = 0
    """Place of [CLS] in the row, which stands for no answer."""


@dataclass(slots=True)
class Questions:
    """The questions of a data set and how they were split into rows."""

    num: int = 0
    windows: list[Window] = field(default_factory=list)
    """One for each row; [] for training."""
    examples: list[QuestionExample] = field(default_factory=list)
    """[] for training."""
    offsets: list[NDArray[np.int32]] = field(default_factory=list)
    """Characters of each token of each question's text, [T, 2]."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The model's answer to a question."""

    text: str
    """"" if it has no answer with a piece of text."""
    score: float
    """Sum of the start's and the end's logit."""
    null_score: float
    """The same sum at [CLS], the least over all windows: the score of no answer."""

    @property
    def null_difference(self) -> float:
        """Score of no answer minus that of the answer; above the threshold there is no answer."""
        return self.null_score - self.score


def question_rows(
    examples: Iterable[QuestionExample],
    tokenizer: Tokenizer,
    *,
    max_length: int,
    doc_stride: int = 128,
    is_train: bool,
) -> tuple[Rows, Questions]:
    """Split each text into windows after its question: [CLS] question [SEP] window [SEP].

    From one window's start to the next's there are `doc_stride` tokens, at least 1. Targets are the
    first and last token of the answer (the first one given), or [CLS] if the window does not
    contain all of it, or if there is none. ValueError if there is no room for text after a
    question.

    Source: Devlin et al. 2019, sections 4.2 and 4.3; google-research/bert run_squad.py. Differs:
        answers are located by characters, so they are returned exactly as in the text.
    """
    if doc_stride < 1:
        raise ValueError(f"doc_stride is {doc_stride}; expected at least 1.")
    builder = RowBuilder(tokenizer, max_length)
    template = tokenizer.template(is_pair=True)
    num_before = len(template.before) + len(template.between)
    questions = Questions()
    targets = array("i")
    last: tuple[str, list[int], NDArray[np.int32]] | None = None
    for example in examples:
        if last is None or last[0] != example.context:  # many questions share a text
            last = (example.context, *_tokenize(example.context, tokenizer))
        _, context_ids, offsets = last
        (question_ids,) = tokenizer.encode_ids([example.question], num_read=MAX_QUESTION_TOKENS)
        question_ids = question_ids[:MAX_QUESTION_TOKENS]
        room = max_length - len(question_ids) - template.num_special
        if room < 1:
            raise ValueError(
                f"max_seq_length is {max_length}, which leaves no room for text after a question "
                f"of {len(question_ids)} tokens. Raise it."
            )
        span = _token_span(example, offsets)
        for start, size in _cut(len(context_ids), room, doc_stride):
            builder.add(question_ids, context_ids[start : start + size])
            null = template.cls_place(len(question_ids) + size + template.num_special)
            shift = num_before + len(question_ids) - start
            inside = span is not None and start <= span[0] and span[1] < start + size
            targets.extend([span[0] + shift, span[1] + shift] if inside and span else [null, null])
            if not is_train:
                questions.windows.append(Window(questions.num, start, size, shift + start, null))
        if not is_train:
            questions.examples.append(example)
            questions.offsets.append(offsets)
        questions.num += 1
    return builder.build(np.array(targets, dtype=np.int64).reshape(-1, 2)), questions


def find_answers(questions: Questions, logits: Sequence[NDArray[np.float32]]) -> list[Answer]:
    """Return the best answer to each question over all its windows, of logits [T, 2] of each.

    In each window the 20 best starts and ends are tried; an answer has at most 30 tokens, and
    counts only in the window in which its first token has the most context on both sides.

    Source: google-research/bert run_squad.py, write_predictions.
    """
    best: list[tuple[float, int, int] | None] = [None] * questions.num
    null = [np.inf] * questions.num
    of_question: list[list[Window]] = [[] for _ in range(questions.num)]
    for window in questions.windows:
        of_question[window.question].append(window)
    for window, values in zip(questions.windows, logits, strict=True):
        number, shift = window.question, window.first_token
        null[number] = min(null[number], float(values[window.cls_place].sum()))
        text = values[window.row_offset : window.row_offset + window.num_tokens]
        owned = _owned(window, of_question[number])
        ends = _largest(text[:, 1])
        for start in _largest(text[:, 0]):
            for end in ends[(start <= ends) & (ends < start + MAX_ANSWER_TOKENS)]:
                score, known = float(text[start, 0] + text[end, 1]), best[number]
                if owned[start] and (known is None or score > known[0]):
                    best[number] = score, shift + int(start), shift + int(end)
    answers = []
    for example, offsets, found, null_score in zip(
        questions.examples, questions.offsets, best, null, strict=True
    ):
        score, first, last = found or (0.0, 0, -1)
        text_of = example.context[offsets[first, 0] : offsets[last, 1]] if found else ""
        answers.append(Answer(text_of, score, null_score))
    return answers


def _tokenize(text: str, tokenizer: Tokenizer) -> tuple[list[int], NDArray[np.int32]]:
    """Return the ids of a text and the characters of each, without special tokens."""
    encoding = tokenizer.encode(text, max_length=_NO_LIMIT)
    template = tokenizer.template(is_pair=False)
    inside = slice(len(template.before), len(encoding.input_ids) - len(template.after))
    offsets = np.array(encoding.offsets[inside], dtype=np.int32).reshape(-1, 2)
    return encoding.input_ids[inside], offsets


def _token_span(example: QuestionExample, offsets: NDArray[np.int32]) -> tuple[int, int] | None:
    """Return the first and last token of the first answer; None if there is none."""
    if not example.answers:
        return None
    text, start = example.answers[0]
    end = start + len(text)
    inside = np.flatnonzero((offsets[:, 0] < end) & (offsets[:, 1] > start))
    return (int(inside[0]), int(inside[-1])) if len(inside) else None


def _cut(num_tokens: int, room: int, stride: int) -> list[tuple[int, int]]:
    """Return start and size of each window.

    >>> _cut(10, 6, 4), _cut(3, 6, 4), _cut(0, 6, 4)
    ([(0, 6), (4, 6)], [(0, 3)], [(0, 0)])
    """
    windows = []
    start = 0
    while True:
        size = min(room, num_tokens - start)
        windows.append((start, size))
        if start + size >= num_tokens:
            return windows
        start += min(size, stride)


def _owned(window: Window, others: Sequence[Window]) -> NDArray[np.bool_]:
    """Return for each token of a window whether no other window gives it more context."""
    if len(others) == 1:
        return np.ones(window.num_tokens, dtype=np.bool_)
    tokens = window.first_token + np.arange(window.num_tokens)
    contexts = []
    for other in others:
        before = tokens - other.first_token
        behind = other.first_token + other.num_tokens - 1 - tokens
        inside = (before >= 0) & (behind >= 0)
        context = np.minimum(before, behind) + 0.01 * other.num_tokens
        contexts.append(np.where(inside, context, -np.inf))
    owner = np.argmax(np.stack(contexts), axis=0)
    owned: NDArray[np.bool_] = owner == others.index(window)
    return owned


def _largest(values: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the indices of the largest values, the largest first."""
    return np.argsort(-values, kind="stable")[:NUM_BEST]
