"""A run killed at random moments ends as one that nobody disturbed, to the last bit."""

import json
import os
import random
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore.training.engine.run_folder import read_checkpoint
from tests.support.command_line import metrics, recipe
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_tokenizer

ROOT = Path(__file__).resolve().parents[4]
STEPS = 60
SETTINGS = (
    "--layers 1 --hidden 32 --heads 2 --batch-size 4 --max-seq-length 24 --device cpu --seed 7 "
    f"--steps {STEPS} --save-every 3"
)


class Server:
    """The process that forks the runs."""

    def __init__(self, warm_up: list[str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.fork_server"],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._write({"words": warm_up})

    def run(self, words: list[str], **kill: Any) -> tuple[int, list[int] | None]:
        """Return the exit code, and the calls in all and while saving; none after a kill."""
        self._write({"words": words, **kill})
        answer = json.loads(self._process.stdout.readline())
        return answer["code"], answer["counts"]

    def _write(self, request: dict[str, Any]) -> None:
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def start(tmp_path: Path) -> list[str]:
    """The command line of a new run, but for its folder."""
    write_documents(tmp_path / "train.txt", small_documents())
    write_documents(tmp_path / "valid.txt", small_documents(8, seed=5))
    tiny_tokenizer().save(tmp_path / "tok")
    more = shlex.join(recipe(dropout=0.1, evaluate_every=5))
    inputs = f"--corpus {tmp_path}/train.txt --valid {tmp_path}/valid.txt"
    return f"pretrain {inputs} --tokenizer {tmp_path}/tok {SETTINGS} {more} --out".split()


@pytest.fixture
def server(start: list[str], tmp_path: Path) -> Iterator[Server]:
    server = Server([*start, str(tmp_path / "warm")])
    yield server
    server.close()


def names(run: Path) -> list[str]:
    """Return all files of a run, hidden ones too."""
    files = (path.relative_to(run) for path in run.rglob("*"))
    return sorted(map(str, files))


@pytest.mark.exhaustive
def test_eleven_kills_change_nothing(server: Server, start: list[str], tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    code, counts = server.run([*start, str(whole)])
    assert code == 0
    calls, calls_of_a_save = counts[0], counts[1] * 3 // STEPS

    chance = random.Random(20)
    steps_seen = []
    # The first in the preparation or soon after, then in turn at a save and anywhere.
    for most, saving in [
        (calls // 50, False),
        *[(3 * calls_of_a_save, True), (calls // 4, False)] * 5,
    ]:
        words = [*start, str(killed)]
        if killed.is_dir():  # else the kill came before there was a run
            words = ["pretrain", "--out", str(killed), "--resume"]
        code, _ = server.run(words, kill_at=chance.randint(1, most), saving=saving)
        assert code == -signal.SIGKILL
        found = (killed / "checkpoints").glob("step-*")
        steps_seen.append(max((int(path.name[5:]) for path in found), default=0))
    assert 0 < steps_seen[-1] < STEPS
    assert len(set(steps_seen)) > 3  # they hit different moments

    code, _ = server.run(["pretrain", "--out", str(killed), "--resume"])
    assert code == 0
    assert metrics(killed) == metrics(whole)
    assert names(killed) == names(whole)
    ours, theirs = (
        read_checkpoint(run / "checkpoints" / f"step-{STEPS}") for run in (killed, whole)
    )
    assert ours.pop("position") | {"elapsed_seconds": 0} == theirs.pop("position") | {
        "elapsed_seconds": 0
    }
    assert_equal(ours, theirs)


def assert_equal(ours: Any, theirs: Any) -> None:
    """Weights, optimisers, random states: equal to the last bit."""
    assert type(ours) is type(theirs)
    if isinstance(ours, torch.Tensor):
        assert torch.equal(ours, theirs)
    elif isinstance(ours, dict):
        assert list(ours) == list(theirs)
        for key in ours:
            assert_equal(ours[key], theirs[key])
    elif isinstance(ours, list | tuple):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_equal(a, b)
    else:
        assert ours == theirs
