"""What the guide hands to the class: a learner's answers, and a name if one is typed."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from bertcore.lessons.lesson import Step, Verdict
from bertcore.lessons.translation import ENGLISH

from ...plots import plain
from ...server.class_store import MAX_NAME, ClassStore, clean_name, store
from ...server.learners import learner
from ...server.policy import policy
from .. import frame, turns
from ..words.language import words

_MISSED = "_lesson_answer_missed"
ON_OWN = "-own"
"""End of the name under which answers on a sentence of the learner's own are kept."""


def note(
    step: Step,
    chosen: str | float,
    verdicts: Callable[[], Mapping[str, Verdict]],
    *,
    on_own: bool = False,
) -> None:
    """Keep an answer for the class, if there is one; the lesson goes on if it cannot be kept.

    Args:
        verdicts: Returns what it is told, by language; called for a class alone.
        on_own: Whether it is on a sentence of the learner's own: it is kept as such too.
    """
    kept = store()
    if kept is None:
        return
    told = verdicts()
    verdict = told[ENGLISH]
    why = {code: (other.yours, other.why) for code, other in told.items()}
    given = {"is_right": verdict.is_right, "why": why, "number": number_of(chosen)}
    _keep(kept, step, verdict.yours, on_own, **given)


def note_shown(step: Step, *, on_own: bool) -> None:
    """Keep that a learner had the answer shown: what they answer later is not their first."""
    if (kept := store()) is not None:
        _keep(kept, step, "", on_own, is_right=False)


def _keep(kept: ClassStore, step: Step, answer: str, on_own: bool, **given: Any) -> None:
    turns.give_back()  # it may wait for others to write
    try:
        for end in ("", ON_OWN) if on_own else ("",):
            kept.note(learner(), f"{step.lesson.name}{end}", step.number, answer, **given)
        st.session_state.pop(_MISSED, None)
    except (ValueError, RuntimeError) as error:  # said when the page is drawn anew, too
        st.session_state[_MISSED] = words("class_missed", why=frame.message(error))


def who() -> str:
    """Return what tells the learners of a class apart; "" without a class."""
    return "" if store() is None else learner()


def number_of(chosen: str | float) -> float | None:
    """Return a typed number; None for what was picked, and for what has no place on an axis."""
    is_number = isinstance(chosen, int | float) and math.isfinite(chosen)
    return float(chosen) if is_number else None


def show_name() -> None:
    """Tell a learner what the class sees, and take a name; draws nothing without a class."""
    about, kept = policy().school_class, store()
    if about is None or kept is None:
        return
    if _MISSED in st.session_state:
        st.caption(st.session_state[_MISSED])
    with st.popover(
        words("class", name=plain(about.name)), type="tertiary", icon=":material/groups:"
    ):
        st.caption(words("class_sees"))
        name_box(kept, words("class_name"), "class_learner_name")


def name_box(kept: ClassStore, label: str, key: str) -> None:
    """Draw a box of the learner's name, which the class keeps.

    What is typed stays in the box, and a sentence says so, if it cannot be kept.
    """
    shown = f"{key}_shown"
    turns.give_back()  # it may wait for others to write
    before = st.session_state.get(shown, "")
    with frame.guard():
        before = kept.name_of(learner())
    if st.session_state.get(shown) != before:  # typed in another box or tab
        st.session_state[key] = st.session_state[shown] = before
    typed: str = st.text_input(label, key=key, max_chars=MAX_NAME)
    if clean_name(typed) != before:
        with frame.guard():
            kept.put_name(learner(), typed)
            st.session_state[shown] = kept.name_of(learner())
