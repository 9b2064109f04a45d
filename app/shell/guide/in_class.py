"""What the guide hands to the class: a learner's answers, and the name asked at its door."""

import math
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urljoin

import streamlit as st

from bertcore.lessons.answer import Kind
from bertcore.lessons.lesson import Judgement, Step, Verdict
from bertcore.lessons.translation import ENGLISH

from ...plots import plain
from ...server.class_store import MAX_NAME, OWN, ClassStore, clean_name, store
from ...server.learners import is_teacher, learner
from ...server.policy import policy
from .. import frame, turns
from ..words.language import words

_MISSED, _TAKEN, _AGAIN = "_lesson_answer_missed", "_class_name_taken", "_class_asks_again"
_NEW, _NAME, _WORD = "_class_word_is_new", "class_learner_name", "class_word"


def note(
    step: Step,
    judgement: Judgement,
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
    number, kind = None, judgement.mistake
    if step.answer is not None and step.answer.kind is Kind.NUMBER:
        number = judgement.chosen if math.isfinite(judgement.chosen) else None
        side = "too large" if judgement.chosen > judgement.best else "too small"
        kind = "right" if verdict.is_right else kind or side
    given = {"is_right": verdict.is_right, "why": why, "number": number, "kind": kind}
    _keep(kept, step, verdict.yours, on_own, **given)


def note_shown(step: Step, *, on_own: bool) -> None:
    """Keep that a learner had the answer shown: what they answer later is not their first."""
    if (kept := store()) is not None:
        _keep(kept, step, "", on_own, is_right=False)


def _keep(kept: ClassStore, step: Step, answer: str, on_own: bool, **given: Any) -> None:
    turns.give_back()  # it may wait for others to write
    try:
        for end in ("", OWN) if on_own else ("",):
            kept.note(learner(), f"{step.lesson.name}{end}", step.number, answer, **given)
        st.session_state.pop(_MISSED, None)
    except (ValueError, RuntimeError) as error:  # said when the page is drawn anew, too
        st.session_state[_MISSED] = words("class_missed", why=frame.message(error))


def hand_in(page: str, link: str, text: str) -> None:
    """Keep a finding for the class, and say so; the arguments are those of the store."""
    kept = store()
    assert kept is not None, "only a class has what calls it"
    turns.give_back()  # it may wait for others to write
    with frame.guard():
        kept.hand_in(learner(), page, link, text)
        st.success(words("handed_in"))


def who() -> str:
    """Return what tells the learners of a class apart; "" without a class."""
    return "" if store() is None else learner()


def is_held() -> bool:
    """Return whether the teacher keeps verdicts back."""
    return (kept := store()) is not None and kept.is_held()


def door() -> bool:
    """Ask a learner of a class for a name, once; return whether it is still asked."""
    about, kept = policy().school_class, store()
    if about is None or kept is None or is_teacher():
        return False
    turns.give_back()  # it may wait for others to write
    with frame.guard():  # who cannot be asked is not kept out
        if kept.who(learner()) is not None and _AGAIN not in st.session_state:
            return False
        st.markdown(f"### {words('class', name=plain(about.name))}")
        st.markdown(words("class_ask"))
        _draw_door()
        return True
    return False


def _draw_door() -> None:
    taken, told = st.session_state.get(_TAKEN, ("", ""))
    with st.form("class_door", width=480):
        st.text_input(words("class_name"), key=_NAME, max_chars=MAX_NAME)
        if told:
            st.info(told)
        if taken:
            st.text_input(words("class_word"), key=_WORD, max_chars=20)
        row = st.container(horizontal=True)
        label, other = words("class_begin"), words("class_apart" if taken else "class_nameless")
        row.form_submit_button(
            label, key="class_begin", type="primary", on_click=_take_name, args=(False,)
        )
        row.form_submit_button(other, key="class_other", on_click=_take_name, args=(True,))


def _take_name(is_other: bool) -> None:
    """Take what was typed at the door.

    Args:
        is_other: Whether no name was meant, or another person of a name that is taken.
    """
    kept, (taken, _) = store(), st.session_state.get(_TAKEN, ("", ""))
    assert kept is not None, "door looks for it"
    name = clean_name("" if is_other and not taken else st.session_state[_NAME])
    if not name and not is_other:
        return
    word = st.session_state.get(_WORD, "") if taken else ""
    try:
        why = kept.put_name(learner(), name, word=word, is_apart=is_other)
    except (ValueError, RuntimeError) as error:
        st.session_state[_TAKEN] = taken, frame.message(error)
        return
    if why:
        told = words("class_taken" if why == "taken" else "class_wrong", name=plain(name))
        st.session_state[_TAKEN] = name, told
        return
    for key in (_TAKEN, _AGAIN):
        st.session_state.pop(key, None)
    st.session_state[_NEW] = True


def link(path: str) -> str:
    """Return an address of this server as phones open it, with the key of the class; for teachers.

    Args:
        path: Below the address of the app.
    """
    about, key = policy().school_class, policy().key
    base = about.url if about is not None and about.url else urljoin(st.context.url or "/", ".")
    return f"{base.rstrip('/')}/{path}" + (f"#key={quote(key, safe='')}" if key else "")


def show_name() -> None:
    """Tell a learner under which name the class sees them; draws nothing without a class."""
    about, kept = policy().school_class, store()
    if about is None or kept is None:
        return
    if _MISSED in st.session_state:
        st.caption(st.session_state[_MISSED])
    turns.give_back()  # it may wait for others to write
    with frame.guard():
        me = kept.who(learner())
        name, label = "" if me is None else me.name, words("class", name=plain(about.name))
        you = words("class_nobody")
        if me is not None and name:
            you, label = (
                words("class_you", name=plain(name), word=me.word),
                f"{label} · {plain(name)}",
            )
        if st.session_state.pop(_NEW, False) and name:
            st.info(you, icon=":material/key:")
        with st.popover(label, type="tertiary", icon=":material/groups:"):
            st.markdown(you)
            st.caption(words("class_sees"))
            if st.button(words("class_not_me"), key="class_not_me"):
                st.session_state[_AGAIN] = True
                st.rerun()
