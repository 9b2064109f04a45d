"""What a run begins with: noise, counts of its text, or the weights of a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from bertcore.bert import Bert
from bertcore.checkpoints import load, save
from bertcore.config import BertConfig
from bertcore.network import Network
from bertcore.network.initialize import initialize
from bertcore.pretraining.corpus import PackedCorpus
from bertcore.pretraining.train_config import TrainConfig
from bertcore.pretraining.warm_start import warm_start

START_FOLDER = "start"
"""Where a run keeps the checkpoint that it began with, in its data folder."""
_HEADS = {"pooler": "pooler", "mlm": "masked-word head", "nsp": "next-sentence head"}


def starting_network(
    shape: BertConfig,
    config: TrainConfig,
    corpus: PackedCorpus | None,
    start_from: Network | None,
    *,
    on_notice: Callable[[str], None],
) -> Network:
    """Return a network with starting weights.

    Args:
        shape: The network to train.
        config: Its `start`, `seed` and `dropout`.
        corpus: The training text; None if all weights are about to be replaced.
        start_from: With `config.start` "checkpoint": the network whose weights are taken.
        on_notice: Told which heads that checkpoint lacks: they start from noise.

    Source: pretraining that goes on from a checkpoint, on text of a domain: Gururangan et al. 2020.
    """
    generator = torch.Generator().manual_seed(config.seed)
    dropout = config.dropout
    trained = replace(shape, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    network = initialize(Network(trained), generator)
    # What is saved says the paper's dropout, which fine-tuning uses.
    network.config = shape
    if corpus is None:
        return network
    if config.start == "warm":
        warm_start(network, corpus, generator)
    elif config.start == "checkpoint":
        assert start_from is not None  # the loop's settings are checked together
        network.load_state_dict(start_from.state_dict(), strict=False)
        lacking = [words for name, words in _HEADS.items() if getattr(start_from, name) is None]
        if lacking:
            on_notice(f"the checkpoint has no {' and no '.join(lacking)}: noise is their start.")
    return network


def keep_start(bert: Bert, data: Path) -> None:
    """Copy the checkpoint into a run's data folder: the run must not depend on another place."""
    save(bert.module, bert.tokenizer, data / START_FOLDER)


def kept_start(data: Path) -> Network | None:
    """Return the network that `keep_start` wrote, None if the run began in another way.

    Raises:
        RuntimeError: If it is damaged.
    """
    folder = data / START_FOLDER
    return load(folder, device="cpu").module if folder.is_dir() else None
