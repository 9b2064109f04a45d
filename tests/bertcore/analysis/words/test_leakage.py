"""Leakage: the shares of a word that come back to its place over two layers."""

import numpy as np
import pytest

from bertcore import Bert
from bertcore.analysis import normalize_rows, paths_back, value_zeroing
from tests.support.tiny import tiny_bert, tiny_config

TEXT, PAIR = "The old man sat on the mat.", "It had rained."


def test_returned_shares_by_hand(bert: Bert) -> None:
    trace = bert.trace(TEXT)
    found = paths_back(bert, trace).returned
    first, second = normalize_rows(value_zeroing(bert, trace)).tolist()
    number = trace.num_tokens
    expected = [
        sum(second[i][j] * first[j][i] for j in range(number) if j != i) for i in range(number)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.shape == (number,)


def test_one_layer_returns_nothing() -> None:
    bert = tiny_bert(tiny_config(num_hidden_layers=1))
    with pytest.raises(ValueError, match="one layer"):
        paths_back(bert, bert.trace(TEXT))
