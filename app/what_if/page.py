"""What if: parts of BERT switched off or changed, and what it says then."""

import streamlit as st

from app.shell import capabilities, frame
from app.what_if import PAGE, controls, ranking, results
from app.what_if import changes as what_if
from bertcore.interventions.what_if import Changes


def chosen_case(page: frame.Page) -> what_if.Case:
    """Draw the strip of tokens and return the input with the chosen changes."""
    what_if.keep_all(page.bert.config, page.trace)
    masked = controls.choose_masks(page)
    changes = what_if.chosen(page.bert.config, page.trace.num_tokens)
    return what_if.Case(page.text_a, page.text_b, masked, changes)


def choose_changes(page: frame.Page, case: what_if.Case) -> None:
    """Draw all that can be changed."""
    config, trace = page.bert.config, what_if.before(page.bert_key, case)
    controls.show_switches(config)
    controls.show_pattern(trace)
    controls.show_edits(config, trace)
    st.button(
        "Undo all changes",
        icon=":material/undo:",
        on_click=what_if.forget_all,
        disabled=case.changes == Changes(),
    )


@st.fragment
def show(page: frame.Page) -> None:
    """Draw the page below the sentence box; runs alone when a choice changes."""
    with frame.guard(), st.container(key="what_if"):
        case = chosen_case(page)
        left, right = st.columns([4, 5], gap="large")
        with left:
            choose_changes(page, case)
        found = None
        with right, frame.guard():
            found = results.show_answers(page, case)
        if found is not None:  # else the sentence beside the switches says why
            results.show_inside(page, case, found)
            with frame.guard():
                ranking.show_ranking(page, case)
            ranking.show_saving(page, case.changes)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    capabilities.needs(page, "parts")
    show(page)
