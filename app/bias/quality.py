"""How good the model itself is: one near chance looks fair."""

from __future__ import annotations

import streamlit as st

from bertcore.bias import Estimate, grammar_exam

from ..shell import frame
from ..shell.jobs import background, waiting
from ..shell.jobs.background import Work


def show(page: frame.Page) -> None:
    """Draw the accuracy on our minimal pairs, if there is a masked-word head."""
    if "mlm" not in page.bert.capabilities:
        return

    def work(progress: background.Progress) -> Estimate:
        return grammar_exam(page.bert, lambda done: progress(done, "The model's own quality"))

    key = ("bias-quality", page.bert_key)
    with frame.guard():
        exam: Estimate | None = waiting.result(Work(key, work), "quality")
        if exam is not None:
            st.caption(
                f"**The model itself** prefers the grammatical sentence in {exam.mean:.0%} of our "
                f"200 minimal pairs ({exam.low:.0%} to {exam.high:.0%}; chance 50%). A model near "
                "chance looks fair."
            )
