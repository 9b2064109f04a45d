"""What both forms do with a new run: its name, place and recipe, and showing it once started."""

import shlex
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

from bertcore.base.device import choose_device, compute_format
from bertcore.configs.recipe import recipe_text
from bertcore.training.engine.run_folder import why_not_written

from ...server import places, training
from ...server.room import check_room as check_disk
from ...shell import frame
from ...shell.links import RUN
from ...sources.run_folders import process, queue
from ...sources.run_folders.runs import NoRoomError, all_runs, check_room
from .fields import VIEW, WATCH

_STARTED, _WAITS = "_run_started", "_run_waits"
_REFRESH_SECONDS = 2.0


def choose_name(folder: Path, *, width: int | None = None) -> str:
    """Draw the box for a run's name; an empty one takes a free name."""
    taken = {path.name.removesuffix(".log") for path in folder.iterdir()} if folder.is_dir() else ()
    free = next(f"run-{n}" for n in range(1, 10**6) if f"run-{n}" not in taken)
    typed = st.text_input(
        "Name of the run",
        key="run_name",
        placeholder=free,
        help="Becomes the name of its folder.",
        width="stretch" if width is None else width,
    )
    return typed.strip() or free


def show_recipe(run: Path, command: str, settings: Mapping[str, Any]) -> None:
    """Draw the recipe and the command of the same run, and in which number format it computes."""
    if limits := training.limits():
        st.caption(
            f"This server stops a run after {limits.minutes:g} minutes; what it has is saved."
        )
    compute = compute_format("auto", choose_device())
    line = f"bertscope {command} --out {shlex.quote(str(run))} --recipe {run.name}.toml"
    with st.expander("How is the same done in a terminal?"):
        st.caption(f"{compute.sentence} The settings below are in {run.name}.toml:")
        st.code(places.hide(line), language="shell", wrap_lines=True)
        st.code(places.hide(recipe_text(settings)), language="toml", wrap_lines=True)


def start_or_wait(
    kind: process.Kind, folder: Path, is_asked: bool, start: Callable[[], Path]
) -> None:
    """Start a run that is asked for, and show it; a visitor for whom there is no room waits.

    Args:
        kind: Of the form: what waits in one must not start in the other.
        folder: Of the run.
        is_asked: Whether the button was pressed just now.
        start: Starts it and returns its folder.
    """
    if not is_asked and not (st.session_state.get(_WAITS) == kind and queue.waits()):
        return
    run = None
    with frame.guard(stop=True):
        try:
            run = start()
        except NoRoomError:
            if training.limits() is None:
                raise
            queue.join()
        except OSError as error:
            queue.leave()
            reason = why_not_written(error, folder if folder.is_dir() else Path.home())
            raise RuntimeError(f"the run could not be started: {reason}") from error
        except Exception:
            queue.leave()
            raise
    st.session_state[_WAITS] = kind
    if run is not None:
        queue.leave()
        st.session_state[_STARTED] = run.name
        st.rerun()
    _show_place()


@st.fragment(run_every=_REFRESH_SECONDS)
def _show_place() -> None:
    """Draw the visitor's place in the queue, and start the run when it is the first."""
    if not queue.waits():
        return
    queue.join()  # the page is still open
    if queue.is_next():
        st.rerun(scope="app")
    limits = training.limits()
    assert limits is not None, "only visitors with limits wait"
    st.info(
        f"Place {queue.ahead() + 1} in the queue. {process.num_alive()} runs work now, at most "
        f"{limits.minutes:g} minutes each. Yours starts by itself while this page is open.",
        icon=":material/hourglass_top:",
    )
    if st.button("Leave the queue"):
        queue.leave()
        st.rerun(scope="app")


def new_run(
    folder: Path,
    name: str,
    *,
    num_bytes: float,
    minutes: float | None = None,
    num_parameters: int = 0,
) -> Path:
    """Return the folder of a new run; refuse one that this visitor cannot start.

    Args:
        num_bytes: Size of all that it will write, estimated.
        minutes: Its length; None if it is not known, for one that is stopped at this server's
            limit.
        num_parameters: Of a new model; 0 for one that there is.

    NoRoomError if too many runs are active. ValueError if its name is not valid or taken, or it is
    beyond the limits of this server. OSError if the folder of the runs cannot be read.
    """
    process.check_name(name)  # before it becomes a part of a path
    run = folder / name
    known, limits = all_runs(folder), training.limits()
    active = [other.name for other in known if other.is_active]
    if minutes is None and limits is not None:
        minutes = limits.minutes
    training.check_start(
        run, minutes=minutes, num_bytes=num_bytes, active=len(active), num_parameters=num_parameters
    )
    if name in active or run.exists():
        raise ValueError(f"a run {name!r} already exists. Choose another name.")
    recipe = process.recipe_file(run)
    if recipe.exists() and not process.log_file(run).exists():  # not written for a run
        raise ValueError(f"{recipe.name} in the folder of the runs is yours. Choose another name.")
    check_room(known)
    return run


def copied(source: Path, run: Path, name: str) -> Path:
    """Return where the copy of an uploaded file is, beside the run; it has the same endings."""
    return run.with_name(f"{run.name}-data") / f"{name}{''.join(source.suffixes)}"


def copy_data(source: Path, run: Path, name: str) -> None:
    """Copy an uploaded file to `copied`: uploads are removed after a while.

    OSError if it cannot be written. ValueError if this server is closed and has no room for it.
    """
    check_disk(source.stat().st_size)
    target = copied(source, run, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def show_started() -> None:
    """Select the run that was just started; called before the widgets that hold the choice."""
    name = st.session_state.pop(_STARTED, None)
    if name is not None:
        RUN.put(name)
        VIEW.put(WATCH)
