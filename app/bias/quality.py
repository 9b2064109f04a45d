"""How good the model itself is: one near chance looks fair."""

from __future__ import annotations

import streamlit as st

from bertcore.grammar import accuracies, bundled_pairs, score_pairs

from ..shell import frame
from ..shell.jobs import background, waiting
from ..shell.jobs.background import Work


def show(page: frame.Page) -> None:
    """Draw the accuracy on our minimal pairs, if there is a masked-word head."""
    if "mlm" not in page.bert.capabilities:
        return

    def work(progress: background.Progress) -> tuple[float, float, float]:
        pairs = bundled_pairs().pairs
        parts = score_pairs(
            page.bert, pairs, progress=lambda done: progress(done, "The model's own quality")
        )
        everything = accuracies([score for part in parts for score in part], ())[0]
        return everything.accuracy, everything.low, everything.high

    key = ("bias-quality", page.bert_key)
    with frame.guard():
        found = waiting.result(Work(key, work), "quality")
        if found is not None:
            accuracy, low, high = found
            st.caption(
                f"**The model itself** prefers the grammatical sentence in {accuracy:.0%} of our "
                f"200 minimal pairs ({low:.0%} to {high:.0%}; chance 50%). A model near chance "
                "looks fair."
            )
