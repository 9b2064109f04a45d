"""How each task's answers are read, chosen for an explanation, and told in words.

To add a task, write a class here and name it in `TASK_VIEWS`; its picture is in `views.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.attribution import (
    AnsweredText,
    ChoiceAnswer,
    ClassTarget,
    LabelAnswer,
    LabelsAnswer,
    LabelTarget,
    ScoreAnswer,
    SpanAnswers,
    SpanTarget,
    TagAnswer,
    TagTarget,
    Target,
    TaskInput,
)
from bertcore.data.exports import column_names
from bertcore.data.labels import match_labels
from bertcore.data.read_tags import is_tag_table
from bertcore.data.tables import TABLE_FILES
from bertcore.training.tasks.model import TaskModel

from ...plots import label_name, percent, plain, shorten_middle
from ...shell import Field, cache, computed, frame, show
from ...shell.sentence_box import DEFAULT
from ...shell.state import CHOICE_TEXTS
from ...shell.uploads.on_disk import read_apart
from ...shell.words import tr
from .views import ANSWER, ENDS

PREDICTED = -1
"""Stands for the predicted label, or the first tagged word, instead of a chosen one."""
OPENED: Field[list[str]] = Field("inspect_view", [], ("file",))
"""Whether the heading of a labelled file is open."""
WHY: Field[list[str]] = Field("inspect_why", [], ("layers", "swaps"))
"""Headings that are open, of those that explain the answer to a text."""
READ_PAIR = Field("inspect_pair", False)
LABEL = Field("inspect_label", PREDICTED)
WORD = Field("inspect_word", PREDICTED)
SPAN = Field("inspect_answer", 0)
TEXT_CHOICES = tuple(Field(name, "") for name in CHOICE_TEXTS)
"""For multiple choice: the texts to choose from."""
SCORE_CHANGE = Field("inspect_score", 1.0)
MOST_NAMED = 4
"""Most labels that a sentence names."""
LONGEST_NAME = 60


class Texts(NamedTuple):
    """What a model reads, as the first arguments of the views' functions."""

    text: str
    text_pair: str | None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskPage:
    """A page, its fine-tuned model, the texts that this reads, and how it reads them.

    It is made once in a run of the page and holds the model, so nothing that outlives the run,
    such as a callback, may hold it.
    """

    page: frame.Page
    model: TaskModel
    texts: Texts
    source: TaskInput

    @classmethod
    def of(
        cls, page: frame.Page, model: TaskModel, texts: Texts
    ) -> tuple["TaskPage", AnsweredText]:
        """Return the page with its texts, and the answer to them."""
        answered = computed(ANSWER, page, *texts)
        return cls(page, model, texts, answered.source), answered


class ExplainedTarget(NamedTuple):
    """What is to be explained."""

    target: Target
    word: int | None = None
    """The word whose tag it is; None except for a tagger."""


class TaskView(ABC):
    """How the answers of one task are shown and chosen, and how its labelled files are read."""

    needs_b: ClassVar[str] = ""
    """What to do if sentence B is missing; "" if the task does not need it."""
    example: ClassVar[tuple[str, str]] = ("", "")
    """Texts A and B that are shown if B is missing."""
    reads_pair: ClassVar[bool | None] = None
    """Whether sentence B is read by default; None if there is no choice."""
    upload: ClassVar[str]
    """Label of the upload."""
    files: ClassVar[str] = TABLE_FILES
    """What can be read."""
    columns: ClassVar[Mapping[str, str]] = {
        "text": "Text",
        "text_pair": "Second text",
        "label": "Label",
    }
    """Columns to choose, by field of `Columns`."""

    def read(self, page: frame.Page) -> Texts:
        """Draw what may be read of sentence B; return the texts, or an example if B is missing."""
        text_a, text_b = page.texts
        if text_b is None and self.needs_b:
            text_a, text_b = self.example
            frame.example_pair(text_a, text_b, f". {self.needs_b}")
        elif text_b is not None and self.reads_pair is not None:
            key = READ_PAIR.key(default=self.reads_pair)
            text_b = text_b if st.toggle(tr("Read sentence B too"), key=key) else None
        return Texts(text_a, text_b)

    def answered(self, page: frame.Page, model: TaskModel) -> tuple[TaskPage, AnsweredText]:
        """Read the texts and return the page with them, and the answer to them."""
        return TaskPage.of(page, model, self.read(page))

    @abstractmethod
    def show(self, task: TaskPage, answer: Any, menu: DeltaGenerator) -> ExplainedTarget | None:
        """Draw the answer, and in `menu` the choice of what is explained; None if nothing is."""

    @abstractmethod
    def in_words(self, answer: Any, word: int | None) -> str:
        """Return an answer as Markdown; for a tagger, that of a word."""

    def choose_score_change(self) -> float:
        """Draw how far a score has to move to count as another answer."""
        return 1.0

    def column_names(self, path: Path) -> tuple[str, ...]:
        """Return the columns of a file; () if there are none to choose.

        ValueError if the file cannot be read.
        """
        names: tuple[str, ...] = cache.of_file(read_apart, path, column_names)
        return names

    def joint_columns(self, names: Sequence[str], labels: Sequence[str]) -> str | None:
        """Return the columns that together are the label, as `Columns.label` takes them, if any.

        Args:
            names: Names of the file's columns.
            labels: Labels of the model.
        """
        return None


