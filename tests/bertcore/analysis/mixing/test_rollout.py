"""Attention rollout and flow: hand-worked networks, networkx, and what must always hold."""

import networkx
import numpy as np
import pytest
import torch
from torch import Tensor

from bertcore import Bert
from bertcore.analysis.mixing.flow import (
    MOST_WORK,
    SCALE,
    attention_flow,
    attention_rollout,
    flow_work,
    maximum_flows,
    rollout,
)
from bertcore.analysis.mixing.maps import fraction_on, normalize_rows, rank_agreement
from tests.support.tiny import tiny_bert

# Layer 0: token 0 looks at 1 and 1 at itself; layer 1: token 0 at itself and 1 at 0.
FIRST = torch.tensor([[0.0, 1.0], [0.0, 1.0]])
SECOND = torch.tensor([[1.0, 0.0], [1.0, 0.0]])


@pytest.fixture(scope="module")
def attentions() -> Tensor:
    return tiny_bert().trace("The river bank was steep.", "It had rained.").attentions


def random_maps(num_layers: int, num_tokens: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    scores = 2 * torch.randn(num_layers, num_tokens, num_tokens, generator=generator)
    return scores.softmax(-1)


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


def test_rows_that_do_not_sum_to_one_are_made_to() -> None:
    np.testing.assert_allclose(rollout(3 * torch.stack([FIRST, SECOND]))[1], SECOND @ FIRST)


def test_flow_of_one_layer_is_its_weights() -> None:
    maps = random_maps(1, 6)
    np.testing.assert_allclose(maximum_flows(maps).values, maps[0], atol=1e-7)


def test_flow_by_hand() -> None:
    """From the top token 0: 0.7 goes to node 0 and 0.3 to node 1.

    Node 0 has 0.4 to input 0, so of its 0.7 only 0.4 pass; node 1 has 0.9, so all of 0.3 passes.
    To input 0 flow 0.7; to input 1: min(0.7, 0.6) + min(0.3, 0.1) = 0.7.
    """
    bottom = torch.tensor([[0.4, 0.6], [0.9, 0.1]])
    top = torch.tensor([[0.7, 0.3], [0.2, 0.8]])
    found = maximum_flows(torch.stack([bottom, top]))
    expected = [[0.4 + 0.3, 0.6 + 0.1], [0.2 + 0.8, 0.2 + 0.1]]
    np.testing.assert_allclose(found.values, expected, atol=1e-7)


@pytest.mark.parametrize(("num_layers", "num_tokens"), [(1, 4), (2, 5), (3, 6), (4, 4), (5, 3)])
def test_flow_is_that_of_networkx(num_layers: int, num_tokens: int) -> None:
    maps = random_maps(num_layers, num_tokens)
    mixed = 0.5 * np.eye(num_tokens) + 0.5 * maps.double().numpy()
    graph = networkx.DiGraph()
    for layer in range(num_layers):
        for i in range(num_tokens):
            for j in range(num_tokens):
                graph.add_edge((layer + 1, i), (layer, j), capacity=mixed[layer, i, j])
    found = attention_flow(maps[:, None])
    assert 0 < found.error < 1e-7
    for i in range(num_tokens):
        for j in range(num_tokens):
            expected = networkx.maximum_flow_value(graph, (num_layers, i), (0, j))
            assert abs(float(found.values[i, j]) - expected) < found.error + 1e-6


def test_flow_stays_below_its_narrowest_places(attentions: Tensor) -> None:
    """Not above what leaves the token, what enters the input, and not below any single path."""
    found = attention_flow(attentions).values
    mixed = 0.5 * attentions.mean(1) + 0.5 * torch.eye(attentions.shape[-1])
    entering = mixed[0].sum(0)
    assert (found <= entering.clamp(max=1)[None] + 1e-6).all()
    widest = torch.minimum(mixed[1][:, :, None], mixed[0][None]).amax(1)  # over the middle token
    assert (found >= widest - 1e-6).all()
    # All paths together carry at least what rollout sends along them.
    assert (found >= attention_rollout(attentions)[-1] - 1e-6).all()


def test_some_rows_are_rows_of_all(attentions: Tensor) -> None:
    shares: list[float] = []
    some = attention_flow(attentions, head=1, tokens=[3, 0], progress=shares.append)
    assert torch.equal(some.values, attention_flow(attentions, head=1).values[[3, 0]])
    assert shares == [0.5, 1]


def test_capacities_fit_the_integers_of_the_algorithm() -> None:
    identity = torch.eye(3).expand(4, 3, 3)
    assert torch.equal(maximum_flows(identity).values, torch.eye(3))
    assert SCALE * 1.5 < 2**31


def test_what_cannot_be_computed_is_refused_with_a_sentence(attentions: Tensor) -> None:
    many = torch.full((1, 1, 1, 1), 1 / 512).expand(12, 1, 512, 512)
    assert flow_work(12, 512, 512) > MOST_WORK > flow_work(12, 512, 1)
    with pytest.raises(ValueError, match="through 12 layers to 512 of 512 tokens would take"):
        attention_flow(many)
    with pytest.raises(ValueError, match="no token 99"):
        attention_flow(attentions, tokens=[99])
    for measure in (attention_flow, attention_rollout):
        with pytest.raises(ValueError, match="head is 7; expected 0 to 3"):
            measure(attentions, head=7)
        broken = attentions.clone()
        broken[1, 2, 3, 4] = torch.nan
        with pytest.raises(ValueError, match="attention weights of layer 1 contain NaN"):
            measure(broken)
    with pytest.raises(ValueError, match=r"residual is 1\.0"):
        rollout(attentions[:, 0], residual=1.0)


def test_any_checkpoint_and_length() -> None:
    bert: Bert = tiny_bert()
    alone = bert.trace("").attentions  # [CLS] [SEP]
    assert attention_rollout(alone).shape == (2, 2, 2)
    assert attention_flow(alone.bfloat16()).values.dtype == torch.float32


def test_shares_of_rows_and_columns() -> None:
    maps = torch.tensor([[1.0, 3.0], [0.0, 0.0]])
    assert normalize_rows(maps).tolist() == [[0.25, 0.75], [0, 0]]
    assert fraction_on(maps, [1]) == pytest.approx(0.375)
    assert fraction_on(maps, []) == 0


def test_rank_agreement_is_spearmans() -> None:
    from scipy.stats import spearmanr

    generator = np.random.default_rng(0)
    first, second = generator.integers(0, 4, (2, 5, 9))  # few values: ties
    found = rank_agreement([first, second, -first])
    expected = np.mean([spearmanr(a, b).statistic for a, b in zip(first, second, strict=True)])
    assert found[0, 1] == pytest.approx(expected)
    np.testing.assert_allclose(np.diag(found), 1)
    assert found[0, 2] == pytest.approx(-1)
    constant = np.ones((5, 9))
    assert np.isnan(rank_agreement([first, constant])[0, 1])
    constant[0] = first[0]  # one row left to compare
    assert rank_agreement([first, constant])[0, 1] == pytest.approx(1)
