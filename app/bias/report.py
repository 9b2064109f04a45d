"""A report of all measures as one HTML file, to download."""

import streamlit as st

from bertcore.bias.report import make_report, report_html

from ..shell import Work, background, frame, waiting

_ASKED = "_bias_report_of"
ABOUT = (
    "All measures that have shipped sets, the model's quality, and the criticism of each measure, "
    "in one HTML file to print or archive."
)


def show(page: frame.Page) -> None:
    """Draw the button that makes the report, and then the one that downloads it."""
    if st.session_state.get(_ASKED) != page.bert_key:
        if not st.button("Make a report", icon=":material/description:", help=ABOUT):
            return
        st.session_state[_ASKED] = page.bert_key

    def work(progress: background.Progress) -> str:
        def on_stage(stage: str, done: float | None) -> None:
            progress(done or 0.0, f"Report: {stage}")

        return report_html(make_report(page.bert, (), on_stage, name=page.bert_key.source))

    with frame.guard():
        html: str | None = waiting.result(Work(("bias-report", page.bert_key), work), "report")
        if html is not None:
            st.download_button(
                "Download the report (HTML)",
                html,
                "bias-report.html",
                "text/html",
                icon=":material/download:",
                help=ABOUT,
            )
