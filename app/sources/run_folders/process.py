"""Training processes: started by a page, independent of it, and saved when they are stopped."""

import logging
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from bertcore.configs.recipe import write_recipe

from ...server import training, visits
from ...server.policy import TrainingLimits

log = logging.getLogger("bertscope.app")

ROOT = Path(__file__).resolve().parents[3]
MAX_RUNNING = 2
"""Most runs that may be active at once in a folder, or started by this server in any folder."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")
"""Valid names of runs, which become names of folders."""
CAN_STOP = os.name == "posix"  # whether this system can signal a process to save and end

NO_TRAINING = "BERTSCOPE_NO_TRAINING"
"""Environment variable that forbids starting, resuming or stopping runs from the browser."""

PREPARING_SECONDS = 300.0
"""Time for the vocabulary and the text of a visitor's run, besides its minutes."""
_CHECK_SECONDS = 2.0
_PATIENCE_SECONDS = 30.0  # time to save, between the signal to stop and the one that kills

Kind = Literal["pretrain", "finetune", "label-curve"]
_children: dict[Path, subprocess.Popen[bytes]] = {}  # processes that this server started
_ended: dict[Path, int] = {}
"""Exit codes of those that have ended; below 0 the signal that killed one."""
_lock = threading.Lock()


def may_start() -> bool:
    """Return whether visitors may start, resume and stop runs; a shared server may forbid it."""
    return training.is_allowed() and os.environ.get(NO_TRAINING, "0") in ("", "0")


def log_file(run: Path) -> Path:
    """Return the file of a run's console output: beside its folder, which the run creates."""
    return run.with_name(f"{run.name}.log")


def recipe_file(run: Path) -> Path:
    """Return the recipe with which a page started a run: beside its folder."""
    return run.with_name(f"{run.name}.toml")


def check_name(name: str) -> None:
    """Refuse a name that is not a plain folder name.

    ValueError if it is not made of letters, digits, - and _.
    """
    if not NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is not a valid name of a run. Use up to 60 letters, digits, - and _, "
            "beginning with a letter or digit."
        )


def start(run: Path, settings: Mapping[str, Any] | None, *, kind: Kind = "pretrain") -> None:
    """Start or resume a run, as a process of its own: `bertscope pretrain --out RUN ...`.

    It outlives this server, unless it is a visitor's; its output goes to `log_file`.

    Args:
        run: The run's folder.
        settings: Written to `recipe_file`, which the process reads; None resumes the run.
        kind: Of the run.

    ValueError if this server does not let visitors train. OSError if the folder or the log cannot
    be written.
    """
    command = "pretrain" if kind == "pretrain" else "finetune"
    if not may_start():
        raise ValueError(
            f"this server starts no training runs ({NO_TRAINING} is set). Start them in a "
            f"terminal with bertscope {command}."
        )
    if not training.is_own(run):
        raise ValueError(
            "runs of visitors have their own folder on this server. Do not give another."
        )
    limits = training.limits()
    how = ["--resume"] if settings is None else ["--recipe", str(recipe_file(run))]
    words = [command, "--out", str(run), *how]
    # A visitor's ends also with a server that is killed: its standard input ends then.
    modules = ["bertscope"] if limits is None else ["bertcore.base.tied", "bertscope"]
    run.parent.mkdir(parents=True, exist_ok=True)
    if settings is not None:
        write_recipe(recipe_file(run), settings)
    # The package may be importable only from this server's working directory.
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}
    with log_file(run).open("ab" if settings is None else "wb") as log:
        log.write(f"$ {shlex.join(['bertscope', *words])}\n".encode())
        log.flush()
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", *modules, *words],
            stdin=subprocess.DEVNULL if limits is None else subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=env,
            start_new_session=True,
        )
    with _lock:
        _children[run.resolve()] = child
        _ended.pop(run.resolve(), None)
    if limits is not None:
        threading.Thread(target=_hold, args=(child, run.parent, limits), daemon=True).start()


def _hold(child: subprocess.Popen[bytes], folder: Path, limits: TrainingLimits) -> None:
    """Stop a visitor's process that takes longer or writes more than it may."""
    end = time.monotonic() + 60 * limits.minutes + PREPARING_SECONDS
    while child.poll() is None:
        if time.monotonic() > end or visits.bytes_below(folder) > limits.megabytes * 1e6:
            log.warning("stopped a visitor's run that went beyond its limits")
            _end(child)
            return
        time.sleep(_CHECK_SECONDS)


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()


def _end_below(folder: Path) -> None:
    """End what still works in the folder of a visit."""
    with _lock:
        theirs = [
            child
            for run, child in _children.items()
            if run.is_relative_to(folder.resolve()) and child.poll() is None
        ]
    for child in theirs:
        if os.name == "posix":  # with the processes that it started
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        child.kill()
    for child in theirs:  # what still writes would leave files in the folder
        with suppress(subprocess.TimeoutExpired):
            child.wait(_CHECK_SECONDS)


visits.before_end(_end_below)


def pid_of(run: Path) -> int | None:
    """Return the process that this server started for a run, if it is still alive."""
    with _lock:
        child = _children.get(run.resolve())
        if child is None:
            return None
        if child.poll() is not None:  # polling also reaps the process
            _ended[run.resolve()] = _children.pop(run.resolve()).returncode
            return None
        return child.pid


def kind_of(run: Path) -> Kind:
    """Return the kind of a run that has no folder yet, by its recipe, if a page started it."""
    try:
        settings = tomllib.loads(recipe_file(run).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "pretrain"
    if "label_curve" in settings:
        return "label-curve"
    return "finetune" if "task" in settings else "pretrain"


def num_alive() -> int:
    """Return how many processes of this server are active."""
    with _lock:
        return sum(child.poll() is None for child in _children.values())


def stop(pid: int, *, has_begun: bool) -> None:
    """Signal a training process to save and end; one that only prepares has nothing to save.

    OSError if the process belongs to another user.
    """
    try:
        os.kill(pid, signal.SIGINT if has_begun else signal.SIGTERM)
    except ProcessLookupError:
        return  # it has just ended by itself


def why_ended(run: Path) -> str:
    """Return the error that ended a run's process, or by which signal; "" if it was asked to end.

    Returns:
        The last message of its log without "Error: ", or the last line of a traceback of ours.
    """
    try:
        with log_file(run).open("rb") as log:
            log.seek(max(0, log_file(run).stat().st_size - 20_000))
            lines = log.read().decode("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    messages = [line.strip() for line in lines if line.strip()]
    last = messages[-1] if messages else ""
    is_traceback = any(line.startswith("Traceback ") for line in messages[-60:])
    if last.startswith("Error: ") or (is_traceback and not last.startswith("$ ")):
        return last.removeprefix("Error: ")
    with _lock:
        code = _ended.get(run.resolve(), 0)
    was_asked = last.startswith("Stopped and saved") or -code in (signal.SIGINT, signal.SIGTERM)
    if code >= 0 or was_asked:
        return ""
    return f"its process was killed (signal {-code}), as systems do when memory runs out."
