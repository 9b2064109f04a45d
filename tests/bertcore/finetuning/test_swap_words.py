"""Fine-tuning with swapped words: what is added, resumed bit by bit, recorded and refused."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from bertcore.finetuning import Experiment, make_settings, resume_experiment, start_experiment
from bertcore.finetuning.data.swap_words import Swapping
from tests.support.finetuning_files import WRITERS
from tests.support.tiny import tiny_bert


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny")


def experiment_in(folder: Path, tiny: Path, task: str = "classify", **more: Any) -> Experiment:
    """Return an experiment in folder/out, on files that are written beside it."""
    folder.mkdir(exist_ok=True)
    writer, ending = WRITERS[task]
    writer(folder / f"train{ending}", 40)
    writer(folder / f"dev{ending}", 16, seed=1)
    settings = make_settings(
        task=task,
        train=folder / f"train{ending}",
        dev=folder / f"dev{ending}",
        checkpoint=str(tiny),
        **{"epochs": 1, "batch_size": 8, "max_seq_length": 48, "device": "cpu", **more},
    )
    return start_experiment(folder / "out", settings)


@pytest.mark.parametrize("task", WRITERS)
def test_every_task_gets_swapped_twins_in_training_alone(
    task: str, tiny: Path, tmp_path: Path
) -> None:
    plain = experiment_in(tmp_path / "plain", tiny, task)
    pairs = (("she", "he"), ("man", "woman"), ("paris", "berlin"), ("good", "fine"))
    experiment = experiment_in(tmp_path / "more", tiny, task, swap=Swapping("x", pairs))
    added = experiment.train.num_examples - plain.train.num_examples
    assert 0 < added <= plain.train.num_examples
    assert f"{added} of {plain.train.num_examples} training examples" in experiment.notes[-1]
    assert experiment.dev.num_examples == plain.dev.num_examples
    assert experiment.dev.rows.ids.tolist() == plain.dev.rows.ids.tolist()


def test_a_stop_changes_no_bit(tiny: Path, tmp_path: Path) -> None:
    swap = Swapping.of("gender")
    whole = experiment_in(tmp_path / "whole", tiny, swap=swap)
    assert whole.run() is not None
    parts = experiment_in(tmp_path / "parts", tiny, swap=swap)
    assert parts.run(should_stop=lambda: True) is None
    resumed = resume_experiment(tmp_path / "parts" / "out")
    assert resumed.settings == parts.settings
    report = resumed.run()
    assert report is not None
    assert report["notes"] == list(whole.notes)
    recorded = json.loads((tmp_path / "parts" / "out" / "finetune.json").read_text())["swap"]
    assert recorded["name"] == "gender"
    assert ["she", "he"] in recorded["pairs"]
    a, b = (load_file(tmp_path / name / "out" / "model.safetensors") for name in ("whole", "parts"))
    assert all(torch.equal(a[key], b[key]) for key in a)


def test_what_cannot_be_swapped_is_refused(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="none of the 40 training examples"):
        experiment_in(tmp_path, tiny, swap=Swapping("x", (("law", "order"),)))
    assert not (tmp_path / "out").exists()
    phrase = Swapping("x", (("police man", "police woman"),))
    with pytest.raises(ValueError, match="more than one word"):
        experiment_in(tmp_path, tiny, "tag", swap=phrase)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("direction", None, None),
        ("bias_focus", 2.0, None),
        ("swap", {"name": "x", "mode": "augment", "pairs": [["she", "he"]]}, None),
        ("direction", {"name": "gender", "weight": 1.0, "pairs": []}, "direction_penalty"),
        ("bias_focus", 3.0, "bias_focus"),
        ("swap", {"name": "x", "mode": "substitute", "pairs": [["she", "he"]]}, "swap_mode"),
    ],
)
def test_settings_that_went_in_0_3_0(
    name: str, value: object, message: str | None, tiny: Path, tmp_path: Path
) -> None:
    """Of a folder of 0.2.0: what is as it was without them resumes, else it says which went."""
    experiment_in(tmp_path, tiny)
    path = tmp_path / "out" / "finetune.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    if message is None:
        resume_experiment(path.parent)
        return
    with pytest.raises(RuntimeError, match=f"started with {message}"):
        resume_experiment(path.parent)
