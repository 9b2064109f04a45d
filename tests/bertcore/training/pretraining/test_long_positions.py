"""Position vectors that short rows have not trained get what training made of the others."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore.model.network.embeddings import sinusoids
from bertcore.training.pretraining.starting_weights import RIDGE, extend_positions
from tests.support.tiny import tiny_config
from tests.support.tiny_runs import build as tiny_run


def trained(num_trained: int = 64, shape: tuple[int, int] = (128, 32)) -> torch.Tensor:
    """Sinusoids, shrunk as weight decay does, whose first ones went through the same change."""
    generator = torch.Generator().manual_seed(0)
    table = 0.05 * sinusoids(*shape)
    change = 0.4 * torch.randn(shape[1], shape[1], generator=generator) / shape[1] ** 0.5
    table[:num_trained] += table[:num_trained] @ change + 0.02
    return table


@pytest.mark.parametrize("offset", [0, 3])
def test_equals_scikit_learn(offset: int) -> None:
    from sklearn.kernel_ridge import KernelRidge

    first, end = offset + 16, offset + 64
    table = trained(num_trained=end)
    start = sinusoids(128, 32).numpy()
    start *= float(table[end:].std()) / start[end:].std(ddof=1)
    change = table[first:end].numpy() - start[first:end]
    strength = RIDGE * np.square(start[first:end]).sum(1).mean()
    model = KernelRidge(alpha=strength).fit(start[first:end], change - change.mean(0))
    expected = start[end:] + change.mean(0) + model.predict(start[end:])
    assert extend_positions(table, 64, offset=offset) == 64 - offset
    np.testing.assert_allclose(table[end:].numpy(), expected, atol=1e-5)


def test_trained_places_stay() -> None:
    table = trained()
    table[100] += 0.1  # of one row alone one can tell that it has been trained
    before = table.clone()
    assert extend_positions(table, 64) == 0
    assert torch.equal(table, before)


def test_nothing_to_fit_or_to_extend() -> None:
    for num_trained in (1, 16, 17, 128, 200):
        table = trained(num_trained=0)
        before = table.clone()
        assert extend_positions(table, num_trained) == 0
        assert torch.equal(table, before)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_a_run_does_it_once_where_long_rows_begin(family: str, tmp_path: Path) -> None:
    """RoBERTa's first token is not at position 0."""
    shape = tiny_config(num_hidden_layers=1)
    if family == "roberta":
        shape = replace(shape, model_type="roberta", position_offset=1, type_vocab_size=1)

    build = partial(
        tiny_run,
        tmp_path,
        "mlm" if family == "roberta" else "mlm+nsp",
        shape=shape,
        dtype="float32",
        batch_size=8,
        long_ratio=0.5,
        long_seq_length=48,
    )
    run = build()
    start = run.network.embeddings.position_embeddings.weight.detach().clone()
    last = slice(49, None)  # no row of the run reads these
    run.run(should_stop=lambda: run.progress.step == 4)
    table = run.network.embeddings.position_embeddings.weight
    torch.testing.assert_close(table[last], start[last], atol=1e-4, rtol=0)
    run.run(should_stop=lambda: run.progress.step == 5)
    extended = table[last].detach().clone()
    assert (extended - start[last]).abs().max() > 1e-3
    again = build(resume=True)
    again.run()
    found = again.network.embeddings.position_embeddings.weight[last]
    torch.testing.assert_close(found, extended, atol=1e-4, rtol=0)
