"""The page Bias: templates, and below them what else tells of stereotypes, each when opened."""

import streamlit as st

from bertcore.bias import grammar_exam

from ..shell import Compute, Field, capabilities, frame
from . import PAGE, associations, crows_pairs, direction, templates

CANNOT_TELL = (
    "No score on this page predicts harm in use: such measures hardly correlate with those of an "
    "application ([Goldfarb-Tarrant et al. 2021](https://aclanthology.org/2021.acl-long.150/)). "
    "Measure the fine-tuned model on its own data."
)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard():
        if not capabilities.tells(page, "mlm"):
            templates.show(page)
    show_quality(page)
    st.caption(CANNOT_TELL)
    show_associations(page)
    show_direction(page)
    show_price(page)
    show_crows_pairs(page)


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


@frame.closed(
    "Are names and words of groups closer to some attributes?",
    Field("bias_near", False),
    associations.LAYER,
    associations.TEST,
)
def show_associations(page: frame.Page) -> None:
    """Draw the association tests."""
    associations.show(page)


@frame.closed("Is there a gender direction?", Field("bias_along", False))
def show_direction(page: frame.Page) -> None:
    """Draw words along the direction, and the probes."""
    direction.show(page)


@frame.closed("What does removing the direction change, and cost?", Field("bias_price", False))
def show_price(page: frame.Page) -> None:
    """Draw the measures before and after."""
    direction.show_price(page)


@frame.closed("How does it score on CrowS-Pairs?", Field("bias_crows", False))
def show_crows_pairs(page: frame.Page) -> None:
    """Draw the score of a file."""
    if not capabilities.tells(page, "mlm"):
        crows_pairs.show(page)
