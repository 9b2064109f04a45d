"""The command line in processes that train together, as torchrun or `accelerate launch` start them.

Starting Python and importing torch takes seconds, a fork of a process that has them milliseconds:
the processes are forked by multiprocessing's fork server, which imports once what they need.
"""

import faulthandler
import multiprocessing
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parents[2]
SECONDS = 240
"""After which a run counts as stuck."""

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    [
        "bertscope.cli.main",
        "bertcore.training.finetuning",
        "bertcore.training.pretraining",
        "pandas",
        "sklearn.metrics",
        "torch._dynamo",
    ]
)


@contextmanager
def kept_port() -> Iterator[int]:
    """Give a free port of this machine, which the system gives to nobody else within the block.

    What listens on it must set SO_REUSEADDR, as torch's store does.
    """
    with socket.socket() as guard:
        guard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        guard.bind(("127.0.0.1", 0))
        yield guard.getsockname()[1]


def run_together(num_processes: int, words: Sequence[Any], **environ: str) -> tuple[str, str]:
    """Run `bertscope` with these words in so many processes; return their stdout and stderr.

    `environ` has variables besides those by which the processes meet.
    """
    return fork_together(num_processes, _command, [*map(str, words)], **environ)


def fork_together(
    num_processes: int, target: Callable[..., object], *arguments: Any, **environ: str
) -> tuple[str, str]:
    """Call a function of a module in so many processes; return their stdout and stderr.

    Each is whole and in the order of ranks: two that write one file can break each other's lines.
    """
    with kept_port() as port, TemporaryDirectory() as folder:
        shared = {**environ, "WORLD_SIZE": str(num_processes)}
        shared |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        ranks = [str(rank) for rank in range(num_processes)] if num_processes > 1 else []
        environs = [{**shared, "RANK": rank, "LOCAL_RANK": rank} for rank in ranks] or [environ]
        stdouts, stderrs = (
            [Path(folder) / f"{name}-{rank}" for rank in range(len(environs))]
            for name in ("stdout", "stderr")
        )
        for path in [*stdouts, *stderrs]:
            path.touch()
        children = [
            _SERVER.Process(target=_child, args=(target, arguments, *map(str, outputs), environ))
            for *outputs, environ in zip(stdouts, stderrs, environs, strict=True)
        ]
        for child in children:
            child.start()
        try:
            for _ in children:  # the others would wait for one that failed
                running = [child.sentinel for child in children if child.exitcode is None]
                assert not running or wait(running, SECONDS), f"stuck: {_joined(stderrs)}"
                if any(child.exitcode for child in children):
                    break
        finally:
            codes = [child.exitcode for child in children]
            for child in children:
                child.kill()
                child.join()
        told, noted = _joined(stdouts), _joined(stderrs)
        assert not any(codes), (codes, noted[-3000:])
    return told, noted


def run_torchrun(num_processes: int, words: Sequence[Any]) -> tuple[str, str]:
    """Run `bertscope` with these words as torchrun itself starts it; return stdout and stderr."""
    answer = launch(num_processes, "-m", "bertscope", *words)
    assert answer.returncode == 0, answer.stderr[-3000:]
    return answer.stdout, answer.stderr


def launch(num_processes: int, *words: Any) -> subprocess.CompletedProcess[str]:
    """Run Python in one process, or in several as torchrun starts them."""
    with kept_port() as port:
        launcher = [sys.executable]
        if num_processes > 1:
            launcher += ["-m", "torch.distributed.run", f"--nproc-per-node={num_processes}"]
            launcher += ["--master-addr=127.0.0.1", f"--master-port={port}"]
        return subprocess.run(
            [*launcher, *map(str, words)],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )


def _joined(paths: Sequence[Path]) -> str:
    return "".join(path.read_text() for path in paths)


def _child(
    target: Callable[..., object],
    arguments: tuple[Any, ...],
    stdout: str,
    stderr: str,
    environ: dict[str, str],
) -> None:
    """Be one of the processes, with its standard outputs in two files."""
    for number, path in enumerate((stdout, stderr), start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND), number)
    os.environ.update(environ)
    faulthandler.dump_traceback_later(0.9 * SECONDS, file=2)  # where it is stuck
    import torch

    torch.set_num_threads(1)
    target(*arguments)


def _command(words: list[str]) -> None:
    from bertscope.cli.main import build_app

    build_app()(words, prog_name="bertscope")
