"""Waiting for what the page Inspect computes: nothing at first, then a bar and a way to stop."""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import Any

import streamlit as st

from app import background, texts
from app.inspection import Work

PATIENCE_SECONDS = 0.8
"""Work that is done by then shows no progress."""
_STOPPED = "_inspect_stopped"


def result(work: Work, name: str) -> Any:
    """Return the result of work, or None while it is done or after it was stopped.

    Args:
        work: Done once for everybody who asks for the same.
        name: Of the view; unique on the page.

    Raises:
        Exception: What ended the work, other than the visitor.
    """
    if st.session_state.get(_STOPPED) == work.key:
        st.info(texts.TEXTS["inspect.stopped"])
        st.button("Start again", key=f"again_{name}", on_click=_start, icon=":material/play_arrow:")
        return None
    end = time.monotonic() + PATIENCE_SECONDS
    job = background.ask(*work)
    while not job.done and time.monotonic() < end:
        time.sleep(0.02)
    if job.done:
        if job.error is not None:
            raise job.error
        return job.result
    is_first = True

    @st.fragment(run_every=0.5)
    def watch() -> None:
        nonlocal is_first
        now = background.ask(*work)
        # Never within the page's own run: the widgets' first values may not have been sent yet.
        if not is_first and (now.done or st.session_state.get(_STOPPED) == work.key):
            st.rerun(scope="app")
        is_first = False
        row = st.container(horizontal=True, vertical_alignment="center")
        row.progress(now.share, text=f"{now.stage}.")
        args = (work.key,)
        row.button("Stop", key=f"stop_{name}", on_click=_stop, args=args, icon=":material/stop:")

    watch()
    return None


def _stop(key: Hashable) -> None:
    st.session_state[_STOPPED] = key
    background.leave(key)


def _start() -> None:
    st.session_state.pop(_STOPPED, None)
