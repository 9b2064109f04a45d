"""Fine-tuning with swapped words: what is added, resumed bit by bit, recorded and refused."""

import json
from pathlib import Path

import pytest

from bertcore.training.finetuning import resume_experiment
from bertcore.training.finetuning.data.swap_words import Swapping
from tests.bertcore.training.finetuning.test_loop import make_experiment
from tests.support.cases import cases
from tests.support.finetuning_files import WRITERS


@pytest.mark.parametrize("task", WRITERS)
def test_every_task_gets_swapped_twins_in_training_alone(
    task: str, tiny: Path, tmp_path: Path
) -> None:
    plain = make_experiment(tmp_path / "plain", tiny, task)
    pairs = (("she", "he"), ("man", "woman"), ("paris", "berlin"), ("good", "fine"))
    experiment = make_experiment(tmp_path / "more", tiny, task, swap=Swapping("x", pairs))
    added = experiment.train.num_examples - plain.train.num_examples
    assert 0 < added <= plain.train.num_examples
    assert f"{added} of {plain.train.num_examples} training examples" in experiment.notes[-1]
    assert experiment.dev.num_examples == plain.dev.num_examples
    assert experiment.dev.rows.ids.tolist() == plain.dev.rows.ids.tolist()


def test_what_cannot_be_swapped_is_refused(tiny: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="none of the 48 training examples"):
        make_experiment(tmp_path, tiny, swap=Swapping("x", (("law", "order"),)))
    assert not (tmp_path / "out").exists()
    phrase = Swapping("x", (("police man", "police woman"),))
    with pytest.raises(ValueError, match="more than one word"):
        make_experiment(tmp_path, tiny, "tag", swap=phrase)


@pytest.mark.parametrize(("name", "value", "message"), cases("removed_settings"))
def test_settings_that_went_in_0_3_0(
    name: str, value: object, message: str | None, tiny: Path, tmp_path: Path
) -> None:
    """Of a folder of 0.2.0: what is as it was without them resumes, else it says which went."""
    make_experiment(tmp_path, tiny)
    path = tmp_path / "out" / "finetune.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    if message is None:
        resume_experiment(path.parent)
        return
    with pytest.raises(RuntimeError, match=f"started with {message}"):
        resume_experiment(path.parent)
