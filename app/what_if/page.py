"""What if: parts of BERT switched off or changed, and what it answers then."""

import streamlit as st

from bertcore.interventions import Changes

from ..shell import capabilities, frame
from . import PAGE, changes, controls
from .answers import show_answers, show_inside
from .ranking import show_ranking
from .steer import show_steer


def chosen_case(page: frame.Page) -> changes.Case:
    """Draw the strip of tokens and return the input with the chosen changes."""
    changes.keep_all(page.bert.config, page.trace)
    masked = controls.choose_masks(page)
    chosen = changes.chosen(page.bert.config, page.trace.num_tokens)
    return changes.Case(page.bert_key, page.text_a, page.text_b, masked, chosen)


def choose_changes(page: frame.Page, case: changes.Case) -> None:
    """Draw all that can be changed."""
    config, trace = page.bert.config, case.before
    controls.show_switches(config)
    controls.show_pattern(config, trace)
    controls.show_edits(config, trace)
    st.button(
        "Undo all changes",
        icon=":material/undo:",
        on_click=changes.forget_all,
        disabled=case.changes == Changes(),
    )


@frame.fragment
def show(page: frame.Page) -> None:
    """Draw the page below the sentence box; runs alone when a choice changes."""
    with st.container(key="what_if"):
        case = chosen_case(page)
        left, right = st.columns([4, 5], gap="large")
        with left:
            choose_changes(page, case)
        compared = None
        with right, frame.guard():
            compared = show_answers(page, case)
        if compared is not None:  # else the sentence beside the switches says why
            if case.changes != Changes():  # else nothing moved, and both pictures would be empty
                show_inside(page, case, compared)
            with frame.guard():
                show_ranking(page, case)
            with frame.guard():
                show_steer(page, case)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    capabilities.needs(page, "parts")
    show(page)
