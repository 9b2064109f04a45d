"""Call a function that reads a file of a stranger in a process of its own, with limits.

What a table can make a library do (take all memory or time, hold the interpreter for seconds, abort
the process) is then done to that process and not to the caller's. On Linux it is a fork of one that
waits with everything imported, so that a call takes little more than the reading itself; elsewhere
it starts anew each time, which takes seconds. Results come back as JSON (`typed_json`).

Limits: seconds everywhere; processor time, memory and written files where the system has the module
`resource` (not on Windows). macOS accepts the limit of memory but does not enforce it.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import math
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from bertcore.base import typed_json
from bertcore.base.memory import out_of_memory
from bertcore.base.process_limits import NICENESS, limit_process

P = ParamSpec("P")
T = TypeVar("T")

MAX_RESULT = 1 << 27
"""Bytes of all that a call hands back."""
_ENVIRONMENT = ("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "SYSTEMROOT", "USERPROFILE")
"""Variables that the process gets, if they are set."""
_READERS = ("bertcore.data.guess", "bertcore.data.texts", "bertcore.training.tasks.read")
"""Modules that the waiting process imports; others are imported when they are called."""
_REFUSALS = (ValueError, RuntimeError, FileNotFoundError, OSError)
"""Errors that are raised here as they are there, with those of bertcore that are among them."""
_LOOK_SECONDS = 0.25
"""Between two looks whether somebody still waits for the result."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a call may take."""

    seconds: int | None
    """By the clock; None where the caller lets the process wait."""
    cpu_seconds: int
    num_bytes: int
    """Of memory, besides that of the libraries."""

    @classmethod
    def of_table(cls, num_bytes: int) -> Limits:
        """Return the limits for a table of an unpacked size; JSON takes the most memory."""
        cpu_seconds = min(5 + num_bytes // 200_000, 60 + num_bytes // 1_000_000)
        return cls(
            seconds=20 + 3 * cpu_seconds, cpu_seconds=cpu_seconds, num_bytes=10**9 + 6 * num_bytes
        )


class Fault(Exception):  # noqa: N818 - the name says whose
    """An error of a call that is no refusal but a fault of bertcore."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(what)
        self.where = where
        """Its kind and the lines that led to it, without a word of what was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitedProcess:
    """A process with limits for each call."""

    limits: Limits
    on_wait: Callable[[], object] = lambda: None
    """Called a few times a second while nothing comes; may raise to end the process."""

    def call(self, function: Callable[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """Return `function(*arguments, **options)`, called in a process with limits.

        Args:
            function: At module level of bertcore.
            arguments, options: What `typed_json` takes. A function among the options is called
                here with what the other one is called with there, and may raise to end it.
                `bad_rows` collects here what it does there.

        Raises:
            ValueError, RuntimeError, OSError: As the function, or if it exceeded a limit.
            Fault: If the function raised anything else.
        """
        told = {name: value for name, value in options.items() if callable(value)}
        with contextlib.closing(self._answers(function, arguments, options, [*told])) as answers:
            for name, value in answers:
                if not name:
                    return value  # type: ignore[no-any-return]  # as the function returned it
                told[name](*value)
        raise AssertionError  # the last answer is the result

    def parts(self, function: Callable[P, None], /, *arguments: P.args, **options: P.kwargs) -> Any:
        """Yield what a function called as by `call` calls its option `on_part` with.

        It waits until the next part is asked for, and ends when nobody asks any more.
        """
        with contextlib.closing(self._answers(function, arguments, options, ["on_part"])) as parts:
            yield from (value[0] for name, value in parts if name)

    def _answers(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        options: Mapping[str, Any],
        told: Sequence[str],
    ) -> Generator[tuple[str, Any]]:
        """Yield which option of `told` the function calls, and with what; at last its result."""
        name = f"{function.__module__}:{function.__qualname__}"
        given = {name: value for name, value in options.items() if name not in told}
        request = typed_json.dumps((name, tuple(arguments), given, tuple(told), self.limits))
        ask = _ask_waiting if sys.platform == "linux" else _ask_new
        answers = ask(request.encode() + b"\n", self.limits.seconds, self.on_wait)
        with contextlib.closing(answers):
            for kind, *values in map(typed_json.loads, answers):
                if kind == "error":
                    raise _error(*values)
                if kind == "signal":
                    raise RuntimeError(self._end_sentence(values[0]))
                name, value, bad_rows = values
                if bad_rows is not None:
                    options["bad_rows"].become(bad_rows)
                yield name, value
                if not name:
                    return
        raise RuntimeError(self._end_sentence(int(_SIGKILL)))

    def _end_sentence(self, number: int) -> str:
        limits = self.limits
        if number in (_SIGXCPU, _SIGALRM, 0):
            what = f"took more than {limits.cpu_seconds} s of processor time or {limits.seconds} s"
        else:
            what = (
                f"ended the process that read it (signal {number}); its limit of memory was "
                f"{limits.num_bytes / 1e9:.1f} GB besides the libraries'"
            )
        return f"reading the file {what}, so it was not read. Give a part of it."


def start_waiting() -> None:
    """Start the process that waits with everything imported, if there is none."""
    if sys.platform == "linux":
        with _lock:
            _waiting()


_SIGXCPU = getattr(signal, "SIGXCPU", -1)
_SIGALRM = getattr(signal, "SIGALRM", -1)
_SIGKILL = getattr(signal, "SIGKILL", 9)
_lock = threading.Lock()
_process: subprocess.Popen[bytes] | None = None
_control: socket.socket | None = None


def _ask_waiting(
    request: bytes, seconds: int | None, on_wait: Callable[[], object]
) -> Generator[bytes]:
    """Let the waiting process fork one for this request, until closed; yield what it answers."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs, _lock:
            socket.send_fds(_waiting(), [b"."], [theirs.fileno()])
        # The process ends itself before.
        ends_at = math.inf if seconds is None else time.monotonic() + seconds + 10
        num_bytes, line = 0, bytearray()
        try:
            ours.sendall(request)
            ours.settimeout(_LOOK_SECONDS)
            while True:
                try:
                    part = ours.recv(1 << 20)
                except TimeoutError:
                    on_wait()
                    if time.monotonic() < ends_at:
                        continue
                    part = _signal(0)
                if not part:
                    return
                num_bytes += len(part)
                if num_bytes > MAX_RESULT:
                    raise RuntimeError(
                        f"what was read of the file takes more than {MAX_RESULT >> 20} MiB. Give "
                        "a part of it."
                    )
                *ended, rest = part.split(b"\n")
                for end in ended:
                    yield bytes(line + end)
                    line.clear()
                line += rest
        except (BrokenPipeError, ConnectionResetError):  # it died
            yield _signal(_SIGKILL)


def _ask_new(
    request: bytes, seconds: int | None, on_wait: Callable[[], object]
) -> Generator[bytes]:
    """Start a process for this request; yield what it answers. It ends when this is closed."""
    process = subprocess.Popen(
        _command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    late = threading.Timer(threading.TIMEOUT_MAX if seconds is None else seconds, process.kill)
    try:
        late.start()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(request)
            process.stdin.close()
        for line in process.stdout:
            on_wait()
            yield line
        if process.wait():
            yield _signal(abs(process.returncode) if late.is_alive() else 0)
    finally:
        late.cancel()
        process.kill()
        process.stdout.close()
        process.wait()


def _signal(number: int) -> bytes:
    return typed_json.dumps(("signal", int(number))).encode() + b"\n"


def _error(name: str, message: str, where: str) -> Exception:
    module, _, kind = name.partition(":")
    known: Any = next((each for each in _REFUSALS if each.__name__ == kind), None)
    if module.startswith("bertcore."):
        known = getattr(importlib.import_module(module), kind, None)
    return known(message) if _is_refusal(known) else Fault(f"{kind}: {message}", where)


def _is_refusal(kind: Any) -> bool:
    is_known = isinstance(kind, type) and issubclass(kind, _REFUSALS)
    return is_known and (kind in _REFUSALS or kind.__module__.startswith("bertcore."))


def _waiting() -> socket.socket:
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
    return [sys.executable, "-P", "-m", __name__]


def _environment() -> dict[str, str]:
    named = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    root = str(Path(__file__).resolve().parents[2])
    return {**named, **threads, "PYTHONPATH": root}


def _serve(control: socket.socket) -> None:
    """Fork a process for each connection that arrives, until the caller is gone."""
    for name in _READERS:
        importlib.import_module(name)
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
    """Fork the process that makes the call; end it with the connection, or report its signal."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        request = connection.makefile("rb").readline()
        ended, alive = os.pipe()  # the other end closes with the process
        child = os.fork()
        if child == 0:
            _answer(request, connection.sendall)
            os._exit(0)
        os.close(alive)
        events = select.poll()
        for end in (connection.fileno(), ended):
            events.register(end, select.POLLIN)
        if all(end != ended for end, _ in events.poll()):
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            connection.sendall(_signal(os.WTERMSIG(status)))
    finally:
        os._exit(0)


def _answer(request: bytes, send: Callable[[bytes], object]) -> None:
    """Make the call of a request within its limits; send what it calls, and its result or error."""

    def say(*message: object) -> None:
        send(typed_json.dumps(message).encode() + b"\n")

    name, arguments, options, told, limits = typed_json.loads(request)
    limit_process(
        num_bytes=limits.num_bytes, cpu_seconds=limits.cpu_seconds, seconds=limits.seconds
    )
    try:
        module, _, path = name.partition(":")
        function = getattr(importlib.import_module(module), path)
        bad_rows = options.get("bad_rows")
        options |= {
            each: lambda *values, each=each: say("called", each, values, bad_rows) for each in told
        }
        say("called", "", function(*arguments, **options), bad_rows)
    except BaseException as error:
        if out_of_memory(error) is not None:
            send(_signal(signal.SIGABRT))  # as in libraries that end their process
            return
        kind = next(filter(_is_refusal, type(error).mro()), type(error))
        frames = reversed(traceback.extract_tb(error.__traceback__))
        lines = " < ".join(f"{frame.filename}:{frame.lineno}" for frame in frames)
        where = f"{type(error).__name__} in {lines}"
        say("error", f"{kind.__module__}:{kind.__qualname__}", str(error)[:4000], where)


def main() -> None:
    """Serve the connection that the command names, or one request on standard input."""
    if len(sys.argv) > 1:
        _serve(socket.socket(fileno=int(sys.argv[1])))
        return

    def send(data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    _answer(sys.stdin.buffer.readline(), send)


if __name__ == "__main__":
    main()
