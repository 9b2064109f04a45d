"""Replaced tokens (ELECTRA): a generator and a discriminator, trained together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.architecture.config import BertConfig
from bertcore.checkpoints import save
from bertcore.configs import DataConfig, TrainConfig
from bertcore.network import Network
from bertcore.network.initialize import initialize
from bertcore.objectives.masked_words import WEIGHT
from bertcore.pretraining.data.batches import Batch, Totals, make_batch
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.loss import BatchTensors, to_device
from bertcore.pretraining.objectives.objective import (
    BatchSource,
    Objective,
    refuse_mask_shares,
    share,
)
from bertcore.pretraining.starting_weights import log_frequencies
from bertcore.tokenizer import Tokenizer

GENERATOR_HEADS, DISCRIMINATOR_HEADS = frozenset({"mlm"}), frozenset({"replaced"})
TABLES = ("word_embeddings", "position_embeddings", "token_type_embeddings")
"""The tables of the embeddings that the two networks may share."""


class ReplacedTokenLoss(NamedTuple):
    """Losses in nats and counts of a batch, scalars on the device.

    For a part of a batch: its contribution to each, so that the parts sum to the batch's losses.
    """

    loss: Tensor
    """mlm_loss + 50 x replaced_loss"""
    mlm_loss: Tensor
    """The generator's loss: mean over hidden tokens."""
    replaced_loss: Tensor
    """The discriminator's loss: mean over all tokens except padding."""
    mlm_correct: Tensor
    """Number of hidden tokens whose most probable word is the right one."""
    num_masked: Tensor
    replaced_correct: Tensor
    """Number of tokens judged correctly."""
    num_found: Tensor
    """Number of replaced tokens judged correctly."""
    num_replaced: Tensor
    """Number of tokens that differ from the text."""
    num_tokens: Tensor
    """Number of tokens, without padding."""


class ReplacedTensors(NamedTuple):
    """A batch for the pair, on its device."""

    words: BatchTensors
    """Its `input_ids` have [MASK] at the hidden positions."""
    draws: Tensor
    """Random numbers from 0 up to below 1, one for each hidden position, [B, P]: they determine the
    words that the generator puts there."""


class DeltaEmbedding(nn.Embedding):
    """A table that is another one plus a difference; gradients reach only the difference.

    `weight` is the difference, which starts at 0, [rows, E].

    Args:
        base: The other table.

    Source: He et al. 2023 (DeBERTaV3), gradient-disentangled embedding sharing:
        E_D = sg(E_G) + E_delta.
    """

    def __init__(self, base: nn.Embedding) -> None:
        rows, width = base.weight.shape
        super().__init__(rows, width, _weight=torch.zeros_like(base.weight))
        # In a tuple, so that it is not part of this module: the generator trains and stores it.
        self._base = (base,)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the rows of the sum, [..., E]; ids are int64, [...]."""
        return F.embedding(ids, self._base[0].weight.detach()) + super().forward(ids)

    def whole(self) -> Tensor:
        """Return the summed table, [rows, E], without gradients."""
        return (self._base[0].weight + self.weight).detach()


class Generator(Network):
    """ELECTRA's generator, and the differences that the discriminator adds to its tables."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config, GENERATOR_HEADS)
        self.deltas = nn.ModuleDict()
        """The discriminator's `DeltaEmbedding`s, by name; empty without "gdes"."""


def share_tables(generator: Generator, discriminator: Network, sharing: str) -> None:
    """Give the discriminator the embedding tables that it shares with the generator.

    Args:
        generator: Its tables are kept.
        discriminator: Its tables are as wide as the generator's.
        sharing: "es": both networks have the same tables; "nes": each has its own; "gdes": the
            discriminator adds a difference to the generator's, and its loss changes only that.

    ValueError if shared tables have different shapes.

    Source: Clark et al. 2020, section 3.2; "gdes": He et al. 2023 (DeBERTaV3).
    """
    if sharing == "nes":
        return
    _check_tables(generator, discriminator)
    for name in TABLES:
        table = getattr(generator.embeddings, name)
        if table is None:
            continue
        if sharing == "gdes":
            table = generator.deltas[name] = DeltaEmbedding(table)
        setattr(discriminator.embeddings, name, table)


