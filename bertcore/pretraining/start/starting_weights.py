"""The starting weights of a run: noise, word counts, or a checkpoint."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from bertcore.architecture.config import BertConfig
from bertcore.bert import Bert
from bertcore.checkpoints import save
from bertcore.checkpoints.save import network_heads
from bertcore.configs import TrainConfig
from bertcore.loading import load_bert
from bertcore.model import Model
from bertcore.network import ALL_HEADS, Network
from bertcore.network.initialize import initialize
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.start.warm_start import warm_start

START_FOLDER = "start"
"""Folder in a run's data folder for the checkpoint that it started from."""
_HEADS = {
    "pooler": "pooler",
    "mlm": "masked-word head",
    "nsp": "next-sentence head",
    "sop": "sentence-order head",
    "replaced": "replaced-token head",
}


def starting_network(
    shape: BertConfig,
    config: TrainConfig,
    corpus: PackedCorpus | None,
    start_from: Network | None,
    *,
    heads: frozenset[str] = ALL_HEADS,
    on_notice: Callable[[str], None],
) -> Network:
    """Return a network with starting weights.

    Args:
        config: Its `start`, `seed` and `dropout`. Checkpoints record the dropout for fine-tuning:
            weights trained without any lose accuracy with it (EXPERIMENTS.md).
        corpus: The training text; None if all weights are about to be replaced.
        start_from: With `config.start` "checkpoint": the network whose weights are used.
        heads: The network's heads: those that the objective trains.
        on_notice: Called with a sentence on heads that the checkpoint lacks, which start from
            noise, and on its heads that are left out.

    Source: continued pretraining on text of a domain: Gururangan et al. 2020.
    """
    generator = torch.Generator().manual_seed(config.seed)
    dropout = config.dropout
    trained = replace(shape, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    network = initialize(Network(trained, heads), generator)
    if corpus is None:
        return network
    if config.start == "warm":
        warm_start(network, corpus, generator)
    elif config.start == "checkpoint":
        assert start_from is not None  # the loop's settings are checked together
        network.load_state_dict(start_from.state_dict(), strict=False)
        if start_from.config.is_decoder and not shape.is_decoder:
            on_notice("the checkpoint is causal: its tokens attend to both sides from now on.")
        ours, theirs = network_heads(network), network_heads(start_from)
        if lacking := in_words(ours - theirs):
            missing = " and no ".join(lacking)
            on_notice(f"the checkpoint has no {missing}, so noise is used instead.")
        if unused := in_words(theirs - ours):
            on_notice(
                f"the checkpoint's {' and '.join(unused)} {'is' if len(unused) == 1 else 'are'} "
                "left out: the objective does not train "
                f"{'it' if len(unused) == 1 else 'them'}."
            )
    return network


def in_words(heads: frozenset[str]) -> list[str]:
    """Return the names of heads in words: "masked-word head"."""
    return [words for name, words in _HEADS.items() if name in heads]


def check_start(bert: Model) -> None:
    """Reject a checkpoint that no run can start from.

    ValueError if it is of another architecture, its tokenizer has fewer or more pieces than its
    token table has rows, or it has weights that are not finite.
    """
    bert.require("parts")
    pieces = bert.tokenizer.vocab_size + len(bert.tokenizer.surplus)
    rows = bert.config.vocab_size
    if pieces != rows:
        raise ValueError(
            f"the checkpoint {bert.name!r} has a tokenizer of {pieces:,} pieces, but a token table "
            f"of {rows:,} rows; training needs a piece for each row. Resize the table to the "
            "tokenizer's size first (resize_token_embeddings in transformers), or start from "
            "another checkpoint."
        )
    if bert.report is not None and bert.report.not_finite:
        names = ", ".join(bert.report.not_finite[:3])
        raise ValueError(
            f"the checkpoint {bert.name!r} has weights that are not finite ({names}), so it cannot "
            "be trained. Start from another checkpoint."
        )


def keep_start(bert: Bert, data: Path) -> None:
    """Copy the checkpoint into a run's data folder, so that the run depends on no other folder."""
    save(bert.module, bert.tokenizer, data / START_FOLDER)


def kept_start(data: Path) -> Network | None:
    """Return the network written by `keep_start`, or None if the run started otherwise.

    RuntimeError if it is damaged.
    """
    folder = data / START_FOLDER
    return load_bert(folder, device="cpu").module if folder.is_dir() else None
