"""How good the model itself is: one near chance looks fair."""

import streamlit as st

from bertcore.bias import grammar_exam

from ..shell import frame
from ..shell.compute import Compute


def show(page: frame.Page) -> None:
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
