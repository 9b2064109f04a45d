"""What a run records of its text as it starts: the entropy of its pieces against scipy's."""

import numpy as np
import pytest
from scipy.stats import entropy

from bertcore.training.pretraining.start_run import unigram_entropy


@pytest.mark.parametrize("number", [5000, 2**20 + 7])
def test_entropy_is_scipys(number: int) -> None:
    ids = np.random.default_rng(0).zipf(1.5, number).clip(max=99).astype(np.uint16)
    assert unigram_entropy(ids, 100) == pytest.approx(entropy(np.bincount(ids)))
