"""Examples as they are read: a text or pair with its answer, a tagged sentence, a question, a
choice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextExample:
    """A text, or a pair, and its label or score."""

    text: str
    text_pair: str | None
    answer: str
    """The label; of a regression the number, as written."""
    row: int
    """Which of its file, from 1."""


@dataclass(frozen=True, slots=True)
class TaggedExample:
    """A sentence in words, each with its tag."""

    words: list[str]
    tags: list[str]
    row: int
    """Line or row where it begins."""


@dataclass(frozen=True, slots=True)
class QuestionExample:
    """A question on a text, and where its answers stand there."""

    id: str
    question: str
    context: str
    answers: list[tuple[str, int]]
    """Text and first character of each; [] if there is none in the text."""


@dataclass(frozen=True, slots=True)
class ChoiceExample:
    """A beginning and several ends to choose from."""

    text: str
    choices: list[str]
    answer: int
    """Which is right, from 0."""
    row: int


Example = TextExample | TaggedExample | QuestionExample | ChoiceExample
