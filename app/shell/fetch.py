"""Fetch checkpoints from the hub: what and how much is shown first, then progress and a stop."""

import time
from typing import NamedTuple

import streamlit as st

from bertcore.base.device import choose_device
from bertcore.base.memory import memory_sentence
from bertcore.model.checkpoints.hub import FetchPlan, HubUnreachableError, cached, fetch, look_up
from bertcore.model.checkpoints.source import hub_ids

from ..plots import plain, theme
from ..server.policy import policy
from . import cache, consent, turns
from .jobs import waiting
from .jobs.background import Progress, Work

ASK_FIRST = (
    "This link asks for **{source}**, which is a checkpoint on the Hugging Face hub. Nothing is "
    "fetched unless you agree, and until then the hub is not asked for it. You can also choose "
    "another checkpoint."
)
WHAT_IS_FETCHED = (
    "Config, tokenizer, model card and weights, from the Hugging Face hub into its cache on this "
    "machine. Programs in a repository are never fetched and never run."
)
STOPPED = "Stopped. Files that arrived complete are kept."
SMALL_FILE = 1_000_000  # bytes below which a file has no row of its own
PATIENCE = 600.0  # seconds: a browser lets pages that nobody looks at ask once a minute, or less
FAILURE_SECONDS = 10.0
_ANSWERS, _READY, _AGREED, _TRIES = "_hub_answers", "_hub_ready", "_hub_agreed", "_hub_tries"


class _Answer(NamedTuple):
    """What the hub answered, and when."""

    plan: FetchPlan | None = None
    """None also if the hub is unreachable and the checkpoint is here."""
    error: Exception | None = None
    when: float = 0.0


def is_ready(key: cache.BertKey) -> bool:
    """Return whether a checkpoint opens without fetching anything; may ask the hub what it has.

    ValueError or RuntimeError as `bertcore.model.checkpoints.hub.look_up`.
    """
    for hub_id in _asked(key):
        if not _may_ask(key):
            return False
        plan = _answer(hub_id, allow_pickle=key.allow_pickle).plan
        if plan is not None and plan.missing and not _is_fetched(plan):
            return False
        _note_ready(hub_id)
    # The base of an adapter is known when the adapter is here.
    return not _asked(key)


def offer(key: cache.BertKey, name: str, ask_first: str = ASK_FIRST) -> bool:
    """Draw what must be agreed to, or how far fetching is; return whether it is ready to open.

    Args:
        name: Name of the place; unique on the page. Letters and dashes.
        ask_first: Text for a link that asks for it.

    ValueError or RuntimeError if the hub refuses it, or fetching fails.
    """
    if is_ready(key):
        return True
    if not _may_ask(key):
        st.info(ask_first.format(source=plain(key.source)))
        on_click, args = consent.allow, (key.source,)
        st.button("Look it up on the hub", key=f"look-up_{name}", on_click=on_click, args=args)
        return False
    answers = (_answer(hub_id, allow_pickle=key.allow_pickle) for hub_id in _asked(key))
    answer = next(answer for answer in answers if answer.plan is not None and answer.plan.missing)
    plan = answer.plan
    assert plan is not None  # as chosen
    if _agreement(plan) not in st.session_state.get(_AGREED, ()):
        _show_plan(plan, key, name)
        return False
    if waiting.result(_work(plan, answer.when), f"fetch-{name}", stopped=STOPPED) is None:
        return False
    _note_ready(str(plan.hub_id))
    return offer(key, name, ask_first)


def offer_again(key: cache.BertKey, name: str) -> None:
    """Draw a button to ask or fetch again, if the hub failed."""
    ids = _asked(key)
    if ids and _may_ask(key):
        on_click, icon = _try_again, ":material/refresh:"
        st.button("Try again", key=f"again_{name}", on_click=on_click, args=(ids,), icon=icon)


def _asked(key: cache.BertKey) -> list[str]:
    """Return the hub ids that opening still asks for."""
    # On a closed server, whoever started it chose what it offers.
    if policy().is_closed or key in cache.loaded():
        return []
    try:
        ids = hub_ids(key.source)
    except (ValueError, RuntimeError):
        return []  # opening it raises the error that says what is wrong
    ready = st.session_state.get(_READY, ())
    return [hub_id for hub_id in ids if hub_id not in ready]


def _may_ask(key: cache.BertKey) -> bool:
    """Return whether the visitor chose a source; a link must not use the network by itself."""
    return consent.is_chosen(key.source)


