"""Results that a page asks for, computed at once or in the background: the page need not know."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from ...view import REPORTS
from .. import cache, stored
from . import waiting
from .background import Job, Progress, Work

T = TypeVar("T")

STORED = "Stored: compute anew"
ABOUT_STORED = (
    "This result ships with BertScope: the same code computed it on the same texts with this "
    "checkpoint. Click to compute it here."
)
_ANEW = "_computed_anew"
"""Session state: names of the stored results that this visitor computes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute:
    """How a page computes a result that may take long, and what it says meanwhile.

    Called with a function and its arguments, of which a `BertKey` reaches the function as the
    opened checkpoint and `Texts` as their trace. The function is at module level and deterministic,
    its arguments are hashable, and equal arguments are computed once for all visitors. A function
    that reports its progress (see REPORTS) is slow by contract and waits in the queue of background
    work; all others are computed in the page's own run. A result that ships with BertScope (see
    `stored`) is taken from there, with a button that computes it anew.
    """

    name: str = ""
    """Name of the view, unique on the page; empty for the function's."""
    is_again: bool = False
    """Whether another view of the page asked for the same before, with its button."""
    stage: str = "Computing"
    """What is being done, for a function that reports the fraction alone."""
    stopped: str = waiting.STOPPED
    patience: float | None = None
    say: Callable[[Job], str] = waiting.stage
    """These three as for `waiting.result`."""

    def __call__(self, function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Return the function's result.

        Raises:
            waiting.Pending: If it is not there yet, and its progress is drawn. It ends the block
                under `frame.guard`, or the fragment, without a word.
            Exception: The error that ended the work.
        """
        name = self.name or function.__name__.strip("_").replace("_", "-")
        kept = _shipped(function, args, kwargs)
        if kept is not None:
            if not self.is_again:
                st.button(
                    STORED,
                    key=f"anew_{name}",
                    type="tertiary",
                    icon=":material/inventory_2:",
                    help=ABOUT_STORED,
                    on_click=_compute_anew,
                    args=(kept.name,),
                )
            shipped: T = kept.value
            return shipped
        reports = [name for name in REPORTS if name in inspect.signature(function).parameters]
        if not reports:
            return cache.computed(function, *args, **kwargs)

        def run(progress: Progress) -> tuple[T]:
            def report(fraction: float, stage: str = self.stage) -> None:
                progress(fraction, stage)

            resolved = map(cache.resolved, args)
            options = {name: cache.resolved(value) for name, value in kwargs.items()}
            options[reports[0]] = report
            return (function(*resolved, **options),)

        key = cache.result_key(function, args, kwargs)
        result: tuple[T] | None = waiting.result(
            Work(key, run), name, patience=self.patience, stopped=self.stopped, say=self.say
        )
        if result is None:
            raise waiting.Pending
        return result[0]


def _shipped(
    function: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> stored.Stored | None:
    found = stored.find(function, args, kwargs)
    return None if found is None or found.name in st.session_state.get(_ANEW, ()) else found


def _compute_anew(name: str) -> None:
    st.session_state[_ANEW] = st.session_state.get(_ANEW, frozenset()) | {name}
