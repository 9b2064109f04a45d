"""Several processes train what one process would, and either continues the other's run."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from bertcore.training.engine.processes import Processes
from bertcore.training.engine.run_folder import STATE_FILE
from tests.support.command_line import recipe
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_tokenizer
from tests.support.tiny_runs import build as tiny_run
from tests.support.together import fork_together, run_together, run_torchrun

SHAPE = "--layers 1 --hidden 32 --heads 2 --max-seq-length 24 --batch-size 8 --device cpu".split()
EXACT = [*"--dtype float32 --steps 50 --save-every 25".split(), *recipe(evaluate_every=5)]


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    write_documents(folder / "train.txt", small_documents(60))
    write_documents(folder / "valid.txt", small_documents(8, seed=5))
    tiny_tokenizer().save(folder / "tokenizer")
    return folder


def pretrain(num_processes: int, *options: Any) -> str:
    """Run `bertscope pretrain` in one process or several; return what was told on stderr."""
    stdout, stderr = run_together(num_processes, ["pretrain", *options])
    assert stdout.count("\n") == 1  # the main process speaks for all
    return stderr


def options_of(texts: Path, out: Path, *more: Any) -> list[Any]:
    """The options of a new run."""
    text = ["--corpus", texts / "train.txt", "--valid", texts / "valid.txt"]
    return [*text, "--tokenizer", texts / "tokenizer", "--out", out, *SHAPE, *more]


def metrics(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def weights(checkpoint: Path) -> dict[str, torch.Tensor]:
    return load_file(checkpoint / "model.safetensors")


def assert_same_form(checkpoint: Path, expected: Path) -> None:
    """The same files with the same tensors and values in them, all whole."""
    assert sorted(f.name for f in checkpoint.iterdir()) == sorted(
        f.name for f in expected.iterdir()
    )
    assert form(weights(checkpoint)) == form(weights(expected))
    states = [
        torch.load(folder / STATE_FILE, weights_only=True) for folder in (checkpoint, expected)
    ]
    assert form(states[0]["optimizers"]) == form(states[1]["optimizers"])


def form(values: Any) -> Any:
    """What is left of nested values when the numbers in tensors do not count."""
    if isinstance(values, torch.Tensor):
        return type(values), values.dtype, values.shape, values.device
    if isinstance(values, dict):
        return {key: form(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [form(value) for value in values]
    return values


def assert_same_course(run: Path, expected: Path, *, within: float) -> None:
    ours, theirs = metrics(run), metrics(expected)
    assert [line["step"] for line in ours] == [line["step"] for line in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        for name in ("loss", "mlm_loss", "nsp_loss"):
            assert mine[name] == pytest.approx(other[name], abs=within), (mine["step"], name)
        for name in ("num_tokens", "mlm_top1", "nsp_accuracy", "learning_rate_share"):
            assert mine[name] == pytest.approx(other[name], abs=1e-6), (mine["step"], name)


@pytest.fixture(scope="module")
def single(texts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of one process."""
    run = tmp_path_factory.mktemp("single") / "run"
    pretrain(1, *options_of(texts, run, *EXACT))
    assert len(metrics(run)) >= 10
    return run


@pytest.mark.slow
def test_two_processes_train_as_one_and_resume_each_other(
    texts: Path, single: Path, tmp_path: Path
) -> None:
    pretrain(2, *options_of(texts, tmp_path / "two", *EXACT))
    assert_same_course(tmp_path / "two", single, within=1e-4)
    last = tmp_path / "two" / "checkpoints"
    assert sorted(path.name for path in last.iterdir()) == ["step-25", "step-50"]
    assert_same_form(last / "step-50", single / "checkpoints" / "step-50")
    # From the checkpoint in the middle on: one process ends the run of two, and two that of one.
    shutil.copytree(single, tmp_path / "one")
    for name, num_processes in (("two", 1), ("one", 2)):
        run = tmp_path / name
        before = metrics(run)
        checkpoint = run / "checkpoints" / "step-50"
        checkpoint.rename(tmp_path / f"{name}-end")
        pretrain(num_processes, "--out", run, "--resume")
        for mine, other in zip(metrics(run), before, strict=True):
            assert mine["loss"] == pytest.approx(other["loss"], abs=1e-4)
        assert checkpoint.is_dir()
        assert_same_form(checkpoint, single / "checkpoints" / "step-50")


@pytest.mark.slow
@pytest.mark.exhaustive
def test_torchrun_starts_processes_that_train_as_one(texts: Path, tmp_path: Path) -> None:
    """The tests above start processes as torchrun does; this one has torchrun itself do it."""
    exact = options_of(texts, tmp_path / "two", "--dtype", "float32", "--steps", "3")
    stdout, _ = run_torchrun(2, ["pretrain", *exact])
    assert stdout.count("\n") == 1
    pretrain(1, *options_of(texts, tmp_path / "one", "--dtype", "float32", "--steps", "3"))
    assert_same_course(tmp_path / "two", tmp_path / "one", within=1e-4)


def test_accumulated_parts_are_one_batch(tmp_path: Path) -> None:
    for name, num_parts in (("whole", 1), ("parts", 4)):
        settings: dict[str, Any] = {"steps": 12, "dtype": "float32", "batch_size": 8}
        tiny_run(tmp_path / name, gradient_accumulation=num_parts, **settings).run()
    assert len(metrics(tmp_path / "parts")) == 12
    assert_same_course(tmp_path / "parts", tmp_path / "whole", within=1e-4)


def test_every_row_belongs_to_one_part_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    seen: list[int] = []
    for rank in range(4):
        monkeypatch.setenv("RANK", str(rank))
        parts = Processes("cpu").rows(24, 3)
        assert len(parts) == 3
        for part in parts:
            seen.extend(range(24)[part])
    assert seen == list(range(24))
    with pytest.raises(ValueError, match="batch_size is 20; expected a multiple of 12"):
        Processes("cpu").rows(20, 3)
    with pytest.raises(ValueError, match="batch_size is 8; expected a multiple of 12"):
        Processes("cpu").rows(8, 3)


def test_one_gpu_cannot_be_named_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "bertcore.training.engine.processes.choose_device", lambda name: torch.device(name)
    )
    assert Processes("cuda:1").device == torch.device("cuda:1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert Processes("cuda").device == torch.device("cuda:1")
    with pytest.raises(ValueError, match="each of 2 processes needs its own"):
        Processes("cuda:0")


def leave_and_name_threads() -> None:
    """Join, add gradients, leave; write the names of this process's threads before and after."""

    def names() -> list[str]:
        return [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]

    processes = Processes("cpu")
    joined = processes.join(torch.nn.Linear(4, 2))
    joined(torch.ones(3, 4)).sum().backward()
    before = names()
    processes.leave()
    print(json.dumps([before, names()]), flush=True)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are named on Linux")
def test_leaving_ends_the_threads_of_the_group() -> None:
    """One that outlived the group's last holder kept both processes from ending."""
    told, _ = fork_together(2, leave_and_name_threads)
    lines = [json.loads(line) for line in told.splitlines()]
    assert len(lines) == 2
    for before, after in lines:
        assert "pt_gloo_runloop" in before
        assert not any("gloo" in name for name in after)
