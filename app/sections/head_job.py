"""The measuring of all heads, which runs beside the page: its progress, and a way to stop it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from app import background, cache, frame, texts
from app.head_sources import Chosen
from bertcore.analysis.head_report import HeadReport, report_heads
from bertcore.analysis.head_similarity import HeadMap, head_map

FEW_SENTENCES = 200
"""So few are measured in about a second: the page waits, and no bar flickers."""
WAIT_SECONDS = 2.0
_STOPPED = "_heads_stopped"


def report(key: cache.BertKey, chosen: Chosen) -> HeadReport | None:
    """Return the report if it is computed; else draw its progress, which runs by itself.

    Raises:
        Exception: What stopped the work, other than the visitor.
    """
    job_key = ("heads", key, chosen.key)
    if was_stopped(job_key, texts.TEXTS["heads.stopped"]):
        return None

    def work(progress: background.Progress) -> HeadReport:
        return report_heads(cache.opened(key), chosen.texts, chosen.trees, progress=progress)

    few = len(chosen.texts.sentences) + len(chosen.trees.sentences) <= FEW_SENTENCES
    found: HeadReport | None = when_ready(job_key, work, wait=few, stops=True)
    return found


def head_places(key: cache.BertKey, chosen: Chosen, report: HeadReport) -> HeadMap | None:
    """Return the map of heads if it is laid out; else draw its progress: see `report`.

    It comes after the rest: opening scikit-learn takes seconds, once on each server.
    """

    def work(progress: background.Progress) -> HeadMap:
        progress(0.3, "Laying out the map")
        return head_map(report.distances)

    found: HeadMap | None = when_ready(("heads-map", key, chosen.key), work, wait=True)
    return found


def was_stopped(job_key: tuple[object, ...], said: str) -> bool:
    """Return whether the visitor stopped a job; then say so, with a button that starts it again."""
    if st.session_state.get(_STOPPED) != job_key:
        return False
    st.info(said)
    st.button("Start again", on_click=_start, icon=":material/play_arrow:")
    return True


def when_ready(
    job_key: tuple[object, ...],
    work: Callable[[background.Progress], object],
    *,
    wait: bool,
    stops: bool = False,
) -> Any:
    """Return a job's result; else None, and its progress is drawn.

    Args:
        job_key, work: As for `background.ask`.
        wait: Wait a moment first, so that no bar flickers.
        stops: With a button that stops it.

    Raises:
        Exception: What stopped the work, other than the visitor.
    """
    job = background.ask(job_key, work)
    deadline = time.monotonic() + WAIT_SECONDS
    while wait and not job.done and time.monotonic() < deadline:
        time.sleep(0.02)
    if job.done:
        if job.error is not None:
            raise job.error
        return job.result

    @st.fragment(run_every=1.0)
    def watch() -> None:
        if st.session_state.get(_STOPPED) == job_key:
            st.rerun(scope="app")
        now = background.ask(job_key, work)
        if now.done:
            st.rerun(scope="app")
        row = st.container(horizontal=True, vertical_alignment="center")
        row.progress(now.share, text=f"{now.stage}.")
        if stops:
            row.button("Stop", on_click=_stop, args=(job_key,), icon=":material/stop:")

    watch()
    return None


def _stop(job_key: tuple[object, ...]) -> None:
    st.session_state[_STOPPED] = job_key
    background.leave(job_key)


def _start() -> None:
    st.session_state.pop(_STOPPED, None)


def code(page: frame.Page, chosen: Chosen, more: str) -> str:
    """Return Python that makes the report, and `more`."""
    return page.setup_code + texts.CODE["heads.report"].format(chosen=chosen.code) + more
