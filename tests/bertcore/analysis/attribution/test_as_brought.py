"""Attribution of checkpoints as people bring them: other families, the longest input, pairs."""

from pathlib import Path

import numpy as np
import pytest

from bertcore.analysis.attribution import (
    answer,
    integrated_gradients,
    occlusion,
    task_input,
)
from bertcore.analysis.attribution.gradients import BASELINES
from bertcore.tasks import open_task_model
from tests.support.exhaustive import spread
from tests.support.kit import mini

FAMILIES = ("Bert", "Roberta", "XLMRoberta", "Camembert", "MPNet", "DistilBert")
LONG = "[PAD] the food was [MASK] but our waiter " * 20


@pytest.mark.parametrize(("family", "baseline"), spread(FAMILIES, BASELINES))
def test_gradients_sum_to_the_change_at_the_longest_input(
    family: str, baseline: str, tmp_path: Path
) -> None:
    """transformers-interpret#123, captum#1269: positions of a baseline ran out of their table."""
    mini(tmp_path, f"{family}ForSequenceClassification", num_labels=3)
    model = open_task_model(tmp_path, device="cpu")
    source = task_input(model, LONG)
    assert len(source.encoding) == model.max_length
    target = answer(model, source).target(source)
    found = integrated_gradients(model, source, target, baseline=baseline, steps=100)
    assert found.baseline is not None
    change = found.value - found.baseline
    assert abs(found.delta or 0) < 0.01 * abs(change) + 1e-4
    assert found.total.sum() == pytest.approx(change, abs=0.01 * abs(change) + 1e-3)


def test_every_token_of_a_pair_has_a_value(tmp_path: Path) -> None:
    """transformers-interpret#77, ecco#116; the second text ends without a stop."""
    mini(tmp_path)
    model = open_task_model(tmp_path, task="pair", device="cpu")
    source = task_input(model, "the food was cold", "our waiter lives in paris")
    target = answer(model, source).target(source)
    found = integrated_gradients(model, source, target)
    of_b = [text == 1 for text in source.encoding.text_ids]
    assert sum(of_b) == 5
    assert np.all(found.total[of_b] != 0)


@pytest.mark.parametrize("text", ["cold", ". . , !"])
def test_a_text_of_one_word_or_of_stops(text: str, tmp_path: Path) -> None:
    mini(tmp_path)
    model = open_task_model(tmp_path, device="cpu")
    source = task_input(model, text)
    target = answer(model, source).target(source)
    found = occlusion(model, source, target)
    assert np.isfinite(found.importance[1:-1]).all()  # [CLS] and [SEP] are no words
