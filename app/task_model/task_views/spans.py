"""The view of "qa": the best answers in a text."""

from pathlib import Path

import streamlit as st

from bertcore.analysis.attribution import SpanAnswers, SpanTarget, TaskInput
from bertcore.data.tables import TABLE_FILES

from ...plots import percent, plain, shorten_middle
from ...shell import Picture, frame
from ..answer_figures import AnswerBars, span_table
from ..choices import SPAN
from ..model import ANSWER_CODE
from .view import ExplainedTarget, TaskView

SPANS = Picture(
    name="inspect-spans",
    chart=AnswerBars(table=span_table, name="answer", is_grey=lambda spans: spans["answer"] == ""),
    how=(
        "The best answers in sentence B: probability of the start times probability of the end, "
        "each a softmax over all tokens. The head has two vectors, *S* for starts and *E* for "
        "ends; their products with a token's vector are its logits. The grey bar is *no answer*, "
        "which only models trained on questions without an answer (SQuAD 2.0) have learned to "
        "give. The answer in pink is explained below."
    ),
    code=ANSWER_CODE,
)


class SpanView(TaskView):
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

    def show(
        self, page: frame.Page, answer: SpanAnswers, source: TaskInput, setup: str
    ) -> ExplainedTarget | None:
        """Draw the best answers as bars, and the choice of one."""
        if not answer.spans:
            st.info("Sentence B contains no word that could be an answer. Write a longer text.")
            return None
        best, text = answer.spans[0], plain(shorten_middle(answer.spans[0].text, 120))
        p = percent(best.probability)
        head = f"The model answers **{text}**, with {p}"
        if answer.best is None:
            none = percent(answer.no_answer)
            head = f"The model says **there is no answer**, with {none} (best span: {text}, {p})"
        st.header(head, anchor=False)
        numbers = list(range(len(answer.spans)))
        key = SPAN.key(options=numbers)
        encoding = source.encoding
        nothing = f"no answer ({encoding.tokens[encoding.cls_place]})"
        drawn = {"chosen": SPAN.value, "nothing": nothing}
        SPANS.show(page, answer, drawn=drawn, setup=setup, with_caption=False)
        st.selectbox(
            "Explain the answer",
            numbers,
            format_func=lambda i: shorten_middle(answer.spans[i].text, 60),
            key=key,
            width=400,
        )
        SPANS.caption()
        span = answer.spans[SPAN.value]
        return ExplainedTarget(SpanTarget(span.start, span.end), None)

    def in_words(self, answer: SpanAnswers, word: int | None) -> str:
        """Return the best answer, or that there is none."""
        if not answer.spans:
            return "no answer"
        best = answer.spans[0]
        text, p = plain(shorten_middle(best.text, 80)), percent(best.probability)
        if answer.best is None:
            return f"**no answer** with {percent(answer.no_answer)} (best span: {text}, {p})"
        return f"**{text}** with {p}"

    def column_names(self, path: Path) -> tuple[str, ...]:
        """Return (): SQuAD's form has no columns."""
        return ()
