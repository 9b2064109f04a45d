"""Which saved moments are offered for a folder: steps of pretraining, epochs of fine-tuning."""

from pathlib import Path

from app.compare import sides
from app.run_folders import runs as training_runs
from app.run_folders import saved_checkpoints
from app.shell import cache, sidebar

RUN = "lr-0.0003-seed-1"


def touch(path: Path, text: str = "{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def fine_tuning(folder: Path, epochs: int, *, runs: tuple[str, ...] = (RUN,)) -> Path:
    """Write what a fine-tuning that kept its epochs leaves, but for weights."""
    touch(folder / "finetune.json", '{"checkpoint": "default"}')
    touch(folder / "config.json")
    touch(folder / "model.safetensors")
    for run in runs:
        touch(folder / "runs" / run / "metrics.jsonl", "")
        for epoch in range(1, epochs + 1):
            place = folder / "runs" / run / "checkpoints" / f"epoch-{epoch}"
            touch(place / "config.json")
            touch(place / "model.safetensors")
    return folder


def pretraining(folder: Path, steps: tuple[int, ...]) -> Path:
    touch(folder / "config.json", '{"train": {"steps": 100}}')
    for step in steps:
        touch(folder / "checkpoints" / f"step-{step}" / "training_state.pt")
    return folder


def test_steps_and_epochs_are_offered(tmp_path: Path) -> None:
    pretraining(tmp_path / "mine", (5, 100, 20))
    pretraining(tmp_path / "short", (5,))
    sst2 = fine_tuning(tmp_path / "sst2", 11)
    fine_tuning(tmp_path / "grid", 2, runs=("lr-0.0001-seed-1", "lr-0.0003-seed-1"))
    fine_tuning(tmp_path / "one", 1)
    touch(sst2 / "runs" / RUN / "checkpoints" / "epoch-12" / "vocab.txt")  # not whole
    touch(sst2 / "runs" / RUN / "checkpoints" / ".epoch-13.x" / "config.json")
    found = saved_checkpoints.of_runs(tmp_path)
    assert {
        name: [saved_checkpoints.label(path) for path in paths] for name, paths in found.items()
    } == {
        "mine": ["step 5", "step 20", "step 100"],
        "grid/lr-0.0001-seed-1": ["epoch 1", "epoch 2"],
        "grid/lr-0.0003-seed-1": ["epoch 1", "epoch 2"],
        f"sst2/{RUN}": [f"epoch {n}" for n in range(1, 12)],
    }
    assert next(iter(found)) == "mine"
    # The fine-tuning itself, and the folder of its runs, do as well.
    for folder in (sst2, sst2 / "runs"):
        assert list(saved_checkpoints.of_runs(folder)) == [RUN]
    assert list(saved_checkpoints.of_runs(sst2 / "runs" / RUN)) == [RUN]
    assert saved_checkpoints.of_runs(tmp_path / "none") == {}
    # A fine-tuning is no pretraining run, and so not a damaged one.
    runs = {run.name: run.kind for run in training_runs.all_runs(tmp_path)}
    assert {name for name, kind in runs.items() if kind == "pretrain"} == {"mine", "short"}


def test_where_a_checkpoint_comes_from(tmp_path: Path) -> None:
    sst2 = fine_tuning(tmp_path / "sst2", 2)
    epoch = sst2 / "runs" / RUN / "checkpoints" / "epoch-2"
    step = pretraining(tmp_path / "mine", (5,)) / "checkpoints" / "step-5"
    assert saved_checkpoints.own_run(epoch) == (tmp_path, f"sst2/{RUN}")
    assert saved_checkpoints.own_run(sst2) == (tmp_path, "sst2/")
    assert saved_checkpoints.own_run(step) == (tmp_path, "mine")
    assert saved_checkpoints.own_run(Path("default")) is None
    downloaded = touch(tmp_path / "checkpoints" / "bert-base" / "config.json").parent
    assert saved_checkpoints.own_run(downloaded) is None
    assert saved_checkpoints.own_run(Path("epoch-1")) is None
    # What an epoch began with is suggested beside it, as beside the result.
    of_epoch, of_sst2, of_step = (
        sides.suggested(cache.bert_key(str(path))) for path in (epoch, sst2, step)
    )
    assert of_epoch == of_sst2 == "default"
    assert of_step == sides.UNTRAINED


def test_epochs_are_in_the_list_of_checkpoints(tmp_path: Path, monkeypatch) -> None:
    for place in ("runs", "checkpoints"):
        fine_tuning(tmp_path / place / "sst2", 1)
    monkeypatch.chdir(tmp_path)
    found = {Path(path).relative_to(tmp_path).as_posix() for path in sidebar.local_checkpoints()}
    for place in ("runs", "checkpoints"):
        assert f"{place}/sst2" in found
        assert f"{place}/sst2/runs/{RUN}/checkpoints/epoch-1" in found
    names = sidebar.distinct_names(sidebar.local_checkpoints())
    assert len(set(names.values())) == len(names)