class BarsView(TaskView):
    """Answers with a probability each, one of which is explained."""

    told: ClassVar[str] = "The model says {answer}"
    """What the model does with its answer."""
    explain: ClassVar[str] = "Explain the label"
    best: ClassVar[str] = "the predicted one: {name}"
    """What the most probable one is called in the list."""
    field: ClassVar[Field[int]] = LABEL

    def target(self, answer: Any, number: int) -> Target:
        """Return the attribution target of one of the answers."""
        return ClassTarget(number)

    def names(self, answer: Any) -> list[str]:
        """Return what the answers are called."""
        return [shorten_middle(label_name(label)) for label in answer.labels]

    def show(self, task: TaskPage, answer: Any, menu: DeltaGenerator) -> ExplainedTarget | None:
        """Draw the answers as bars, and the choice of one."""
        names = self.names(answer)
        st.header(tr(self.told, answer=self.in_words(answer, None)), anchor=False)
        first = [PREDICTED] if self.field is LABEL else []
        options = [*first, *range(len(names))]

        def name(number: int) -> str:
            is_best = number == PREDICTED
            return tr(self.best, name=names[answer.best]) if is_best else names[number]

        key = self.field.key(options=options, names=[name(option) for option in options])
        number = answer.best if self.field.value == PREDICTED else self.field.value
        show(ANSWER, task.page, *task.texts, drawn={"explained": number})
        menu.selectbox(tr(self.explain), options, format_func=name, key=key, width=400)
        return ExplainedTarget(self.target(answer, number))


def named(label: str, probability: float) -> str:
    """Return a label with its probability as Markdown."""
    name, p = plain(shorten_middle(label_name(label))), percent(probability)
    return tr("**{name}** with {probability}", name=name, probability=p)


class LabelView(BarsView):
    """A label for a text."""

    reads_pair: ClassVar[bool | None] = False
    upload = "A table with a text and its label in each row"

    def in_words(self, answer: LabelAnswer, word: int | None) -> str:
        """Return the most probable label."""
        return named(answer.labels[answer.best], float(answer.probabilities.max()))


class PairView(LabelView):
    """A label for two texts."""

    needs_b = "This model classifies a pair of texts. Write the second one as sentence B."
    example = ("A man is playing a guitar on the street.", "Somebody makes music outside.")
    reads_pair = None
    upload = "A table with two texts and their label in each row"


class LabelsView(BarsView):
    """Any number of labels for a text."""

    reads_pair: ClassVar[bool | None] = False
    upload = "A table with a text and its labels in each row"
    told, best = "The model gives it {answer}", "the most probable one: {name}"

    def target(self, answer: LabelsAnswer, number: int) -> LabelTarget:
        return LabelTarget(number)

    def in_words(self, answer: LabelsAnswer, word: int | None) -> str:
        """Return the labels that are given, with their probabilities."""
        given = answer.given
        if not given:
            return f"**none** of the labels, at most {percent(float(answer.probabilities.max()))}"
        p = answer.probabilities
        shown = [named(answer.labels[i], float(p[i])) for i in given[:MOST_NAMED]]
        more = len(given) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")

    def joint_columns(self, names: Sequence[str], labels: Sequence[str]) -> str | None:
        """Return the columns of all labels, as `Columns.label` takes them, if there are such."""
        match = match_labels(names, labels)
        columns = [name for name in names if name in match]
        is_clear = not any("," in name for name in columns)
        return ",".join(columns) if is_clear and len(columns) == len(labels) > 1 else None


