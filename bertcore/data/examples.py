"""Examples as read: a text or pair with labels, a tagged sentence, a question, a choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol


class Example(Protocol):
    """The common interface of all examples."""

    @property
    def labels(self) -> Sequence[str]:
        """Its labels, as written; () if answers are not labels."""

    @property
    def where(self) -> str:
        """Its place in its file, for messages: "row 3"."""

    @property
    def row(self) -> int:
        """Its number in its file: row, first line, or place among the questions; from 1."""


class _InRow:
    """An example that is a row of a table."""

    __slots__ = ()
    row: int

    @property
    def where(self) -> str:
        return f"row {self.row}"


@dataclass(frozen=True, slots=True)
class TextExample(_InRow):
    """A text, or a pair, and its label or score."""

    text: str
    text_pair: str | None
    answer: str
    """The label; for a regression the number, as written."""
    row: int
    """Row of its file, from 1."""

    @property
    def labels(self) -> Sequence[str]:
        return (self.answer,)


@dataclass(frozen=True, slots=True)
class LabelsExample(_InRow):
    """A text, or a pair, and all of its labels."""

    text: str
    text_pair: str | None
    labels: tuple[str, ...]
    """Its labels; () for none."""
    row: int
    """Row of its file, from 1."""
    asked: tuple[str, ...] = ()
    """All labels, if the file states for each whether a text has it; else ()."""


@dataclass(frozen=True, slots=True)
class TaggedExample:
    """A sentence in words, each with its tag."""

    words: list[str]
    tags: list[str]
    row: int
    """Line or row where it begins."""

    @property
    def labels(self) -> Sequence[str]:
        return self.tags

    @property
    def where(self) -> str:
        return f"the sentence at line {self.row}"


@dataclass(frozen=True, slots=True)
class QuestionExample:
    """A question on a text, and the places of its answers there."""

    id: str
    question: str
    context: str
    answers: list[tuple[str, int]]
    """Text and first character of each; [] if there is none in the text."""
    row: int
    """Place among all questions of its file, from 1."""

    @property
    def labels(self) -> Sequence[str]:
        return ()

    @property
    def where(self) -> str:
        return f"question {self.id!r}"


@dataclass(frozen=True, slots=True)
class ChoiceExample(_InRow):
    """A beginning and several endings to choose from."""

    text: str
    choices: list[str]
    answer: int
    """Number of the right one, from 0."""
    row: int

    @property
    def labels(self) -> Sequence[str]:
        return ()


def named_labels(example: Example) -> Sequence[str]:
    """Return all labels that an example names, including those its text does not have."""
    if isinstance(example, LabelsExample) and example.asked:
        return example.asked
    return example.labels


def rename_labels(example: Example, names: Mapping[str, str]) -> Example:
    """Return an example with its labels renamed; those that become "" are left out.

    A word of a tagged sentence is left out with its tag.

    Args:
        example: Of a kind that has labels.
        names: Of each of its labels.
    """
    if isinstance(example, TaggedExample):
        tagged = [(word, names[tag]) for word, tag in zip(example.words, example.tags, strict=True)]
        kept = [(word, tag) for word, tag in tagged if tag]
        return replace(example, words=[word for word, _ in kept], tags=[tag for _, tag in kept])
    if isinstance(example, LabelsExample):
        labels, asked = (
            tuple(dict.fromkeys(names[name] for name in part if names[name]))
            for part in (example.labels, example.asked)
        )
        return replace(example, labels=labels, asked=asked)
    assert isinstance(example, TextExample)
    return replace(example, answer=names[example.answer])
