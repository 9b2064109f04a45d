"""What the teacher removes from the class: learners with all they gave, and findings."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import streamlit as st

from ..access.class_store import ClassStore, HandedIn, Learner
from ..html_file.document import legible
from ..shell import frame

MOST_FINDINGS = 300
"""The newest, to pick from; all can be removed at once."""
_CHOSEN = "_class_removal"
"""Key in the session: what is to be removed, until it is confirmed."""
T = TypeVar("T", Learner, HandedIn)


@frame.fragment
def show(kept: ClassStore) -> None:
    """Draw what the teacher picks from, and the confirmation; runs alone, so that no list moves."""
    st.header("Remove")
    if not st.toggle("Remove learners or findings", key="class_removes"):
        st.session_state.pop(_CHOSEN, None)
        return
    st.caption(
        "For names typed by mistake, and for what fills the class with nonsense. A learner goes "
        "with all answers, grades and findings; whoever then answers again counts as a new learner."
    )
    _show_learners(kept.learners())
    _show_findings(kept.findings())
    _confirm(kept)


def _show_learners(learners: Sequence[Learner]) -> None:
    _pick(
        "learners",
        {f"#{one.number} {_named(one.name)} · {_counts(one)}": one for one in learners},
        {
            "without a name": [one for one in learners if not one.name],
            "without an answer": [one for one in learners if not one.num_answers],
            "": learners,
        },
    )


def _counts(learner: Learner) -> str:
    return f"answers: {learner.num_answers}, findings: {learner.num_findings}"


def _named(name: str) -> str:
    return legible(name) or "no name"


def _show_findings(findings: Sequence[HandedIn]) -> None:
    labels = {
        f"#{one.number} {_named(one.finding.name)}: {legible(one.finding.first)[:80]}": one
        for one in findings[:MOST_FINDINGS]
    }
    _pick("findings", labels, {"": findings})


def _pick(what: str, labels: Mapping[str, T], groups: Mapping[str, Sequence[T]]) -> None:
    """Draw a box to pick from by label, and a button for what was picked and for each group."""
    if not labels:
        st.caption(f"There are no {what}.")
        return
    key = f"class_remove_{what}"
    st.session_state[key] = [one for one in st.session_state.get(key, ()) if one in labels]
    picked = st.multiselect(
        what.capitalize(), list(labels), key=key, placeholder=f"Pick {what}, the newest first"
    )
    row = st.container(horizontal=True)
    if row.button("Remove those picked", key=f"{key}_picked", disabled=not picked):
        st.session_state[_CHOSEN] = what, [labels[label] for label in picked]
    for group, members in groups.items():
        label = f"Remove all {group or what} ({len(members):,})"
        if members and row.button(label, key=f"{key}_all_{group}".replace(" ", "_")):
            st.session_state[_CHOSEN] = what, list(members)


def _confirm(kept: ClassStore) -> None:
    """Ask before anything is lost."""
    if _CHOSEN not in st.session_state:
        return
    what, chosen = st.session_state[_CHOSEN]
    if what == "learners":
        answers = sum(one.num_answers for one in chosen)
        findings = sum(one.num_findings for one in chosen)
        them = f"learners: {len(chosen):,}, with answers: {answers:,}, findings: {findings:,}"
    else:
        them = f"findings: {len(chosen):,}"
    st.warning(f"This removes {them}. Nothing brings them back.")
    row = st.container(horizontal=True)
    is_confirmed = row.button("Remove them", key="class_removal_confirmed", type="primary")
    if is_confirmed and what == "learners":
        kept.remove_learners([one.learner for one in chosen])
    elif is_confirmed:
        kept.remove_findings(chosen)
    if row.button("Keep them", key="class_removal_cancelled") or is_confirmed:
        del st.session_state[_CHOSEN]
        st.rerun()
