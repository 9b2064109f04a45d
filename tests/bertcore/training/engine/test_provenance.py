"""What a run was made of: the commit of its code, and the states of all random sources."""

import io
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

import bertcore
from bertcore.training.engine.loop import random_state, seed_random, set_random_state
from bertcore.training.engine.provenance import git_revision


def test_the_commit_and_whether_files_were_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "bertcore"
    package.mkdir()
    code = package / "__init__.py"
    code.write_text("")
    monkeypatch.setattr(bertcore, "__file__", str(code))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_revision() is None  # no checkout
    if shutil.which("git") is None:
        return

    def git(*words: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", *words]
        return subprocess.check_output(command, cwd=tmp_path, text=True).strip()

    git("init", "-q")
    (tmp_path / "other").write_text("")
    git("add", "other")
    git("commit", "-qm", "Begin")
    assert git_revision() is None  # somebody else's checkout
    git("add", "bertcore")
    git("commit", "-qm", "Add the package")
    head = git("rev-parse", "HEAD")
    assert git_revision() == {"revision": head, "dirty": False}
    code.write_text("changed = True\n")
    assert git_revision() == {"revision": head, "dirty": True}
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_revision() is None  # no git


def draw() -> list[float]:
    return [float(torch.rand(())), float(np.random.rand()), np.random.randn(), random.gauss()]


def test_all_random_sources_come_back() -> None:
    before = random_state()
    try:
        seed_random(3)
        draw()  # of the pairs that randn and gauss make, one is left over
        file = io.BytesIO()
        torch.save(random_state(), file)
        expected = [draw() for _ in range(3)]
        file.seek(0)
        set_random_state(torch.load(file, weights_only=True))
        assert [draw() for _ in range(3)] == expected
        torch.manual_seed(1)
        old = torch.get_rng_state()  # as earlier versions saved it
        one = float(torch.rand(()))
        set_random_state(old)
        assert float(torch.rand(())) == one
    finally:
        set_random_state(before)
