"""The checkpoints that ship: their float16 weights give the answers of float32."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from safetensors.numpy import load_file

from bertcore.checkpoints.source import DEFAULT, SHIPPED, labelled_file

ROOT = Path(__file__).parents[3]
TOLERANCE = {"default": 1e-3, "sentiment": 2e-3, "pos": 2e-3}
"""Largest difference of a probability."""
MOST_BYTES = 70_000_000
"""Of all weights that ship."""


@pytest.fixture(scope="module")
def shipping() -> ModuleType:
    spec = importlib.util.spec_from_file_location("shipping", ROOT / "docs/ship_checkpoint.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", SHIPPED)
def test_float16_weights_answer_as_the_originals(name: str, shipping: ModuleType) -> None:
    tensors = load_file(SHIPPED[name] / "model.safetensors")
    halves = {key for key, tensor in tensors.items() if tensor.dtype == np.float16}
    assert halves == ({shipping.WORD_VECTORS} if name == DEFAULT else set(tensors))
    answers = shipping.answers_of(name)
    with np.load(ROOT / f"tests/data/float32_answers/{name}.npz") as originals:
        assert answers.keys() == set(originals.files)
        for key, answer in answers.items():
            most = TOLERANCE[name]
            assert float(answer.max()) > 20 * most, "an answer that says nothing tests nothing"
            np.testing.assert_allclose(answer, originals[key], atol=most, rtol=0)


@pytest.mark.parametrize("name", SHIPPED)
def test_each_has_a_card_that_names_its_data_and_licence(name: str) -> None:
    card = (SHIPPED[name] / "README.md").read_text(encoding="utf-8")
    for word in ("license: cc-by", "## Data", "bertscope "):
        assert word in card


def test_fine_tuned_ones_come_with_their_dev_data() -> None:
    for name in SHIPPED:
        if name != DEFAULT:
            assert labelled_file(name).stat().st_size > 10_000


def test_weights_stay_small() -> None:
    files = [path for folder in SHIPPED.values() for path in folder.glob("*.safetensors")]
    assert len(files) == len(SHIPPED)
    assert sum(path.stat().st_size for path in files) < MOST_BYTES
