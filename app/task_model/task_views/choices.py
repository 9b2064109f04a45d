"""The view of "choice": the probability of each choice for a text."""

from collections.abc import Mapping
from typing import ClassVar

import streamlit as st

from bertcore.analysis.attribution import ChoiceAnswer, ClassTarget, TaskInput

from ...plots import percent, plain, shorten_middle
from ...shell import Picture, frame
from ..answer_figures import AnswerBars, label_table
from ..choices import LABEL, PREDICTED, TEXT_CHOICES
from ..model import ANSWER_CODE, Inputs
from .view import ExplainedTarget, TaskView

_NAME_LENGTH = 60
EXAMPLE = (
    "The fisherman rowed to the middle of the lake. There",
    ("he cast his line into the water.", "he parked his car.", "she opened a bank account."),
)
"""A text and its choices, shown if there are fewer than two."""
CHOICES = Picture(
    name="inspect-choices",
    chart=AnswerBars(table=label_table, name="label"),
    how=(
        "The model reads sentence A with each choice in turn and gives each a score; the "
        "probabilities are a softmax over the choices that are written here, so another choice "
        "changes them all. The choice in pink is explained below: a word of sentence A by what it "
        "does in all of these readings; a word of another choice opposes this one if it makes the "
        "other more probable."
    ),
    code=ANSWER_CODE,
)


class ChoiceView(TaskView):
    """One of several choices for a text."""

    upload = "A table of choices, as of SWAG, HellaSwag, ARC or RACE"
    columns: ClassVar[Mapping[str, str]] = {
        "text": "Text",
        "text_pair": "Beginning of each choice",
        "label": "Number of the right choice",
    }
    beside_calibration = False
    errors = TaskView.errors._replace(is_long=True)

    def read(self, page: frame.Page) -> Inputs:
        """Draw the boxes of the choices; return text A and those written, or an example."""
        if page.text_b is not None:
            st.caption("A multiple-choice model reads sentence A with each choice: B is left out.")
        choices = _write_choices()
        if len(choices) >= 2:
            return Inputs(page.bert_key, page.text_a, None, choices)
        text, choices = EXAMPLE
        ends = ", ".join(f"“{plain(choice)}”" for choice in choices[:-1])
        row = frame.example_row(
            f"“{plain(text)}” with {ends} or “{plain(choices[-1])}” This model chooses among "
            "several. Write at least two."
        )
        row.button(
            "Your sentence with these choices", icon=":material/edit:", on_click=_use_example
        )
        return Inputs(page.bert_key, text, None, choices)

    def show(
        self, page: frame.Page, answer: ChoiceAnswer, source: TaskInput, setup: str
    ) -> ExplainedTarget:
        """Draw the choices as bars, and the choice of one that is explained."""
        p = percent(float(answer.probabilities[answer.best]))
        st.header(f"The model chooses **“{_name(answer, answer.best)}”**, with {p}", anchor=False)
        numbers = [PREDICTED, *range(len(answer.labels))]
        key = LABEL.key(options=numbers)
        chosen = answer.best if LABEL.value == PREDICTED else LABEL.value
        CHOICES.show(page, answer, drawn={"chosen": chosen}, setup=setup, with_caption=False)

        def name(number: int) -> str:
            place = answer.best if number == PREDICTED else number
            text = shorten_middle(answer.labels[place], _NAME_LENGTH)
            return f"the most probable one: {text}" if number == PREDICTED else text

        st.selectbox("Explain the choice", numbers, format_func=name, key=key, width=400)
        CHOICES.caption()
        return ExplainedTarget(ClassTarget(chosen), None)

    def in_words(self, answer: ChoiceAnswer, word: int | None) -> str:
        """Return the most probable choice."""
        p = percent(float(answer.probabilities.max()))
        return f"**“{_name(answer, answer.best)}”** with {p}"


def _write_choices() -> tuple[str, ...]:
    """Draw a box for each choice, and an empty one for the next; return those written."""
    num_written = sum(bool(field.value.strip()) for field in TEXT_CHOICES)
    shown = [
        field
        for number, field in enumerate(TEXT_CHOICES)
        if field.value.strip() or number < max(2, num_written + 1)
    ]
    box = st.container(horizontal=True, vertical_alignment="top", key="choice_box")
    texts = [
        box.text_area(
            f"Choice {TEXT_CHOICES.index(field) + 1}",
            key=field.key(),
            height="content",
            placeholder="What may follow, or an answer",
        )
        for field in shown
    ]
    return tuple(text for text in texts if text.strip())


def _use_example() -> None:
    for field, choice in zip(TEXT_CHOICES, EXAMPLE[1], strict=False):
        field.put(choice)


def _name(answer: ChoiceAnswer, number: int) -> str:
    return plain(shorten_middle(answer.labels[number], 2 * _NAME_LENGTH))
