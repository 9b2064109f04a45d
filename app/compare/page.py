"""Compare: two checkpoints on the same text, such as before and after fine-tuning."""

import streamlit as st

from app.compare import PAGE, answers
from app.compare import case as compare
from app.compare import choice as compare_choice
from app.compare import heads as compare_heads
from app.compare import layers as compare_layers
from app.compare import weights as compare_weights
from app.shell import frame, state

VIEWS = {
    "answers": ("Answers", answers.show),
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


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    first, second = compare_choice.choose(page)
    show(compare.Case(first, second, page.text_a, page.text_b))
