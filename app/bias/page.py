"""The page Bias: its views, with the model's quality beside them."""

import streamlit as st

from bertcore.bias import grammar_exam

from ..shell import Compute, Field, capabilities, frame, one_of
from . import PAGE, associations, direction, erasing, published, report, templates


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
    show(page)
    st.caption(CANNOT_TELL)
    report.show(page)
