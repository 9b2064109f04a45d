"""Show background work: place in the queue, progress, a button to stop it, and a rerun at its end.

Streamlit sends a box its text from the session once, in the run that sets it, and the next run's
message replaces that one. A run that the server starts by itself (`st.rerun` in a timer) may come
before a busy browser has drawn the box, which then stays empty and reports that to the server: the
text is lost. So here the server never starts a run. A timer only draws the progress, and the
browser requests the rerun when it has rendered everything (`app.shell.browser.signals`), with the
contents of its boxes, as at a click. Nor does a run wait for long: it would delay a click in a
fragment.
"""

from collections.abc import Callable, Hashable
from typing import Any

import streamlit as st

from ...server.streamlit_internals import StopException, session
from .. import turns
from ..browser.signals import arrival
from ..words import tr
from . import background
from .background import GivenUp, Job, Work

PATIENCE_SECONDS = 1.5  # work done within this time shows no progress bar
CHECK_SECONDS, LONGEST_CHECK_SECONDS = 1.0, 10.0
"""Interval of checking the work, and that of a visitor with many others before them."""
STOPPED = "Stopped. Nothing was computed."
_AWAITED, _STOPPED = "_awaited_work", "_stopped_work"
_PAGE, _OF_PAGE = "_page_of_work", "_work_of_page"


class Pending(StopException):
    """A result is not there yet, and its progress is drawn; outside of a guard it ends the page."""


def begin_page(page: str) -> None:
    """At the start of a run of a page: stop waiting for the work of the page that was left."""
    if st.session_state.get(_PAGE) != page:
        awaited = st.session_state.get(_AWAITED, {})
        for name in st.session_state.pop(_OF_PAGE, ()):
            key = awaited.pop(name, None)
            if key is not None and key not in awaited.values():
                leave(key)
    st.session_state[_PAGE] = page


def stage(job: Job) -> str:
    """Return the current step as a sentence."""
    return f"{job.stage}."


def result(
    work: Work,
    name: str,
    *,
    patience: float | None = None,
    stopped: str = STOPPED,
    say: Callable[[Job], str] = stage,
) -> Any:
    """Return the result of work; draw its progress and return None while it runs.

    When the work is done, the page (or the fragment in which this is called) runs again.

    Args:
        work: Done once for all visitors who need the same.
        name: Name of the view; unique on the page. Letters and dashes.
        patience: Seconds to wait first, so that no bar flickers; None for PATIENCE_SECONDS.
        stopped: Sentence shown when the visitor stopped the work.
        say: Text of the progress bar.

    Raises:
        Exception: The error that ended the work.
    """
    if is_stopped(work.key):
        row = st.container(horizontal=True, vertical_alignment="center")
        row.info(tr(stopped))
        icon = ":material/play_arrow:"
        row.button(
            tr("Start again"), key=f"again_{name}", on_click=_start, args=(work.key,), icon=icon
        )
        return None
    if work.is_of_page:
        st.session_state.setdefault(_OF_PAGE, set()).add(name)
    awaited = st.session_state.setdefault(_AWAITED, {})
    before, awaited[name] = awaited.get(name, work.key), work.key
    if before not in awaited.values():  # of the choice before: this one begins sooner
        leave(before)
    job = wait(work, PATIENCE_SECONDS if patience is None else patience)
    if job.done:
        if job.error is not None:
            raise job.error
        return job.result
    sign = f"arrived_{name}"
    # Many who wait ask less often: a hundred questions a second would take a core.
    interval = min(LONGEST_CHECK_SECONDS, CHECK_SECONDS * (1 + job.num_before // 8))

    @st.fragment(run_every=interval)
    def watch() -> None:
        now = ask(work)
        with st.container(key=sign if now.done else f"awaited_{name}"):
            st.progress(now.fraction_done, text=say(now))

    with st.container(horizontal=True, vertical_alignment="center"):
        watch()
        icon, args = ":material/stop:", (name, work.key)
        st.button(tr("Stop"), key=f"stop_{name}", on_click=_stop, args=args, icon=icon)
    arrival(sign, key=f"arrival_{name}")
    return None


def ask(work: Work) -> Job:
    """Return the job of some work, queued for this visitor if there is none; never waits."""
    return background.ask(work.key, work.run, session(), patience=work.patience)


def wait(work: Work, seconds: float) -> Job:
    """Return the job of some work when it is done, or after some seconds."""
    job = ask(work)
    if not job.done:
        turns.give_back()
        job.ended.wait(seconds)
    if isinstance(job.error, GivenUp):  # of others, who left while this visitor asked
        job = ask(work)
    return job


def leave(key: Hashable) -> None:
    """Stop waiting for work; it continues if other visitors wait for it."""
    background.leave(key, session())


def is_stopped(key: Hashable) -> bool:
    """Return whether the visitor stopped this work."""
    return key in st.session_state.get(_STOPPED, {}).values()


def _stop(name: str, key: Hashable) -> None:
    st.session_state.setdefault(_STOPPED, {})[name] = key
    leave(key)


def _start(key: Hashable) -> None:
    stopped = st.session_state.get(_STOPPED, {})
    st.session_state[_STOPPED] = {name: other for name, other in stopped.items() if other != key}
