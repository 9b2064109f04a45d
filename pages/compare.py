"""Compare: two checkpoints on the same text, such as before and after fine-tuning."""

import streamlit as st

from app import compare, frame, state
from app.sections import (
    compare_answers,
    compare_choice,
    compare_heads,
    compare_layers,
    compare_weights,
)

VIEWS = {
    "answers": ("Answers", compare_answers.show),
    "heads": ("Heads", compare_heads.show),
    "weights": ("Weights", compare_weights.show),
    "texts": ("Layers over many texts", compare_layers.show),
}


@st.fragment
def show(case: compare.Case) -> None:
    """Draw the chosen view; runs alone when a choice changes."""
    view = st.segmented_control(
        "View",
        list(VIEWS),
        format_func=lambda name: VIEWS[name][0],
        key=state.keep("compare_view", "answers", options=list(VIEWS)),
        required=True,
        label_visibility="collapsed",
    )
    with frame.guard():
        VIEWS[view][1](case)


page = frame.begin("compare")
first, second = compare_choice.choose(page)
show(compare.Case(first, second, page.text_a, page.text_b))
