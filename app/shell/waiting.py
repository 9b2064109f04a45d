"""Show background work: its progress, a button to stop it, and a rerun when it is done.

Streamlit sends a box its text from the session once, in the run that sets it, and the next run's
message replaces that one. A run that the server starts by itself (`st.rerun` in a timer) may come
before a busy browser has drawn the box, which then stays empty and reports that to the server: the
text is lost. So here the server never starts a run. A timer draws the progress alone, and the
browser requests the rerun when it has rendered everything (`app.shell.render_signal`), with the
contents of its boxes, as at a click. Nor does a run wait for long: it would delay a click in a
fragment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any

import streamlit as st

from . import background
from .background import Job, Work
from .render_signal import arrival

PATIENCE_SECONDS = 1.5
"""Work done within this time shows no progress bar."""
CHECK_SECONDS = 1.0
"""Interval of checking the work."""
GRACE_SECONDS = 3 * CHECK_SECONDS
"""Time within which any other visitor who waits for the same work has checked it."""
_AWAITED, _STOPPED = "_awaited_work", "_stopped_work"


def stage(job: Job) -> str:
    """Return the current step as a sentence."""
    return f"{job.stage}."


def result(
    work: Work,
    name: str,
    *,
    patience: float | None = None,
    stopped: str = "",
    say: Callable[[Job], str] = stage,
) -> Any:
    """Return the result of work; draw its progress and return None while it runs.

    When the work is done, the page (or the fragment in which this is called) runs again.

    Args:
        work: Done once for all visitors who need the same.
        name: Of the view; unique on the page. Letters and dashes.
        patience: Seconds to wait first, so that no bar flickers; None for PATIENCE_SECONDS.
        stopped: Sentence shown when the visitor stopped the work; "" for no way to stop it.
        say: Text of the progress bar.

    Raises:
        Exception: The error that ended the work.
    """
    if stopped and st.session_state.get(_STOPPED, {}).get(name) == work.key:
        st.info(stopped)
        again = "Start again"
        icon = ":material/play_arrow:"
        st.button(again, key=f"again_{name}", on_click=_start, args=(name,), icon=icon)
        return None
    awaited = st.session_state.setdefault(_AWAITED, {})
    if awaited.get(name, work.key) != work.key:  # of the choice before: this one begins sooner
        background.leave(awaited[name], grace=GRACE_SECONDS)
    awaited[name] = work.key
    end = time.monotonic() + (PATIENCE_SECONDS if patience is None else patience)
    job = background.ask(*work)
    while not job.done and time.monotonic() < end:
        time.sleep(0.02)
    if job.done:
        if job.error is not None:
            raise job.error
        return job.result
    sign = f"arrived_{name}"

    @st.fragment(run_every=CHECK_SECONDS)
    def watch() -> None:
        now = background.ask(*work)
        with st.container(key=sign if now.done else f"awaited_{name}"):
            st.progress(now.fraction_done, text=say(now))

    with st.container(horizontal=True, vertical_alignment="center"):
        watch()
        if stopped:
            icon, args = ":material/stop:", (name, work.key)
            st.button("Stop", key=f"stop_{name}", on_click=_stop, args=args, icon=icon)
    arrival(sign, key=f"arrival_{name}")
    return None


def _stop(name: str, key: Hashable) -> None:
    st.session_state.setdefault(_STOPPED, {})[name] = key
    background.leave(key)


def _start(name: str) -> None:
    st.session_state.get(_STOPPED, {}).pop(name, None)
