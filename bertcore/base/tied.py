"""Run a module as `python -m` does, in a process that ends when its standard input does.

`python -m bertcore.base.tied MODULE ARGUMENT ...`, with a pipe as standard input: whoever holds the
other end may be killed, and takes this process and those that it started along. Linux has a signal
for that (PR_SET_PDEATHSIG), but it comes with the end of the thread that started the process.
"""

import os
import runpy
import signal
import sys
import threading


def _end_with_input() -> None:
    while os.read(0, 1):  # of the descriptor: a lock of sys.stdin would hold up the end
        pass
    if os.name == "posix" and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_input, daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
