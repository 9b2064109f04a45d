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
    learners, findings = kept.learners(), kept.findings()
    groups = {
        "without a name": [learner for learner in learners if not learner.name],
        "without an answer": [learner for learner in learners if not learner.num_answers],
        "": learners,
    }
    _pick("learners", {_label(learner): learner for learner in learners}, groups)
    newest = {
        f"#{each.number} {_named(each.finding.name)}: {legible(each.finding.first)[:80]}": each
        for each in findings[:MOST_FINDINGS]
    }
    _pick("findings", newest, {"": findings})
    _confirm(kept)


def _label(learner: Learner) -> str:
    counts = f"answers: {learner.num_answers}, findings: {learner.num_findings}"
    return f"#{learner.number} {_named(learner.name)} · {counts}"


def _named(name: str) -> str:
    return legible(name) or "no name"


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