class ChoiceView(BarsView):
    """One of several choices for a text."""

    upload = "A table of choices, as of SWAG, HellaSwag, ARC or RACE"
    columns: ClassVar[Mapping[str, str]] = {
        "text": "Text",
        "text_pair": "Beginning of each choice",
        "label": "Number of the right choice",
    }
    told, explain = "The model chooses {answer}", "Explain the choice"
    best = "the most probable one: {name}"
    text = "The fisherman rowed to the middle of the lake. There"
    choices = (
        "he cast his line into the water.",
        "he parked his car.",
        "she opened a bank account.",
    )
    """With `text`: shown if fewer than two choices are written."""

    def read(self, page: frame.Page) -> Texts:
        """Draw the boxes of the choices; return text A and those written, or an example."""
        if page.text_b is not None:
            st.caption(
                tr("A multiple-choice model reads sentence A with each choice: B is left out.")
            )
        choices = _write_choices()
        if len(choices) > 1:
            return Texts(page.text_a, None, choices)
        *others, last = (f"“{plain(choice)}”" for choice in self.choices)
        row = frame.example_row(
            f"“{plain(self.text)}” with {', '.join(others)} or {last} This model chooses among "
            "several. Write at least two."
        )
        label, icon = "Your sentence with these choices", ":material/edit:"
        row.button(label, icon=icon, on_click=self._use_example)
        return Texts(self.text, None, self.choices)

    def _use_example(self) -> None:
        for field, choice in zip(TEXT_CHOICES, self.choices, strict=False):
            field.put(choice)

    def names(self, answer: ChoiceAnswer) -> list[str]:
        return [shorten_middle(label, LONGEST_NAME) for label in answer.labels]

    def in_words(self, answer: ChoiceAnswer, word: int | None) -> str:
        """Return the most probable choice."""
        name = plain(shorten_middle(answer.labels[answer.best], 2 * LONGEST_NAME))
        return f"**“{name}”** with {percent(float(answer.probabilities.max()))}"


def _write_choices() -> tuple[str, ...]:
    """Draw a box for each choice, and an empty one for the next; return those written."""
    num_written = sum(bool(field.value.strip()) for field in TEXT_CHOICES)
    box = st.container(horizontal=True, vertical_alignment="top", key="choice_box")
    texts = [
        box.text_area(
            f"Choice {number}",
            key=field.key(),
            height="content",
            placeholder=tr("What may follow, or an answer"),
        )
        for number, field in enumerate(TEXT_CHOICES, start=1)
        if field.value.strip() or number <= max(2, num_written + 1)
    ]
    return tuple(text for text in texts if text.strip())


class SpanView(BarsView):
    """A span of a text as the answer to a question."""

    needs_b = (
        "This model finds the answer to a question in a text. Write the question as sentence A and "
        "the text as sentence B."
    )
    example = ("Where did the fisherman sit?", "The fisherman sat on the bank of the river.")
    upload = "Questions in SQuAD format"
    files = f"SQuAD's JSON, or a row for each question: {TABLE_FILES}"
    explain, field = "Explain the answer", SPAN

    def read(self, page: frame.Page) -> Texts:
        """Return the texts, or an example if they are the first visit's, which ask nothing."""
        is_untouched = page.texts == (DEFAULT.text_a, DEFAULT.text_b)
        return super().read(replace(page, text_b=None) if is_untouched else page)

    def show(
        self, task: TaskPage, answer: SpanAnswers, menu: DeltaGenerator
    ) -> ExplainedTarget | None:
        """Draw the best answers as bars, the choice of one, and the logits of start and end."""
        if not answer.spans:
            st.info(tr("Sentence B contains no word that could be an answer. Write a longer text."))
            return None
        explained = super().show(task, answer, menu)
        st.subheader(tr(ENDS.question), anchor=False)
        show(ENDS, task.page, *task.texts)
        return explained

    def names(self, answer: SpanAnswers) -> list[str]:
        return [shorten_middle(span.text, LONGEST_NAME) for span in answer.spans]

    def target(self, answer: SpanAnswers, number: int) -> SpanTarget:
        return SpanTarget(answer.spans[number].start, answer.spans[number].end)

    def in_words(self, answer: SpanAnswers, word: int | None) -> str:
        """Return the best answer, or that there is none."""
        if not answer.spans:
            return "no answer"
        best = answer.spans[0]
        text, p = plain(shorten_middle(best.text, 2 * LONGEST_NAME)), percent(best.probability)
        if answer.best is None:
            none = percent(answer.no_answer)
            return f"**there is no answer** with {none} (best span: {text}, {p})"
        return f"**{text}** with {p}"

    def column_names(self, path: Path) -> tuple[str, ...]:
        """Return (): SQuAD's form has no columns."""
        return ()


