"""Open an untrusted checkpoint folder first in a process of its own, with limits.

What a folder can make a library do (grow a text a million times, loop, abort the process) then ends
that process and not the caller's. The process gets no secrets: a fresh Python with a minimal
environment. On Linux it is a fork of one that waits with everything imported, so that a trial takes
little more than the opening itself; elsewhere it starts anew each time, which takes seconds.

Limits: seconds everywhere; processor time, memory and written files where the system has the module
`resource` (not on Windows). macOS accepts the limit of memory but does not enforce it.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from bertcore.base.memory import out_of_memory
from bertcore.base.process_limits import NICENESS, limit_process
from bertcore.checkpoints.files import open_folder
from bertcore.checkpoints.folder import OnlyPickleError
from bertcore.loading.loader import load

AT_ONCE = 3
"""Trials at the same time; more wait."""
PROBES = ("The cat sat on the mat.", "Zoë: naïve 猫 🙂 e\u0301 " * 8, "a" * 300)
_ERRORS = {
    kind.__name__: kind for kind in (ValueError, RuntimeError, FileNotFoundError, OnlyPickleError)
}
_MAX_REPORT = 1 << 16
_ENVIRONMENT = (
    *("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "SYSTEMROOT", "USERPROFILE"),
    *("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME"),
)
"""Variables that the process gets, if they are set."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What opening a folder may take."""

    seconds: int
    cpu_seconds: int
    num_bytes: int
    """Of memory, besides that of the libraries."""

    @classmethod
    def of(cls, weight_bytes: int) -> Limits:
        """Return the limits for weights of a size: they are read, copied and hashed once."""
        return cls(
            seconds=90 + weight_bytes // 10_000_000,
            cpu_seconds=30 + weight_bytes // 50_000_000,
            num_bytes=10**9 + 3 * weight_bytes,
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a trial ended; no error: the folder opens."""

    error: str = ""
    """Name of the class of the error."""
    message: str = ""

    def check(self) -> None:
        """Raise the error, if there is one.

        Raises:
            ValueError, RuntimeError: As `load`, or if it exceeded a limit.
        """
        if self.error:
            raise _ERRORS.get(self.error, RuntimeError)(self.message)


def try_opening(
    folder: Path,
    *,
    allow_pickle: bool = False,
    limits: Limits | None = None,
    owner: str | None = None,
) -> Verdict:
    """Open a checkpoint folder and encode a few texts in a process with limits.

    Args:
        folder: As `load` takes it. An adapter's base is found or fetched first.
        allow_pickle: As in `load`.
        limits: None: by the size of the weights.
        owner: Whose folder it is; one trial of an owner at a time, the owner's others wait without
            keeping anybody else from theirs. None: nobody's in particular.
    """
    try:
        num_bytes = open_folder(folder, allow_pickle=allow_pickle).num_bytes
    except (OSError, ValueError, RuntimeError) as error:
        return _verdict_of(error)
    limits = limits or Limits.of(num_bytes)
    request = {
        "folder": str(folder),
        "allow_pickle": allow_pickle,
        "seconds": limits.seconds,
        "cpu_seconds": limits.cpu_seconds,
        "num_bytes": limits.num_bytes,
    }
    with _turn_of(owner), _slots:
        report = (_ask_helper if sys.platform == "linux" else _ask_new)(request)
    if "signal" in report:
        return Verdict("RuntimeError", _end_sentence(report["signal"], limits))
    return Verdict(str(report.get("error", "")), str(report.get("message", "")))


def start_helper() -> None:
    """Start the process that waits with everything imported, if there is none."""
    if sys.platform == "linux":
        with _helper_lock:
            _helper()


def _end_sentence(number: int, limits: Limits) -> str:
    if number in (_SIGXCPU, _SIGALRM, 0):
        what = f"took more than {limits.cpu_seconds} s of processor time or {limits.seconds} s"
    else:
        what = (
            f"ended the process in which it was tried (signal {number}); its limit of memory was "
            f"{limits.num_bytes / 1e9:.1f} GB besides the libraries'"
        )
    return (
        f"opening the checkpoint {what}, so it was not opened. Its tokenizer or config asks for "
        "more than one of its size needs: save it again with the program that trained it, or open "
        "another one."
    )


_SIGXCPU = getattr(signal, "SIGXCPU", -1)
_SIGALRM = getattr(signal, "SIGALRM", -1)
_slots = threading.BoundedSemaphore(AT_ONCE)
_trials: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()
"""Owner -> held during a trial; there while somebody holds it or waits."""
_trials_lock = threading.Lock()
_helper_lock = threading.Lock()
_process: subprocess.Popen[bytes] | None = None
_control: socket.socket | None = None


@contextlib.contextmanager
def _turn_of(owner: str | None) -> Iterator[None]:
    """Wait until no other trial of an owner is going on."""
    if owner is None:
        yield
        return
    with _trials_lock:
        trial = _trials.setdefault(owner, threading.Lock())
    with trial:
        yield


def _ask_helper(request: Mapping[str, Any]) -> dict[str, Any]:
    """Let the waiting process fork one for this request, and return its report."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs, _helper_lock:
            socket.send_fds(_helper(), [b"."], [theirs.fileno()])
        ours.settimeout(request["seconds"] + 30)  # the process ends itself before
        data = b""
        try:
            ours.sendall(json.dumps(request).encode() + b"\n")
            while len(data) < _MAX_REPORT and (part := ours.recv(_MAX_REPORT)):
                data += part
        except TimeoutError:
            return {"signal": 0}
        except OSError:  # it died
            return {"signal": int(signal.SIGKILL)}
    return _read_report(data)


def _ask_new(request: Mapping[str, Any]) -> dict[str, Any]:
    """Start a process for this request, and return its report."""
    try:
        done = subprocess.run(
            _command(),
            input=json.dumps(request).encode() + b"\n",
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            timeout=request["seconds"],
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"signal": 0}
    return {"signal": abs(done.returncode)} if done.returncode else _read_report(done.stdout)


def _read_report(data: bytes) -> dict[str, Any]:
    try:
        return dict(json.loads(data))
    except ValueError:  # cut short: it died
        return {"signal": 9}


def _helper() -> socket.socket:
    """Return the connection to the waiting process, started if it is not alive."""
    global _process, _control
    if _process is not None and _control is not None and _process.poll() is None:
        return _control
    _control, theirs = socket.socketpair()
    with theirs:
        _process = subprocess.Popen(
            [*_command(), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # it would say a visitor's words
            env=_environment(),
            start_new_session=True,  # Ctrl+C is for the server, which ends this one
        )
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            # Others are answered before its imports, which take seconds of a core.
            niceness = os.getpriority(os.PRIO_PROCESS, 0) + NICENESS
            os.setpriority(os.PRIO_PROCESS, _process.pid, niceness)
    atexit.register(_process.kill)
    return _control


def _command() -> list[str]:
    return [sys.executable, "-P", "-m", "bertcore.loading.sandbox"]


def _environment() -> dict[str, str]:
    named = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    root = str(Path(__file__).resolve().parents[2])
    return {**named, **threads, "HF_HUB_OFFLINE": "1", "PYTHONPATH": root}


def _serve(control: socket.socket) -> None:
    """Fork a process for each connection that arrives, until the caller is gone."""
    from transformers import AutoTokenizer, PreTrainedModel  # noqa: F401  # once, not in each fork

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    while True:
        _, fds, _, _ = socket.recv_fds(control, 1, 1)
        if not fds:
            return
        with socket.socket(fileno=fds[0]) as connection:
            if os.fork() == 0:
                control.close()
                _supervise(connection)


def _supervise(connection: socket.socket) -> None:
    """Fork the process that opens the folder, and report the signal that ended it."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        request = json.loads(connection.makefile().readline())
        child = os.fork()
        if child == 0:
            limit_process(**_limits_of(request))
            connection.sendall(json.dumps(_open(request)).encode())
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            connection.sendall(json.dumps({"signal": os.WTERMSIG(status)}).encode())
    finally:
        os._exit(0)


def _limits_of(request: Mapping[str, Any]) -> dict[str, int]:
    return {name: request[name] for name in ("num_bytes", "cpu_seconds", "seconds")}


def _open(request: Mapping[str, Any]) -> dict[str, Any]:
    """Open the folder of a request; return its report."""
    try:
        model = load(
            Path(request["folder"]), device="cpu", allow_pickle=bool(request["allow_pickle"])
        )
        for text in PROBES:
            with contextlib.suppress(ValueError):  # a vocabulary may lack its letters
                model.tokenizer.encode(text)
    except BaseException as error:
        if out_of_memory(error) is not None:
            return {"signal": int(signal.SIGABRT)}  # as in libraries that end their process
        verdict = _verdict_of(error)
        return {"error": verdict.error, "message": verdict.message}
    return {}


def _verdict_of(error: BaseException) -> Verdict:
    name = next((kind.__name__ for kind in type(error).mro() if kind.__name__ in _ERRORS), None)
    message = str(error)[:4000]
    if name is None:
        name, message = "RuntimeError", f"the checkpoint does not open ({type(error).__name__}: "
        message += f"{str(error)[:1000]}). Copy it again, or open another one."
    return Verdict(name, message)


def main() -> None:
    """Serve the connection that the command names, or one request on standard input."""
    if len(sys.argv) > 1:
        _serve(socket.socket(fileno=int(sys.argv[1])))
        return
    request = json.loads(sys.stdin.readline())
    limit_process(**_limits_of(request))
    sys.stdout.write(json.dumps(_open(request)))


if __name__ == "__main__":
    main()
