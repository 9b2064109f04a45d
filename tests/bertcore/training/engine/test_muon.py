"""Stacked Muon: the steps of torch.optim.Muon, and matrices near orthogonal."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bertcore.training.engine.optimizer import StackedMuon, orthogonalize

SHAPES = [(16, 16), (48, 16), (16, 48), (16, 16), (48, 16), (5, 3)]


def matrices(seed: int) -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(seed)
    return [nn.Parameter(torch.randn(shape, generator=generator)) for shape in SHAPES]


def train(optimizer: torch.optim.Optimizer, parameters: list[nn.Parameter], steps: int) -> None:
    for step in range(steps):
        generator = torch.Generator().manual_seed(100 + step)
        for parameter in parameters:
            parameter.grad = torch.randn(parameter.shape, generator=generator)
        optimizer.step()


@pytest.mark.parametrize("adjust", ["match_rms_adamw", "original"])
@pytest.mark.parametrize("nesterov", [True, False])
def test_steps_are_those_of_torchs_muon(adjust: str | None, nesterov: bool) -> None:
    settings: dict[str, Any] = {
        "lr": 0.02,
        "weight_decay": 0.1,
        "adjust_lr_fn": adjust,
        "nesterov": nesterov,
    }
    ours, theirs = matrices(0), matrices(0)
    train(StackedMuon(ours, dtype="bfloat16", **settings), ours, 6)
    train(torch.optim.Muon(theirs, **settings), theirs, 6)
    for a, b, start in zip(ours, theirs, matrices(0), strict=True):
        moved = float((b - start).detach().norm())
        # Both round to bfloat16 at each product: a few parts in a thousand of the way they went.
        assert float((a - b).detach().norm()) < 0.02 * moved


def test_products_are_those_of_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without instructions for it, a step in bfloat16 takes twenty times as long."""
    seen = []

    def noted(matrices: Tensor, **settings: Any) -> Tensor:
        seen.append(matrices.dtype)
        return orthogonalize(matrices, **settings)

    monkeypatch.setattr("bertcore.training.engine.optimizer.orthogonalize", noted)
    for dtype in (torch.float32, torch.bfloat16):
        parameters = matrices(3)
        train(StackedMuon(parameters, dtype=str(dtype).removeprefix("torch.")), parameters, 1)
        assert set(seen) == {dtype}
        del seen[:]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 8, 24), (2, 24, 8)])
def test_singular_values_come_near_one(shape: tuple[int, int, int], dtype: torch.dtype) -> None:
    drawn = torch.randn(shape, generator=torch.Generator().manual_seed(4)) * 50
    made = orthogonalize(drawn.to(dtype))
    assert (made.shape, made.dtype) == (drawn.shape, dtype)
    made = made.float()
    values = torch.linalg.svdvals(made)
    assert float(values.min()) > 0.3
    assert float(values.max()) < 1.6
    # The same rows and columns go together as before: U V^T of the input, up to those values.
    u, _, v = torch.linalg.svd(drawn, full_matrices=False)
    polar: Tensor = u @ v
    assert float((made * polar).sum() / (made.norm() * polar.norm())) > 0.95
