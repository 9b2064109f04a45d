"""Attention rollout: hand-worked networks, and what must always hold."""

import numpy as np
import pytest
import torch
from torch import Tensor

from bertcore.analysis.mixing.rollout import attention_rollout, normalize_rows, rollout
from tests.support.tiny import tiny_bert

# Layer 0: token 0 looks at 1 and 1 at itself; layer 1: token 0 at itself and 1 at 0.
FIRST = torch.tensor([[0.0, 1.0], [0.0, 1.0]])
SECOND = torch.tensor([[1.0, 0.0], [1.0, 0.0]])


@pytest.fixture(scope="module")
def attentions() -> Tensor:
    return tiny_bert().trace("The river bank was steep.", "It had rained.").attentions


def test_two_layers_by_hand_in_the_right_order() -> None:
    """What layer 1 takes from token 0 is what layer 0 had put there: token 1's."""
    maps = torch.stack([FIRST, SECOND])
    found = rollout(maps)
    assert found[0].tolist() == FIRST.tolist()
    assert found[1].tolist() == [[0, 1], [0, 1]]  # SECOND @ FIRST
    assert (FIRST @ SECOND).tolist() == [[1, 0], [1, 0]]  # the reversed product says the opposite


def test_the_residual_connection_by_hand() -> None:
    """Half the identity: layer 0 is [[.5, .5], [0, 1]], layer 1 [[1, 0], [.5, .5]]."""
    found = attention_rollout(torch.stack([FIRST, SECOND])[:, None])
    assert found[0].tolist() == [[0.5, 0.5], [0, 1]]
    assert found[1].tolist() == [[0.5, 0.5], [0.25, 0.75]]


def test_rollout_is_the_product_of_matrices(attentions: Tensor) -> None:
    for head in (None, 2):
        maps = attentions.mean(1) if head is None else attentions[:, head]
        mixed = 0.5 * maps.double().numpy() + 0.5 * np.eye(maps.shape[-1])
        mixed /= mixed.sum(-1, keepdims=True)
        found = attention_rollout(attentions, head=head)
        np.testing.assert_allclose(found[1], mixed[1] @ mixed[0], atol=1e-6)
        np.testing.assert_allclose(found.sum(-1), 1, atol=1e-6)


def test_what_cannot_be_computed_is_refused(attentions: Tensor) -> None:
    broken = attentions.clone()
    broken[1, 2, 3, 4] = torch.nan
    with pytest.raises(ValueError, match="attention weights of layer 1 contain NaN"):
        attention_rollout(broken)


def test_a_row_of_zeros_stays_zero() -> None:
    maps = torch.tensor([[1.0, 3.0], [0.0, 0.0]])
    assert normalize_rows(maps).tolist() == [[0.25, 0.75], [0, 0]]
