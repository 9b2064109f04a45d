"""Inputs of a fine-tuned model: a text, a pair, or a text with choices; tokens grouped by word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bertcore.model.tokenizer import Encoding, Truncation
from bertcore.model.tokenizer.encoding import Template, Word, words_of

Span = tuple[int, int, int]
"""Where a word stands: its row, its first token there, and one past its last token."""


@dataclass(frozen=True, slots=True)
class TaskInput:
    """A text or pair as a model reads it, T tokens in W words."""

    text: str
    text_pair: str | None
    encoding: Encoding
    words: tuple[Word, ...]
    """All words in order, [CLS] and [SEP] among them, [W]."""

    @property
    def text_words(self) -> list[int]:
        """Indices into `words` of those that come from a text."""
        return [i for i, word in enumerate(self.words) if word.text_id >= 0]

    @property
    def lines(self) -> list[int]:
        """The line of each word, [W]: all have one, or the text and each choice their own."""
        ids = np.array([word.text_id for word in self.words])
        if ids.max() <= 1:
            return [0] * len(ids)
        lines: list[int] = np.maximum.accumulate(ids.clip(0)).tolist()
        return lines

    @property
    def rows(self) -> tuple[Encoding, ...]:
        """The rows of tokens that the model reads: one, or one for each choice."""
        return (self.encoding,)

    @property
    def truncation(self) -> Truncation | None:
        """What was cut from the first truncated row; None if everything fitted."""
        return next((row.truncation for row in self.rows if row.truncation is not None), None)

    def spans(self, word: int) -> tuple[Span, ...]:
        return ((0, self.words[word].start, self.words[word].end),)

    def merge(self, values: NDArray[np.floating]) -> NDArray[np.float32]:
        """Sum token values [..., T] over the word pieces of each word, [..., W]."""
        starts = [word.start for word in self.words]
        merged: NDArray[np.float32] = np.add.reduceat(values, starts, axis=-1).astype(np.float32)
        return merged


@dataclass(frozen=True, slots=True)
class ChoiceInput(TaskInput):
    """A text with N choices; the model reads the text with each choice in a separate row.

    `words` are those of the text, then those of each choice with the [SEP] after it; the part
    common to all rows counts once. Words of choice i, from 0, have the `text_id` i + 1. `encoding`
    is the row with most of the text, in which the words of the text have their tokens; those of a
    choice have them in its own row.
    """

    choices: tuple[str, ...]
    choice_rows: tuple[Encoding, ...]
    """[N]"""
    word_spans: tuple[tuple[Span, ...], ...]
    """Of each word, [W]."""

    @property
    def rows(self) -> tuple[Encoding, ...]:
        return self.choice_rows

    def spans(self, word: int) -> tuple[Span, ...]:
        return self.word_spans[word]

    def merge(self, values: NDArray[np.floating]) -> NDArray[np.float32]:
        """Sum token values over the word pieces of each word, over all rows, [..., W].

        They are those of the rows one after the other, each padded to the longest, [..., N T].
        """
        by_row = values.reshape(*values.shape[:-1], len(self.rows), -1)
        sums = [
            sum(by_row[..., row, start:end].sum(-1) for row, start, end in self.spans(word))
            for word in range(len(self.words))
        ]
        return np.stack(sums, axis=-1).astype(np.float32)


def choice_input(
    text: str, choices: Sequence[str], rows: Sequence[Encoding], template: Template
) -> ChoiceInput:
    """Return a text with its choices, at least one.

    `rows` are the text and each choice as a pair; some may have lost more of the text than others.
    """
    kept = [row.text_ids.count(0) for row in rows]
    main = kept.index(max(kept))
    text_ends = [len(template.before) + num for num in kept]
    choice_starts = [end + len(template.between) for end in text_ends]

    def span(word: Word, row: int) -> Span:
        """Return the span of a word before the choices in a row; an empty span if it was cut."""
        if word.start < text_ends[main]:
            return row, word.start, min(word.end, text_ends[row])
        shift = text_ends[row] - text_ends[main]
        return row, word.start + shift, word.end + shift

    common = [w for w in words_of(rows[main], text) if w.start < choice_starts[main]]
    words, spans = list(common), []
    for word in common:
        everywhere = (span(word, row) for row in range(len(rows)))
        spans.append(tuple(one for one in everywhere if one[1] < one[2]))
    for number, (row, choice) in enumerate(zip(rows, choices, strict=True)):
        own = [w for w in words_of(row, text, choice) if w.start >= choice_starts[number]]
        words += [replace(w, text_id=number + 1) if w.text_id == 1 else w for w in own]
        spans += [((number, w.start, w.end),) for w in own]
    return ChoiceInput(
        text, None, rows[main], tuple(words), tuple(choices), tuple(rows), tuple(spans)
    )
