"""The page Bias: its views, with the model's quality beside them."""

import streamlit as st

from bertcore.bias import grammar_exam
from bertcore.bias.report import make_report, report_html
from bertcore.model import Model

from ..shell import Compute, Field, Progress, capabilities, frame, one_of
from . import PAGE, associations, direction, erasing, published, templates


def show_quality(page: frame.Page) -> None:
    """Draw the accuracy on our minimal pairs, if there is a masked-word head."""
    if "mlm" not in page.bert.capabilities:
        return
    with frame.guard():
        compute = Compute(name="quality", stage="The model's own quality")
        exam = compute(grammar_exam, page.bert_key)
        st.caption(
            f"**The model itself** prefers the grammatical sentence in {exam.mean:.0%} of our "
            f"200 minimal pairs ({exam.low:.0%} to {exam.high:.0%}; chance 50%). A model near "
            "chance looks fair."
        )


VIEWS = {
    "templates": "Templates",
    "published": "Published sets",
    "associations": "Association tests",
    "direction": "A direction",
    "erase": "Erase",
}
VIEW = Field("bias_view", "templates", tuple(VIEWS))
CANNOT_TELL = (
    "No score on this page predicts harm in use: such measures hardly correlate with those of an "
    "application ([Goldfarb-Tarrant et al. 2021](https://aclanthology.org/2021.acl-long.150/)). "
    "Audit the fine-tuned model on its own data."
)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    one_of("View", VIEWS, VIEW)
    with frame.guard():
        if VIEW.value in ("templates", "published"):
            if not capabilities.tells(page, "mlm"):
                (templates if VIEW.value == "templates" else published).show(page)
        elif VIEW.value == "associations":
            associations.show(page)
        elif VIEW.value == "direction":
            direction.show(page)
        else:
            erasing.show(page)
    show_quality(page)
    st.caption(CANNOT_TELL)
    show_report(page)


_ASKED = "_bias_report_of"
ABOUT = (
    "All measures that have shipped sets, the model's quality, and the criticism of each measure, "
    "in one HTML file to print or archive."
)


def show_report(page: frame.Page) -> None:
    """Draw the button that makes the report, and then the one that downloads it."""
    if st.session_state.get(_ASKED) != page.bert_key:
        if not st.button("Make a report", icon=":material/description:", help=ABOUT):
            return
        st.session_state[_ASKED] = page.bert_key

    with frame.guard():
        html = Compute(name="report")(_report, page.bert_key, page.bert_key.source)
        st.download_button(
            "Download the report (HTML)",
            html,
            "bias-report.html",
            "text/html",
            icon=":material/download:",
            help=ABOUT,
        )


def _report(bert: Model, name: str, *, progress: Progress) -> str:
    def on_stage(stage: str, done: float | None) -> None:
        progress(done or 0.0, f"Report: {stage}")

    return report_html(make_report(bert, (), on_stage, name=name))
