"""Replaced tokens: ELECTRA's objective, with a generator beside the network."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn

from bertcore.architecture.config import BertConfig
from bertcore.checkpoints import save
from bertcore.configs import DataConfig, TrainConfig
from bertcore.network import Network
from bertcore.network.initialize import initialize
from bertcore.pretraining.data.batches import Batch, Totals, make_batch
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.loss.objective import to_device
from bertcore.pretraining.loss.replaced_tokens import (
    DISCRIMINATOR_HEADS,
    TABLES,
    Generator,
    ReplacedTensors,
    ReplacedTokenPair,
    generator_shape,
    share_tables,
    whole_tables,
)
from bertcore.pretraining.objectives.objective import (
    BatchSource,
    Objective,
    refuse_mask_shares,
    share,
)
from bertcore.pretraining.starting_weights import log_frequencies
from bertcore.tokenizer import Tokenizer

GENERATOR_FOLDER = "generator"
"""Folder in a checkpoint of the discriminator for the generator's."""
_EMBEDDING_SIZE = 128


@dataclass(frozen=True, slots=True)
class ReplacedTokenBatch:
    """Rows with hidden tokens, and the random numbers that determine their replacements."""

    words: Batch
    draws: Tensor
    """Random numbers from 0 up to below 1, [B, P]."""

    @property
    def num_tokens(self) -> int:
        return self.words.num_tokens

    @property
    def num_rows(self) -> int:
        return self.words.num_rows

    @property
    def totals(self) -> Totals:
        return self.words.totals

    def as_part_of(self, totals: Totals) -> Self:
        return replace(self, words=self.words.as_part_of(totals))


class ReplacedTokens(Objective):
    """Detect the tokens that a generator put in place of hidden ones, on rows of running text.

    The network is the discriminator, of the family ELECTRA; its companion is the generator.

    Source: Clark et al. 2020. Differs: rows are packed full of text and have one segment.
    """

    name = "rtd"
    parts = ("replaced-tokens",)
    heads = DISCRIMINATOR_HEADS
    draws_on_device = True
    fills_masks = False

    def shape(self, shape: BertConfig) -> BertConfig:
        """Return ELECTRA's shape: the requested one, with narrow embeddings if it is BERT's."""
        shape = super().shape(shape)
        if shape.model_type != "bert":
            return shape
        narrow = _EMBEDDING_SIZE if shape.hidden_size > _EMBEDDING_SIZE else None
        return replace(shape, model_type="electra", embedding_size=narrow)

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject other families, and mask settings, since all masks are [MASK].

        ValueError if they do not fit.
        """
        super().check(self.shape(shape), config)
        refuse_mask_shares(config, "a generator reads [MASK] at every hidden position")
        generator_shape(self.shape(shape), config.generator_size)

    def check_start(self, shape: BertConfig) -> None:
        """Reject checkpoints of other families; ValueError if it is not an ELECTRA."""
        if shape.model_type != "electra":
            raise ValueError(
                f"the objective {self.name!r} continues from an ELECTRA discriminator, but the "
                f"checkpoint is {shape.family.name}. Name an ELECTRA checkpoint, or leave "
                "--checkpoint out."
            )

    def companion(
        self,
        network: Network,
        train_config: TrainConfig,
        data_config: DataConfig,
        corpus: PackedCorpus | None,
    ) -> Generator:
        """Return the generator, which starts with the discriminator's tables; the rest is noise.

        With a warm start, its bias for each word is the log of the word's frequency.
        """
        random = torch.Generator().manual_seed(train_config.seed + 1)
        generator = Generator(generator_shape(network.config, data_config.generator_size))
        initialize(generator, random)
        with torch.no_grad():
            for name in TABLES:
                table = getattr(generator.embeddings, name)
                if table is not None:
                    table.weight.copy_(getattr(network.embeddings, name).weight)
            if train_config.start == "warm" and corpus is not None:
                bias = log_frequencies(corpus, network.config.vocab_size)
                generator.masked_word_head().word_bias.copy_(bias)
        share_tables(generator, network, data_config.embedding_sharing)
        return generator

    def position_tables(self, network: Network, companion: nn.Module | None) -> list[Tensor]:
        """Return both networks' tables, each once."""
        assert isinstance(companion, Generator)
        tables = [generator_table := companion.position_table, network.position_table]
        return tables[: 1 if tables[1] is generator_table else 2]

    def with_loss(
        self, network: Network, companion: nn.Module | None, *, dtype: str, is_compiled: bool
    ) -> nn.Module:
        assert isinstance(companion, Generator)
        return ReplacedTokenPair(companion, network)

    def batch(self, source: BatchSource) -> ReplacedTokenBatch:
        """Hide pieces, all as [MASK], and draw a random number for each."""
        corpus, rows, tokenizer, config, generator, part = source
        config = replace(config, mask_shares="100/0/0")
        words = make_batch(corpus, rows, tokenizer, config, generator=generator, part=part)
        most, own_rows = config.max_predictions_per_seq, part or slice(0, len(rows))
        if isinstance(generator, torch.Generator):
            size = (len(rows), most)
            draws = torch.rand(size, generator=generator, device=generator.device)[own_rows]
        else:
            draws = torch.stack(
                [torch.rand(most, generator=own, device=own.device) for own in generator[own_rows]]
            )
        return ReplacedTokenBatch(words, draws)

    def tensors(
        self, batch: ReplacedTokenBatch, device: torch.device, *, keep_mask: bool
    ) -> ReplacedTensors:
        words = to_device(batch.words, device, keep_mask=keep_mask)
        return ReplacedTensors(words, batch.draws.to(device))

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return both losses, and the accuracy of the generator and the discriminator.

        "replaced_recall" is the fraction of replaced tokens that were found; "replaced_accuracy" is
        that of all tokens judged correctly, which is high even if nothing is found.
        """
        return {
            "loss": values["loss"],
            "generator_loss": values["mlm_loss"],
            "generator_top1": share(values, "mlm_correct"),
            "replaced_loss": values["replaced_loss"],
            "replaced_accuracy": values["replaced_correct"] / values["num_tokens"],
            "replaced_recall": share(values, "num_found", "num_replaced"),
            "share_replaced": values["num_replaced"] / values["num_tokens"],
        }

    def save(
        self, network: Network, companion: nn.Module | None, tokenizer: Tokenizer, folder: Path
    ) -> None:
        """Write the discriminator (ElectraForPreTraining), and below it the generator.

        The generator's folder opens as ElectraForMaskedLM. A table that is a sum is written summed.
        """
        assert isinstance(companion, Generator)
        keys = network.config.family.keys(network.config.num_hidden_layers, self.heads)
        sums = {keys[name]: table.cpu() for name, table in whole_tables(network)}
        save(network, tokenizer, folder, more_weights=sums)
        save(companion, tokenizer, folder / GENERATOR_FOLDER)