class ReplacedTokenPair(nn.Module):
    """ELECTRA's two networks with their loss.

    Args:
        generator: The generator; shared, not copied.
        discriminator: A network with a replaced-token head, after `share_tables`.

    Source: Clark et al. 2020, section 2. Differs from google-research/electra: each network has its
        own LayerNorm after the tables.
    """

    def __init__(self, generator: Generator, discriminator: Network) -> None:
        super().__init__()
        self.generator, self.discriminator = generator, discriminator

    def forward(self, tensors: ReplacedTensors) -> ReplacedTokenLoss:
        """Return the loss of a batch or a part of it; ValueError if a network lacks its head."""
        batch, draws = tensors
        hidden = self.generator(batch.input_ids, batch.segment_ids, batch.attention_mask)
        places = batch.positions[..., None].expand(-1, -1, hidden.shape[-1])
        logits = self.generator.mlm_logits(hidden.gather(1, places)).float()  # [B, P, V]
        losses = F.cross_entropy(logits.flatten(0, 1), batch.labels.flatten(), reduction="none")
        mlm_loss = (losses * batch.weights.flatten()).sum() / batch.total_masked
        with torch.no_grad():
            guesses = sample_words(logits, draws)
            ids, is_replaced = replace_tokens(batch, guesses)
            right = (logits.argmax(-1) == batch.labels) * batch.weights
        judged = self.discriminator.replaced_logits(
            self.discriminator(ids, batch.segment_ids, batch.attention_mask)
        ).float()  # [B, T]
        kept = torch.ones_like(judged) if batch.attention_mask is None else batch.attention_mask
        judged_losses = F.binary_cross_entropy_with_logits(
            judged, is_replaced.float(), reduction="none"
        )
        replaced_loss = (judged_losses * kept).sum() / batch.total_tokens
        return ReplacedTokenLoss(
            loss=mlm_loss + WEIGHT * replaced_loss,
            mlm_loss=mlm_loss.detach(),
            replaced_loss=replaced_loss.detach(),
            mlm_correct=right.sum(),
            num_masked=batch.weights.sum(),
            replaced_correct=(((judged > 0) == is_replaced) * kept).sum(),
            num_found=((judged > 0) & is_replaced).sum(),
            num_replaced=is_replaced.sum(),
            num_tokens=kept.sum(),
        )


def sample_words(logits: Tensor, draws: Tensor) -> Tensor:
    """Return a word for each row of logits, drawn by its probability, without gradients.

    Args:
        logits: [..., V].
        draws: Random numbers from 0 up to below 1, [...]: the chosen word is the first at which the
            cumulative probability exceeds the number. Equal numbers give equal words however a
            batch is divided; on another device, or in two runs on a GPU, where sums may be rounded
            differently, a number at the border of two words may give the other.

    Source: Clark et al. 2020, section 2. Differs: inverse transform sampling instead of the Gumbel
        maximum; the words have the same probabilities.
    """
    cumulative = logits.detach().float().softmax(-1).cumsum(-1)
    wanted = draws[..., None] * cumulative[..., -1:]
    words = torch.searchsorted(cumulative, wanted, right=True)[..., 0]
    return words.clamp(max=logits.shape[-1] - 1)  # a number just below 1 may be rounded up


def replace_tokens(batch: BatchTensors, guesses: Tensor) -> tuple[Tensor, Tensor]:
    """Return the discriminator's input, and which tokens are replaced, both [B, T].

    A guess that happens to be right does not count as a replacement.

    Args:
        batch: A batch with hidden positions.
        guesses: The generator's guesses, one for each hidden position, [B, P].
    """
    rows, width = batch.input_ids.shape
    # One extra column receives the writes of padding.
    places = batch.positions.masked_fill(batch.weights == 0, width)
    extended = torch.cat([batch.input_ids, batch.input_ids.new_zeros(rows, 1)], dim=1)
    original = extended.scatter(1, places, batch.labels)[:, :width]
    replaced = extended.scatter(1, places, guesses)[:, :width]
    return replaced, replaced != original


def generator_shape(shape: BertConfig, fraction: float) -> BertConfig:
    """Return the shape of a generator: as deep as the discriminator, but narrower.

    >>> from bertcore.architecture.config import shape_of
    >>> base = shape_of("electra", vocab_size=100, num_hidden_layers=4, hidden_size=256)
    >>> small = generator_shape(base, 0.25)
    >>> small.hidden_size, small.num_attention_heads, small.embedding_width
    (64, 1, 128)

    Args:
        shape: Shape of the discriminator.
        fraction: Fraction of its width, above 0 up to 1.

    ValueError if the fraction is out of its range.

    Source: Clark et al. 2020, section 3.2; google-research/electra, get_generator_config.
    """
    if not 0 < fraction <= 1:
        raise ValueError(f"generator_size is {fraction}; expected above 0, up to 1.")
    width = max(1, round(shape.hidden_size * fraction))
    heads = max(1, width // 64)
    width -= width % heads
    embeddings = shape.embedding_width
    return replace(
        shape,
        tie_word_embeddings=True,
        hidden_size=width,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        embedding_size=None if embeddings == width else embeddings,
    )


def whole_tables(discriminator: Network) -> Iterator[tuple[str, Tensor]]:
    """Yield the name and content of each table that is a sum ("gdes"), to store it as one."""
    for name, module in discriminator.named_modules():
        if isinstance(module, DeltaEmbedding):
            yield f"{name}.weight", module.whole()


def _check_tables(generator: Network, discriminator: Network) -> None:
    for name in TABLES:
        shapes = []
        for network in (generator, discriminator):
            table = getattr(network.embeddings, name)
            shapes.append(None if table is None else tuple(table.weight.shape))
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"the generator's {name} have the shape {shapes[0]} and the discriminator's "
                f"{shapes[1]}; shared tables need one shape. Give both the same embedding_size, or "
                'choose sharing "nes".'
            )


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
