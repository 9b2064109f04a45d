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
PAUSE_SECONDS = 0.2
"""Between two looks at the work."""
_STOPPED = "_inspect_stopped"


def result(work: Work, name: str, *, stops: bool = True) -> Any:
    """Return the result of work, or None after it was stopped.

    The page's own run waits, so that the page below is drawn as soon as the result is there; a
    click or another text ends that run as any other.

    Args:
        work: Done once for everybody who asks for the same.
        name: Of the view; unique on the page.
        stops: With a button that gives the work up.

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
    place = st.empty()
    if not job.done:
        with place.container(horizontal=True, vertical_alignment="center"):
            bar = st.progress(job.share, text=f"{job.stage}.")
            if stops:
                icon, args = ":material/stop:", (work.key,)
                st.button("Stop", key=f"stop_{name}", on_click=_stop, args=args, icon=icon)
        while not job.done:
            bar.progress(job.share, text=f"{job.stage}.")
            time.sleep(PAUSE_SECONDS)
            job = background.ask(*work)
        place.empty()
    if job.error is not None:
        raise job.error
    return job.result


def _stop(key: Hashable) -> None:
    st.session_state[_STOPPED] = key
    background.leave(key)


def _start() -> None:
    st.session_state.pop(_STOPPED, None)
