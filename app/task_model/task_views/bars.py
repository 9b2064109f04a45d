"""The views of answers that are drawn as bars: labels, choices, and spans of a text."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import streamlit as st

from bertcore.analysis.attribution import (
    ChoiceAnswer,
    ClassTarget,
    FileRun,
    LabelAnswer,
    LabelsAnswer,
    LabelTarget,
    MetricTable,
    SpanAnswers,
    SpanTarget,
    Target,
)
from bertcore.data.labels import match_labels
from bertcore.data.tables import TABLE_FILES
from bertcore.evaluation.metrics import label_set_metrics
from bertcore.tasks.model import TaskModel

from ...plots import label_name, percent, plain, shorten_middle
from ...shell import Field, Picture, frame
from ..answer_figures import AnswerBars
from ..choices import LABEL, PREDICTED, SPAN, TEXT_CHOICES
from ..model import ANSWER_CODE, FILE_CODE, Inputs, TaskPage
from ..score_figures import LABEL_SCORES, which_labels
from .view import ExplainedTarget, TaskView

MOST_NAMED = 4
"""Most labels that a sentence names."""
LONGEST_NAME = 60


class BarsView(TaskView):
    """Answers with a probability each, one of which is explained."""

    picture: ClassVar[Picture]
    verb: ClassVar[str] = "says"
    """What the model does with its answer."""
    explained: ClassVar[str] = "label"
    best: ClassVar[str] = "the predicted one"
    """What the most probable one is called in the list."""
    field: ClassVar[Field[int]] = LABEL

    @abstractmethod
    def target(self, answer: Any, number: int) -> Target:
        """Return the attribution target of one of the answers."""

    def names(self, answer: Any) -> list[str]:
        """Return what the answers are called."""
        return [shorten_middle(label_name(label)) for label in answer.labels]

    def show(self, task: TaskPage, answer: Any) -> ExplainedTarget | None:
        """Draw the answers as bars, and the choice of one."""
        names = self.names(answer)
        st.header(f"The model {self.verb} {self.in_words(answer, None)}", anchor=False)
        first = [PREDICTED] if self.field is LABEL else []
        options = [*first, *range(len(names))]
        key = self.field.key(options=options)
        chosen = answer.best if self.field.value == PREDICTED else self.field.value
        drawn = {"chosen": chosen}
        self.picture.show(task.page, answer, drawn=drawn, setup=task.setup(), with_caption=False)
        st.selectbox(
            f"Explain the {self.explained}",
            options,
            format_func=lambda number: (
                f"{self.best}: {names[answer.best]}" if number == PREDICTED else names[number]
            ),
            key=key,
            width=400,
        )
        self.picture.caption()
        return ExplainedTarget(self.target(answer, chosen))


def named(label: str, probability: float) -> str:
    """Return a label with its probability as Markdown."""
    return f"**{plain(shorten_middle(label_name(label)))}** with {percent(probability)}"


def label_table(answer: LabelAnswer | LabelsAnswer) -> pd.DataFrame:
    """Return a row for each label."""
    table = pd.DataFrame({"label": answer.labels, "p": answer.probabilities})
    if isinstance(answer, LabelsAnswer):
        table["given"] = [number in answer.given for number in range(len(table))]
    return table


def label_names(labels: pd.DataFrame) -> list[str]:
    """Return what the labels of a table are called."""
    return [label_name(label) for label in labels["label"]]


class LabelView(BarsView):
    """A label for a text."""

    reads_pair: ClassVar[bool | None] = False
    upload = "A table with a text and its label in each row"
    picture = Picture(
        name="inspect-labels",
        chart=AnswerBars(table=label_table, name=label_names, is_sorted=True),
        how=(
            "The model's probability of each label: softmax(*W* h + *b*), where *W* has a row for "
            "each label and h is the vector of the text that the head reads. The calibration curve "
            "of a labelled file shows how far to trust it. The label in pink is explained below."
        ),
        code=ANSWER_CODE,
    )

    def target(self, answer: LabelAnswer, number: int) -> ClassTarget:
        return ClassTarget(number)

    def in_words(self, answer: LabelAnswer, word: int | None) -> str:
        """Return the most probable label."""
        return named(answer.labels[answer.best], float(answer.probabilities.max()))


class PairView(LabelView):
    """A label for two texts."""

    needs_b = "This model classifies a pair of texts. Write the second one as sentence B."
    example = ("A man is playing a guitar on the street.", "Somebody makes music outside.")
    reads_pair = None
    upload = "A table with two texts and their label in each row"


EACH_LABEL = Picture(
    name="inspect-label-scores",
    chart=LABEL_SCORES,
    how=(
        "For each label, with the number of texts that have it in brackets: precision is the "
        "fraction of the texts given the label that have it, recall the fraction of the texts with "
        "the label that were given it, F1 their harmonic mean. Micro F1 counts all labels' answers "
        "together, so frequent ones weigh more; macro F1 is the mean of the dots of F1. "
        "Calibration and slices are of a text's whole set of labels.{which}"
    ),
    code=FILE_CODE,
)


class LabelsView(BarsView):
    """Any number of labels for a text."""

    reads_pair: ClassVar[bool | None] = False
    upload = "A table with a text and its labels in each row"
    quality = "mean F1 of a text's labels"
    metric_names: ClassVar[Mapping[str, str]] = {"accuracy": "Exact match"}
    errors = TaskView.errors._replace(is_long=True)
    verb, best = "gives it", "the most probable one"
    picture = Picture(
        name="inspect-each-label",
        chart=AnswerBars(
            table=label_table,
            name=label_names,
            is_grey=lambda labels: ~labels["given"],
            is_sorted=True,
        ),
        how=(
            "The model's probability of each label on its own (sigmoid of the head's output), so "
            "they need not sum to 100%. The text gets the labels above 50%; the others are grey. "
            "The label in pink is explained below."
        ),
        code=ANSWER_CODE,
    )

    def target(self, answer: LabelsAnswer, number: int) -> LabelTarget:
        return LabelTarget(number)

    def in_words(self, answer: LabelsAnswer, word: int | None) -> str:
        """Return the labels that are given, with their probabilities."""
        given = answer.given
        if not given:
            p = percent(float(answer.probabilities.max()))
            return f"**none** of the labels, at most {p}"
        shown = [
            named(answer.labels[i], float(answer.probabilities[i])) for i in given[:MOST_NAMED]
        ]
        more = len(given) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")

    def joint_columns(self, names: Sequence[str], labels: Sequence[str]) -> str | None:
        """Return the columns of all labels, as `Columns.label` takes them, if there are such."""
        match = match_labels(names, labels)
        columns = [name for name in names if name in match]
        is_clear = not any("," in name for name in columns)
        return ",".join(columns) if is_clear and len(columns) == len(labels) > 1 else None

    def show_file(
        self, page: frame.Page, run: FileRun, metrics: MetricTable, code: Mapping[str, Any]
    ) -> None:
        """Draw precision, recall and F1 of each label."""
        st.header("Label by label", anchor=False)
        gold, predicted = run.gold.astype(bool), run.predicted.astype(bool)
        *_, scores = label_set_metrics(gold, predicted, run.labels, with_intervals=False)
        EACH_LABEL.show(page, scores, setup="", which=which_labels(len(scores)), **code)


class ChoiceView(BarsView):
    """One of several choices for a text."""

    upload = "A table of choices, as of SWAG, HellaSwag, ARC or RACE"
    columns: ClassVar[Mapping[str, str]] = {
        "text": "Text",
        "text_pair": "Beginning of each choice",
        "label": "Number of the right choice",
    }
    beside_calibration = False
    errors = TaskView.errors._replace(is_long=True)
    verb, explained, best = "chooses", "choice", "the most probable one"
    text = "The fisherman rowed to the middle of the lake. There"
    choices = (
        "he cast his line into the water.",
        "he parked his car.",
        "she opened a bank account.",
    )
    """With `text`: shown if fewer than two choices are written."""
    picture = Picture(
        name="inspect-choices",
        chart=AnswerBars(table=label_table, name="label"),
        how=(
            "The model reads sentence A with each choice in turn and gives each a score; the "
            "probabilities are a softmax over the choices that are written here, so another choice "
            "changes them all. The choice in pink is explained below: a word of sentence A by what "
            "it does in all of these readings; a word of another choice opposes this one if it "
            "makes the other more probable."
        ),
        code=ANSWER_CODE,
    )

    def read(self, page: frame.Page, model: TaskModel) -> TaskPage:
        """Draw the boxes of the choices; return text A and those written, or an example."""
        if page.text_b is not None:
            st.caption("A multiple-choice model reads sentence A with each choice: B is left out.")
        text, choices = page.text_a, _write_choices()
        if len(choices) < 2:
            text, choices = self.text, self.choices
            *others, last = (f"“{plain(choice)}”" for choice in choices)
            row = frame.example_row(
                f"“{plain(text)}” with {', '.join(others)} or {last} This model chooses among "
                "several. Write at least two."
            )
            label, icon = "Your sentence with these choices", ":material/edit:"
            row.button(label, icon=icon, on_click=self._use_example)
        texts = Inputs(page.bert_key, text, None, choices)
        return TaskPage(page, model, texts, texts.read_by(model))

    def _use_example(self) -> None:
        for field, choice in zip(TEXT_CHOICES, self.choices, strict=False):
            field.put(choice)

    def names(self, answer: ChoiceAnswer) -> list[str]:
        return [shorten_middle(label, LONGEST_NAME) for label in answer.labels]

    def target(self, answer: ChoiceAnswer, number: int) -> ClassTarget:
        return ClassTarget(number)

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
            placeholder="What may follow, or an answer",
        )
        for number, field in enumerate(TEXT_CHOICES, start=1)
        if field.value.strip() or number <= max(2, num_written + 1)
    ]
    return tuple(text for text in texts if text.strip())


def span_table(answer: SpanAnswers) -> pd.DataFrame:
    """Return a row for each answer, and one for none."""
    rows = [(span.text, span.start, span.end, span.probability) for span in answer.spans]
    rows.append(("", 0, 0, answer.no_answer))
    return pd.DataFrame(rows, columns=["answer", "first_token", "last_token", "p"])


class SpanView(BarsView):
    """A span of a text as the answer to a question."""

    needs_b = (
        "This model finds the answer to a question in a text. Write the question as sentence A and "
        "the text as sentence B."
    )
    example = ("Where did the fisherman sit?", "The fisherman sat on the bank of the river.")
    upload = "Questions in SQuAD format"
    files = f"SQuAD's JSON, or a row for each question: {TABLE_FILES}"
    marks = (b'"question"',)
    quality = "mean F1"
    beside_calibration = False
    errors = TaskView.errors._replace(is_long=True)
    explained, field = "answer", SPAN
    picture = Picture(
        name="inspect-spans",
        chart=AnswerBars(
            table=span_table,
            name=lambda spans: spans["answer"].replace("", "no answer"),
            is_grey=lambda spans: spans["answer"] == "",
        ),
        how=(
            "The best answers in sentence B: probability of the start times probability of the "
            "end, each a softmax over all tokens. The head has two vectors, *S* for starts and *E* "
            "for ends; their products with a token's vector are its logits. The grey bar is *no "
            "answer*, which only models trained on questions without an answer (SQuAD 2.0) have "
            "learned to give. The answer in pink is explained below."
        ),
        code=ANSWER_CODE,
    )

    def show(self, task: TaskPage, answer: SpanAnswers) -> ExplainedTarget | None:
        """Draw the best answers as bars, and the choice of one."""
        if answer.spans:
            return super().show(task, answer)
        st.info("Sentence B contains no word that could be an answer. Write a longer text.")
        return None

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
