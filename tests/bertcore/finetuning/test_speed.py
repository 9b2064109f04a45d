"""The time of a fine-tuning, measured on a copy of the checkpoint."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from bertcore.configs import FinetuneConfig
from bertcore.finetuning.speed import measure_speed
from bertcore.tasks.model import head_fits
from bertcore.tasks.read import survey
from tests.support.finetuning_files import WRITERS
from tests.support.tiny import tiny_bert
from tests.support.tiny_tasks import make_task

CONFIG = FinetuneConfig(learning_rate=1e-3, max_seq_length=48, batch_size=8, device="cpu")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("checkpoint") / "tiny")


@pytest.mark.parametrize("task", WRITERS)
def test_every_task_is_measured(task: str, tiny: Path, tmp_path: Path) -> None:
    writer, ending = WRITERS[task]
    found = survey(writer(tmp_path / f"file{ending}", 24), task)
    fractions: list[float] = []
    before = (tiny / "model.safetensors").read_bytes()
    speed = measure_speed(
        str(tiny),
        task,
        found.sample,
        tuple(found.labels),
        CONFIG,
        seconds=0.05,
        on_step=fractions.append,
    )
    assert speed.train_examples > 0
    assert speed.score_examples > 0
    assert fractions
    assert all(a <= b for a, b in pairwise(fractions))
    assert (tiny / "model.safetensors").read_bytes() == before


def test_tokens_and_cuts_are_those_of_the_examples(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    rows = ["the film\ta", "the house was very good\tb"] * 8 + [f"{'the ' * 90}\ta"] * 4
    path.write_text("\n".join(["text\tlabel", *rows]) + "\n")
    found = survey(path, "classify")
    speed = measure_speed(str(tiny), "classify", found.sample, ("a", "b"), CONFIG, seconds=0.01)
    assert speed.longest == 48
    assert speed.fraction_cut == pytest.approx(4 / 20)
    assert speed.tokens_per_example == pytest.approx((8 * 4 + 8 * 7 + 4 * 48) / 20)
    assert speed.train_tokens == pytest.approx(speed.train_examples * speed.tokens_per_example)


def test_which_heads_are_kept(tiny: Path, tmp_path: Path) -> None:
    make_task(tmp_path / "task", labels=("bad", "good", "so-so"))
    source = str(tmp_path / "task")
    assert head_fits(tiny, task="classify", labels=("x", "y"))
    assert head_fits(source, task="classify", labels=("good", "bad"))
    assert not head_fits(source, task="classify", labels=("good", "evil"))
    assert head_fits(source, task="tag", labels=("good", "evil"))  # it gets a new one anyway
