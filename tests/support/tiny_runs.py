"""Tiny pretraining runs on a small corpus, in one process and thread of their test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from bertcore.model.architecture.config import BertConfig
from bertcore.model.network import Network
from bertcore.training.pretraining import (
    DataConfig,
    OptimizerConfig,
    PackedCorpus,
    Pretraining,
    RunFolder,
    TrainConfig,
)
from bertcore.training.pretraining.objectives import OBJECTIVES
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_tokenizer

TRAIN = TrainConfig(
    steps=8, device="cpu", log_every=1, evaluate_every=4, evaluate_rows=12, save_every=3
)
DATA = DataConfig(max_seq_length=24, max_predictions_per_seq=5, batch_size=4)
ALBERT = tiny_config(model_type="albert", embedding_size=16, share_layers=True)


def build(
    path: Path,
    objective: str = "mlm+nsp",
    *,
    resume: bool = False,
    shape: BertConfig | None = None,
    corpus: PackedCorpus | None = None,
    optimizer: str = "muon",
    start_from: Network | None = None,
    **changes: Any,
) -> Pretraining:
    """Build a tiny run; `changes` are fields of TrainConfig or DataConfig."""
    of_train = {name: value for name, value in changes.items() if hasattr(TRAIN, name)}
    of_data = {name: value for name, value in changes.items() if hasattr(DATA, name)}
    assert len(of_train) + len(of_data) == len(changes)
    tokenizer = OBJECTIVES[objective].tokenizer(tiny_tokenizer())
    bert = tiny_config(num_hidden_layers=1, vocab_size=tokenizer.vocab_size)
    return Pretraining(
        RunFolder(path),
        shape=shape or (ALBERT if objective == "mlm+sop" else bert),
        tokenizer=tokenizer,
        train=corpus or small_corpus(),
        valid=small_corpus(8, seed=5),
        train_config=replace(TRAIN, **of_train),
        data_config=replace(DATA, objective=objective, **of_data),
        optimizer_config=OptimizerConfig(optimizer=optimizer),
        start_from=start_from,
        resume=resume,
    )


def trained(run: Pretraining) -> list[torch.Tensor]:
    """Return all weights that a run trains."""
    modules = [run.network] if run.companion is None else [run.network, run.companion]
    return [tensor for module in modules for tensor in module.state_dict().values()]


def assert_same_weights(ours: Pretraining, theirs: Pretraining) -> None:
    """Assert equality to the last bit."""
    assert all(torch.equal(a, b) for a, b in zip(trained(ours), trained(theirs), strict=True))


def at_step(step: int, do: Callable[[], object], patch: pytest.MonkeyPatch) -> None:
    """Let something happen when a run has done so many steps."""
    train = Pretraining.take_step

    def patched(self: Pretraining) -> dict[str, Any]:
        if self.progress.step == step:
            do()
        return train(self)

    patch.setattr(Pretraining, "take_step", patched)


class Kill(BaseException):
    """What ends a run at once."""


@contextmanager
def killed_at(step: int) -> Iterator[None]:
    """Let a run inside end after so many steps, with nothing written any more."""

    def kill() -> None:
        raise Kill

    with pytest.MonkeyPatch.context() as patch:
        at_step(step, kill, patch)
        with pytest.raises(Kill):
            yield
