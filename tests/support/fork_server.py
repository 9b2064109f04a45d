"""Runs command lines in forked children, and kills one where it is told to.

Starting Python and importing torch takes seconds, a fork of a process that has them milliseconds.
One request a line on stdin, one answer a line on stdout, both JSON; the first only warms up.

A request has `words`, the command line, and may have `kill_at`: the number of the function call
after which the child kills itself, counted over the whole run or, with `saving`, only while a
checkpoint is written. So a kill can be repeated, which one by the clock cannot.
"""

import contextlib
import json
import os
import signal
import sys
import traceback
from types import FrameType
from typing import Any

import torch

from bertcore.training.pretraining import RunFolder
from bertscope.cli import main


class Killer:
    """Counts calls, Python's and C's, and kills the process at one of them."""

    def __init__(self, kill_at: int | None, *, saving: bool) -> None:
        self.kill_at, self.saving = kill_at, saving
        self.num_calls = self.num_saving = 0
        self._is_saving = False
        self._save = RunFolder.save_checkpoint.__code__

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take an event of `sys.setprofile`."""
        if frame.f_code is self._save and event in ("call", "return"):
            self._is_saving = event == "call"
        if event.endswith("call"):
            self.num_calls += 1
            self.num_saving += self._is_saving
            count = self.num_saving if self.saving else self.num_calls
            if count == self.kill_at and (self._is_saving or not self.saving):
                os.kill(os.getpid(), signal.SIGKILL)


def run(request: dict[str, Any], counts: int) -> None:
    """Be the child: run the command line and leave; write the number of calls to `counts`."""
    silence = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(silence, standard)
    killer = Killer(request.get("kill_at"), saving=request.get("saving", False))
    code = 1
    try:
        sys.setprofile(killer)
        main.build_app()(request["words"])
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.setprofile(None)
        os.write(counts, json.dumps([killer.num_calls, killer.num_saving]).encode())
        os._exit(code)


def warm_up(words: list[str]) -> None:
    """Run a command line here, so that a child finds imported what commands import late."""
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(SystemExit):
        main.build_app()(words)


def serve() -> None:
    """Answer requests until stdin ends: exit code (negative for a signal) and counted calls.

    The first line is only run, as a warm-up, and not answered.
    """
    torch.set_num_threads(1)
    warm_up(json.loads(sys.stdin.readline())["words"])
    for line in sys.stdin:
        told, tell = os.pipe()
        child = os.fork()
        if child == 0:
            run(json.loads(line), tell)
        os.close(tell)
        with os.fdopen(told) as answer:
            counts = json.loads(answer.read() or "null")
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps({"code": code, "counts": counts}), flush=True)


if __name__ == "__main__":
    serve()
