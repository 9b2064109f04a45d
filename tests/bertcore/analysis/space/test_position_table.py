"""A position table beside the formula: equal where the table is the formula."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import load
from bertcore.analysis.space.position_table import position_tables
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make


def test_the_formula_by_hand() -> None:
    found = position_tables(tiny_bert(), 10)
    width = found.learned.shape[1]
    assert found.learned.shape == found.sinusoids.shape == (10, width)
    for position in (0, 3, 9):
        for pair in (0, 5):
            angle = position / 10_000 ** (2 * pair / width)
            two = found.sinusoids[position, 2 * pair : 2 * pair + 2]
            assert two.tolist() == pytest.approx([math.sin(angle), math.cos(angle)], abs=1e-5)


def test_the_table_is_the_checkpoints() -> None:
    bert = tiny_bert()
    table = bert.module.embeddings.position_embeddings.weight
    found = position_tables(bert, 1000)
    np.testing.assert_array_equal(found.learned, table.detach().numpy())
    with torch.no_grad():
        table.copy_(torch.from_numpy(3 * found.sinusoids))
    same = position_tables(bert)
    np.testing.assert_allclose(same.cosines, 1, atol=1e-5)
    np.testing.assert_allclose(same.learned_by_distance, same.sinusoids_by_distance, atol=1e-5)
    assert abs(float(found.cosines.mean())) < 0.5  # random rows are not sinusoids


def test_cosines_are_those_of_the_rows_and_their_means_by_distance() -> None:
    found = position_tables(tiny_bert(), 4)
    for table, cosines, means in (
        (found.learned, found.learned_cosines, found.learned_by_distance),
        (found.sinusoids, found.sinusoid_cosines, found.sinusoids_by_distance),
    ):
        norms = np.linalg.norm(table, axis=1)
        expected = table @ table.T / np.outer(norms, norms)
        np.testing.assert_allclose(cosines, expected, atol=1e-5)
        np.testing.assert_allclose(means[2], (expected[0, 2] + expected[1, 3]) / 2, atol=1e-5)


def test_bad_input_is_a_sentence(tmp_path: Path) -> None:
    make("ModernBertForMaskedLM", tmp_path)
    with pytest.raises(ValueError, match="position"):
        position_tables(load(tmp_path, device="cpu"))
