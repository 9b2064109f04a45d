"""Examples as read: a text or pair with labels, a tagged sentence, a question, a choice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class TextExample:
    """A text, or a pair, and its label or score."""

    text: str
    text_pair: str | None
    answer: str
    """The label; for a regression the number, as Python writes it."""
    row: int
    """Row of its file, from 1; of the other kinds too, if nothing else is said."""

    @property
    def labels(self) -> Sequence[str]:
        return (self.answer,)


@dataclass(frozen=True, slots=True)
class LabelsExample:
    """A text, or a pair, and all of its labels."""

    text: str
    text_pair: str | None
    labels: tuple[str, ...]
    row: int
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


@dataclass(frozen=True, slots=True)
class ChoiceExample:
    """A beginning and several endings to choose from."""

    text: str
    choices: list[str]
    answer: int
    """Number of the right one, from 0."""
    row: int

    @property
    def labels(self) -> Sequence[str]:
        return ()


Example = TextExample | LabelsExample | TaggedExample | QuestionExample | ChoiceExample
"""Each has its labels as written, () if its answer is none, and its number in its file."""


def where(example: Example) -> str:
    """Return the place of an example in its file, for messages: "row 3"."""
    if isinstance(example, QuestionExample):
        return f"question {example.id!r}"
    is_sentence = isinstance(example, TaggedExample)
    return f"the sentence at line {example.row}" if is_sentence else f"row {example.row}"


def named_labels(example: Example) -> Sequence[str]:
    """Return all labels that an example names, including those its text does not have."""
    if isinstance(example, LabelsExample) and example.asked:
        return example.asked
    return example.labels


def rename_labels(example: Example, names: Mapping[str, str]) -> Example:
    """Return an example with its labels renamed; those that become "" are left out.

    A word of a tagged sentence is left out with its tag.
    """
    if isinstance(example, TaggedExample):
        tagged = [(word, names[tag]) for word, tag in zip(example.words, example.tags, strict=True)]
        named = [(word, tag) for word, tag in tagged if tag]
        return replace(example, words=[word for word, _ in named], tags=[tag for _, tag in named])
    if isinstance(example, LabelsExample):
        labels, asked = (
            tuple(dict.fromkeys(names[name] for name in part if names[name]))
            for part in (example.labels, example.asked)
        )
        return replace(example, labels=labels, asked=asked)
    assert isinstance(example, TextExample)
    return replace(example, answer=names[example.answer])
