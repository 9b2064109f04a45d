"""What if: parts of BERT switched off or changed, and what it answers then."""

import re
from pathlib import Path

import streamlit as st

from bertcore.analysis.heads.pruning import save_pruned
from bertcore.interventions.what_if import Changes, every_head

from ..access import checkpoints, places, visits
from ..access.policy import policy
from ..access.room import check_room
from ..plots import plain
from ..shell import cache, capabilities, frame, sidebar
from . import PAGE, changes, controls
from .answers import show_answers, show_inside
from .changes import forget_all
from .ranking import show_ranking, show_removal
from .steer import show_steer

HOW_SAVED = (
    "Writes a checkpoint in which the heads that are off contribute zeros permanently. It opens "
    "here and in transformers with its old shape: no smaller and no faster. Only heads are "
    "removed; skipped layers, patterns and edits belong to the run, not to the weights."
)
_OPENED, _SAVED = "_what_if_opened", "_what_if_saved"
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_. -]{0,59}")


def show_saving(page: frame.Page, changes: Changes) -> None:
    """Draw the form that saves a checkpoint without the heads that are off."""
    if st.session_state.pop(_OPENED, False):
        st.rerun(scope="app")  # the sidebar, which opens it, is not in this fragment
    off = sorted(changes.heads_off)
    with st.expander("Save a checkpoint without these heads", icon=":material/save:"):
        st.caption(HOW_SAVED)
        if not off:
            st.info("All heads are on. Switch off those to remove.")
            return
        whole = len(every_head(page.bert.config))
        row = st.container(horizontal=True, vertical_alignment="bottom")
        name = row.text_input("Name", key="pruned_name", placeholder="without-some-heads").strip()
        if row.button(f"Save without {len(off)} of {whole} heads", icon=":material/save:"):
            _save(page.bert_key, off, name or "without-some-heads")
        saved = st.session_state.get(_SAVED)
        if saved is not None:
            st.success(f"Saved in {plain(places.hide(str(saved)))}")
            st.button("Open it", on_click=_open, args=(saved,), icon=":material/folder_open:")


def _save(key: cache.BertKey, off: list[tuple[int, int]], name: str) -> None:
    """Save below the folder that the server was started in; the sidebar lists what is there.

    On a closed server it is saved in the visitor's own folder, and goes when the visit ends.
    """
    st.session_state[_SAVED] = None
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"{name[:60]!r} is not a valid folder name. Use letters, digits, dots and dashes."
        )
    check_room(cache.loaded().get(key, 0))
    is_closed = policy().is_closed
    place = visits.current().place("saved") if is_closed else Path.cwd() / "checkpoints"
    st.session_state[_SAVED] = save_pruned(cache.opened(key), off, place / name)


def _open(folder: Path) -> None:
    """Open the saved checkpoint on all pages, with all of its heads on."""
    sidebar.choose(checkpoints.name_of(folder))
    forget_all()
    st.session_state[_SAVED] = None
    st.session_state[_OPENED] = True


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
                show_removal(page)
            with frame.guard():
                show_steer(page, case)
            show_saving(page, case.changes)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    capabilities.needs(page, "parts")
    show(page)