class ScoreView(TaskView):
    """A score for a text or pair."""

    reads_pair = True
    upload = "A table with a text or pair and its score in each row"

    def show(self, task: TaskPage, answer: ScoreAnswer, menu: DeltaGenerator) -> ExplainedTarget:
        """Draw the score."""
        told = tr("The model gives the score **{score}**", score=f"{answer.score:.3f}")
        st.header(told, anchor=False)
        if answer.output is not None:
            st.caption(f"The sigmoid of the head's output, {answer.output:.3f}.")
        show(ANSWER, task.page, *task.texts)
        return ExplainedTarget(answer.target(task.source))

    def in_words(self, answer: ScoreAnswer, word: int | None) -> str:
        """Return the score."""
        return f"Score **{answer.score:.3f}**"

    def choose_score_change(self) -> float:
        """Draw how far the score has to move."""
        return st.number_input(
            tr("The score has to move by"),
            0.1,
            100.0,
            step=0.1,
            key=SCORE_CHANGE.key(low=0.1, high=100.0),
            width=220,
        )


class TagView(TaskView):
    """A tag for each word."""

    upload = "Tagged sentences: CoNLL columns, CoNLL-U, tables of words, or JSON with spans"
    files = f"CoNLL columns, CoNLL-U, or a table: {TABLE_FILES}"
    columns: ClassVar[Mapping[str, str]] = {"text": "Words", "label": "Tags"}

    def read(self, page: frame.Page) -> Texts:
        """Return text A alone."""
        if page.text_b is not None:
            st.caption(tr("A tagger reads one text: sentence B is left out."))
        return Texts(page.text_a, None)

    def show(self, task: TaskPage, answer: TagAnswer, menu: DeltaGenerator) -> ExplainedTarget:
        """Draw the words with their tags, and the choice of a word and a tag."""
        words, places = task.source.words, task.source.text_words
        labels = [shorten_middle(label) for label in answer.labels]
        tagged = [place for place in places if answer.labels[answer.tag(place)] != "O"]
        usual = (tagged or places)[0]
        numbers = [PREDICTED, *range(len(labels))]

        names: dict[int, str] = {}
        for number, place in enumerate(places, 1):  # numbered: the list takes equal names for one
            p = percent(float(answer.probabilities[place].max()))
            tagged_word = f"{shorten_middle(words[place].text)}: {labels[answer.tag(place)]}"
            names[place] = f"{number}. {tagged_word}, {p}"
        options = [*names.values()]
        word_key, word = WORD.key(default=usual, options=places, names=options), WORD.value
        predicted = f"the one it has: {labels[answer.tag(word)]}"
        label_key = LABEL.key(options=numbers, names=[predicted, *labels])
        show(ANSWER, task.page, *task.texts, drawn={"explained": word}, on_select=_pick)
        row = st.container(horizontal=True, vertical_alignment="bottom")
        row.selectbox(
            tr("Explain the tag of"), places, format_func=names.__getitem__, key=word_key, width=300
        )
        row.selectbox(
            tr("Explain the label"),
            numbers,
            format_func=lambda i: predicted if i == PREDICTED else labels[i],
            key=label_key,
            width=300,
        )
        label = answer.tag(word) if LABEL.value == PREDICTED else LABEL.value
        return ExplainedTarget(TagTarget(words[word].start, label), word)

    def in_words(self, answer: TagAnswer, word: int | None) -> str:
        """Return the tag of a word."""
        assert word is not None
        p = float(answer.probabilities[word].max())
        return named(answer.labels[answer.tag(word)], p)

    def column_names(self, path: Path) -> tuple[str, ...]:
        """Return the columns of a table; a file with a word per line has no names."""
        is_table: bool = cache.of_file(read_apart, path, is_tag_table)
        return super().column_names(path) if is_table else ()


def _pick(clicked: list[str]) -> None:
    WORD.put(int(clicked[0]))
    LABEL.put(PREDICTED)


TASK_VIEWS: dict[str, TaskView] = {
    "classify": LabelView(),
    "pair": PairView(),
    "multilabel": LabelsView(),
    "regress": ScoreView(),
    "tag": TagView(),
    "qa": SpanView(),
    "choice": ChoiceView(),
}
"""Views by name of the task."""
