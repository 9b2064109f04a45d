"""What the guide hands to the class: a learner's answers, and a name if one is typed."""

import math
from collections.abc import Callable, Mapping

import streamlit as st

from bertcore.lessons.lesson import Step, Verdict
from bertcore.lessons.translation import ENGLISH

from ..access.class_store import store
from ..access.learners import learner
from ..access.policy import policy
from ..plots import plain
from ..shell import frame, turns
from ..shell.hand_in import name_box
from .language import words

_NAME = "class_learner_name"


def note(step: Step, chosen: str | float, verdicts: Callable[[], Mapping[str, Verdict]]) -> None:
    """Keep an answer for the class, if there is one; the lesson goes on if it cannot be kept.

    Args:
        verdicts: Returns what it is told, by language; called for a class alone.
    """
    kept = store()
    if kept is None:
        return
    told = verdicts()
    verdict = told[ENGLISH]
    turns.give_back()  # it may wait for others to write
    try:
        kept.note(
            learner(),
            step.lesson.name,
            step.number,
            verdict.yours,
            is_right=verdict.is_right,
            why={code: (other.yours, other.why) for code, other in told.items()},
            number=number_of(chosen),
        )
    except (ValueError, RuntimeError) as error:
        st.caption(words("class_missed", why=plain(frame.sentence_of(error))))


def number_of(chosen: str | float) -> float | None:
    """Return a typed number; None for what was picked, and for what has no place on an axis."""
    is_number = isinstance(chosen, int | float) and math.isfinite(chosen)
    return float(chosen) if is_number else None


def show_name() -> None:
    """Tell a learner what the class sees, and take a name; draws nothing without a class."""
    about, kept = policy().school_class, store()
    if about is None or kept is None:
        return
    with st.popover(
        words("class", name=plain(about.name)), type="tertiary", icon=":material/groups:"
    ):
        st.caption(words("class_sees"))
        name_box(words("class_name"), _NAME)
