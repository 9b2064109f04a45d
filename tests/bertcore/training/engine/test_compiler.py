"""Compiling: the same numbers where it works, and a plain word where it cannot."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore.training.engine.processes import missing_for_compile
from bertcore.training.pretraining import Pretraining
from tests.support.tiny_runs import build as tiny_run

CPU = torch.device("cpu")
LONG: dict[str, Any] = {"steps": None, "minutes": 30.0}


def build(path: Path, objective: str = "mlm+nsp", **changes: Any) -> Pretraining:
    return tiny_run(path, objective, **{"steps": 6, "dtype": "float32", **changes})


def losses(run: Pretraining) -> list[float]:
    lines = run.folder.metrics_file.read_text().splitlines()
    return [json.loads(line)["loss"] for line in lines]


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "a-compiler-that-is-not-there")


def test_without_a_compiler_a_run_goes_on_and_says_so(tmp_path: Path, no_compiler: None) -> None:
    told: list[str] = []
    run = build(tmp_path / "auto", compile="auto", **LONG)
    run.run(on_notice=told.append, should_stop=lambda: run.progress.step == 6)
    assert told == [
        "Computing in float32.",
        "not compiled, so training is slower: no C++ compiler was found (looked for "
        "a-compiler-that-is-not-there).",
    ]
    plain = build(tmp_path / "off", compile="off", **LONG)
    plain.run(on_notice=told.append, should_stop=lambda: plain.progress.step == 6)
    assert told[2:] == ["Computing in float32."]
    assert losses(run)[0] == losses(plain)[0]


def test_asked_for_and_missing_is_refused(tmp_path: Path, no_compiler: None) -> None:
    with pytest.raises(ValueError, match=r"compile = .on. cannot work: no C\+\+ compiler"):
        build(tmp_path, compile="on")


@pytest.mark.parametrize("choice", ["auto", "on"])
def test_a_compiler_that_fails_is_told(
    tmp_path: Path, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise TypeError("cannot compile this\nand much more")

    monkeypatch.setattr(
        "bertcore.training.engine.processes.missing_for_compile", lambda device: None
    )
    told: list[str] = []
    run = build(tmp_path, compile=choice, **LONG)
    monkeypatch.setattr(torch, "compile", broken)
    monkeypatch.setattr(torch.nn.Module, "compile", _compile_to(broken))
    state = torch.get_rng_state()
    if choice == "on":
        with pytest.raises(RuntimeError, match="TypeError: cannot compile this"):
            run.run(on_notice=told.append)
        assert told == ["Computing in float32."]
        assert torch.equal(torch.get_rng_state(), state)
        return
    run.run(on_notice=told.append, should_stop=lambda: run.progress.step == 2)
    assert told[1:] == ["compiling failed, so training is slower (TypeError: cannot compile this)."]
    assert run.progress.step == 2


def _compile_to(call: Any) -> Any:
    def compile(self: torch.nn.Module, **_: Any) -> None:
        self._compiled_call_impl = call

    return compile


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "mps" in str(missing_for_compile(torch.device("mps")))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no C++ compiler" in str(missing_for_compile(CPU))
    (tmp_path / "g++").write_text("#!/bin/sh\n")
    (tmp_path / "g++").chmod(0o755)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    assert "Python.h" in str(missing_for_compile(CPU))
    (tmp_path / "Python.h").touch()
    assert missing_for_compile(CPU) is None
    assert os.environ["PATH"] == str(tmp_path)