def _note_ready(hub_id: str) -> None:
    st.session_state.setdefault(_READY, set()).add(hub_id)


def _answer(hub_id: str, *, allow_pickle: bool) -> _Answer:
    """Return what the hub answered, kept for the session; a failure, raised, for some seconds."""
    answers: dict[tuple[str, bool], _Answer] = st.session_state.setdefault(_ANSWERS, {})
    answer = answers.get((hub_id, allow_pickle))
    is_old = answer is not None and answer.error is not None
    if is_old and answer is not None and time.monotonic() - answer.when > FAILURE_SECONDS:
        answer = None
    if answer is None:
        answer = _look_up(hub_id, allow_pickle=allow_pickle)
        answers[hub_id, allow_pickle] = answer
    if answer.error is not None:
        raise answer.error
    return answer


def _look_up(hub_id: str, *, allow_pickle: bool) -> _Answer:
    turns.give_back()
    try:
        return _Answer(look_up(hub_id, allow_pickle=allow_pickle), when=time.monotonic())
    except HubUnreachableError as error:
        if cached(hub_id) is not None:
            return _Answer()
        return _Answer(error=error, when=time.monotonic())
    except (ValueError, RuntimeError) as error:
        return _Answer(error=error, when=time.monotonic())


def _is_fetched(plan: FetchPlan) -> bool:
    folder = cached(str(plan.hub_id))
    return folder is not None and folder.name == plan.commit


def _agreement(plan: FetchPlan) -> tuple[str, str, bool]:
    return str(plan.hub_id), plan.commit, plan.allow_pickle


def _show_plan(plan: FetchPlan, key: cache.BertKey, name: str) -> None:
    """Draw what would be fetched, how large it is, what it takes in memory, and the button."""
    total = theme.megabytes(plan.num_missing_bytes)
    with st.container(border=True, key=f"fetch_plan_{name}"):
        st.markdown(f"**{plain(str(plan.hub_id))}** on the Hugging Face hub: **{total}** to fetch")
        rows = [f"| {plain(files)} | {theme.megabytes(size)} |" for files, size in _rows(plan)]
        st.markdown("\n".join(["| File | Size |", "|---|--:|", *rows]))
        st.markdown(plain(_memory(plan, key)))
        st.caption(f"{WHAT_IS_FETCHED} Revision {plan.commit[:12]}.")
        st.button(
            f"Fetch {total}",
            key=f"fetch_{name}",
            on_click=_agree,
            args=(_agreement(plan),),
            type="primary",
            icon=":material/download:",
        )


def _rows(plan: FetchPlan) -> list[tuple[str, int]]:
    """Return the files to fetch with their bytes, the largest first, small ones in one row."""
    ordered = sorted(plan.missing, key=lambda file: -file.num_bytes)
    rows = [(file.name, file.num_bytes) for file in ordered if file.num_bytes >= SMALL_FILE]
    small = [file for file in ordered if file.num_bytes < SMALL_FILE]
    names = ", ".join(file.name for file in small)
    return rows + ([(names, sum(file.num_bytes for file in small))] if small else [])


def _memory(plan: FetchPlan, key: cache.BertKey) -> str:
    count = plan.num_parameters
    estimate = plan.num_weight_bytes // 4  # as float32
    device = choose_device(key.device)
    return memory_sentence(count or estimate, device, is_exact=count is not None)


def _work(plan: FetchPlan, asked_at: float) -> Work:
    """Return the work of fetching; it continues while its page is in a background tab.

    Args:
        asked_at: When the hub was asked: what it fetched may have been deleted since another time.
    """

    def run(progress: Progress) -> str:
        def report(num_done: int, total: int, file: str) -> None:
            done = f"{num_done / 1e6:,.1f} of {theme.megabytes(total)}"
            progress(num_done / max(1, total), f"Fetching {file}: {done}")

        return str(fetch(plan, progress=report))

    tries = st.session_state.get(_TRIES, 0)
    return Work(("fetch", *_agreement(plan), asked_at, tries), run, PATIENCE, is_of_page=False)


def _agree(agreement: tuple[str, str, bool]) -> None:
    st.session_state[_AGREED] = {*st.session_state.get(_AGREED, ()), agreement}


def _try_again(ids: list[str]) -> None:
    answers = st.session_state.get(_ANSWERS, {})
    st.session_state[_ANSWERS] = {k: v for k, v in answers.items() if k[0] not in ids}
    st.session_state[_TRIES] = st.session_state.get(_TRIES, 0) + 1
