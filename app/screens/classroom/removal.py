"""What the teacher removes from the class: learners with all they gave, and findings."""

from collections.abc import Mapping, Sequence

import streamlit as st

from ...parts.html_file.document import legible
from ...server.class_store import ClassStore, Finding, Learner
from ...shell import frame

MOST_FINDINGS = 300
"""The newest, to pick from; all can be removed at once."""
_CHOSEN = "_class_removal"
"""Key in the session: the learners or findings to be removed, until it is confirmed."""


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
        "learners": learners,
    }
    _pick("learners", learners, groups)
    _pick("findings", findings[:MOST_FINDINGS], {"findings": findings})
    _confirm(kept)


def _label(each: Learner | Finding) -> str:
    name = f"#{each.number} {legible(each.name) or 'no name'}"
    if isinstance(each, Finding):
        return f"{name}: {legible(each.text)[:80]}"
    return f"{name} · answers: {each.num_answers}, findings: {each.num_findings}"


def _pick(
    what: str,
    offered: Sequence[Learner | Finding],
    groups: Mapping[str, Sequence[Learner | Finding]],
) -> None:
    """Draw a box to pick from, and a button for what was picked and for each group."""
    if not offered:
        st.caption(f"There are no {what}.")
        return
    key, labels = f"class_remove_{what}", {_label(each): each for each in offered}
    st.session_state[key] = [one for one in st.session_state.get(key, ()) if one in labels]
    picked = st.multiselect(
        what.capitalize(), list(labels), key=key, placeholder=f"Pick {what}, the newest first"
    )
    row = st.container(horizontal=True)
    if row.button("Remove those picked", key=f"{key}_picked", disabled=not picked):
        st.session_state[_CHOSEN] = [labels[label] for label in picked]
    for group, members in groups.items():
        label = f"Remove all {group} ({len(members):,})"
        if members and row.button(label, key=f"{key}_all_{group}".replace(" ", "_")):
            st.session_state[_CHOSEN] = members


def _confirm(kept: ClassStore) -> None:
    """Ask before anything is lost."""
    if _CHOSEN not in st.session_state:
        return
    learners = [each for each in st.session_state[_CHOSEN] if isinstance(each, Learner)]
    findings = [each for each in st.session_state[_CHOSEN] if isinstance(each, Finding)]
    them = f"findings: {len(findings):,}"
    if learners:
        them = (
            f"learners: {len(learners):,}, with answers: "
            f"{sum(learner.num_answers for learner in learners):,}, findings: "
            f"{sum(learner.num_findings for learner in learners):,}"
        )
    st.warning(f"This removes {them}. Nothing brings them back.")
    row = st.container(horizontal=True)
    is_confirmed = row.button("Remove them", key="class_removal_confirmed", type="primary")
    if is_confirmed:
        kept.remove_learners([learner.learner for learner in learners])
        kept.remove_findings(findings)
    if row.button("Keep them", key="class_removal_cancelled") or is_confirmed:
        del st.session_state[_CHOSEN]
        st.rerun()
