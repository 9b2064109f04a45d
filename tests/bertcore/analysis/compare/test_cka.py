"""CKA against its definition term by term, and what it must not depend on."""

import math

import numpy as np
import pytest
import torch

from bertcore.analysis.compare.cka import NUM_PERMUTATIONS, layer_similarity


def draw(num: int, width: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(num, width, generator=generator) + 3.0


def hsic(first: torch.Tensor, second: torch.Tensor) -> float:
    """Song et al. 2012, equation 4, term by term."""
    k, h = ((x @ x.T).fill_diagonal_(0).numpy() for x in (first.double(), second.double()))
    n, ones = len(k), np.ones(len(k))
    return float(
        np.trace(k @ h)
        + (ones @ k @ ones) * (ones @ h @ ones) / ((n - 1) * (n - 2))
        - 2 / (n - 2) * (ones @ k @ h @ ones)
    ) / (n * (n - 3))


def defined(x: torch.Tensor, y: torch.Tensor) -> float:
    return hsic(x, y) / math.sqrt(hsic(x, x) * hsic(y, y))


@pytest.mark.parametrize(("num", "widths"), [(50, (6, 9)), (8, (20, 5))])
def test_it_is_the_definition_and_chance_the_highest_of_shuffled_examples(
    num: int, widths: tuple[int, int]
) -> None:
    x, y = draw(num, widths[0], 0), draw(num, widths[1], 1)
    y[:, : min(widths)] += x[:, : min(widths)]
    first, second = torch.stack([x, x * 2]), torch.stack([y, y + 1, draw(num, widths[1], 2)])
    found = layer_similarity(first, second, seed=5)
    assert found.cka.shape == found.chance.shape == (2, 3)
    generator = torch.Generator().manual_seed(5)
    orders = [torch.randperm(num, generator=generator) for _ in range(NUM_PERMUTATIONS)]
    for i, j in np.ndindex(2, 3):
        assert found.cka[i, j] == pytest.approx(defined(first[i], second[j]), rel=1e-4, abs=1e-6)
        highest = max(defined(first[i], second[j][order]) for order in orders)
        assert found.chance[i, j] == pytest.approx(highest, rel=1e-4, abs=1e-6)


def test_a_rotation_changes_nothing_and_the_same_is_exactly_one() -> None:
    x = draw(40, 7, 0)
    rotation, _ = torch.linalg.qr(draw(7, 7, 1).double())
    turned, stretched = (x.double() @ rotation * 5 + 2).float(), x * torch.tensor([9.0, *[1.0] * 6])
    found = layer_similarity(x[None], torch.stack([x.clone(), turned, stretched])).cka[0]
    assert found[0] == 1
    assert found[1] == pytest.approx(1.0, abs=1e-6)
    assert found[2] < 0.9


def test_few_examples_of_wide_vectors_do_not_flatter() -> None:
    x, noise = draw(60, 200, 0), draw(60, 200, 1)
    unrelated, related = layer_similarity(x[None], torch.stack([noise, x + 0.5 * noise])).cka[0]
    assert abs(unrelated) < 0.1
    assert related > 0.4


def test_what_has_no_similarity() -> None:
    x = draw(10, 4, 0)
    broken = x.clone()
    broken[3, 1] = torch.nan
    found = layer_similarity(x[None], torch.stack([broken, torch.ones_like(x), x]))
    assert np.isnan(found.cka[0]).tolist() == [True, True, False]
    with pytest.raises(ValueError, match="CKA needs at least 4 examples, but got 3"):
        layer_similarity(x[None, :3], x[None, :3])
