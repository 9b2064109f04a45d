"""Replaced tokens (ELECTRA): a generator and a discriminator, trained together."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.architecture.config import BertConfig
from bertcore.network import Network
from bertcore.objectives.masked_words import WEIGHT
from bertcore.pretraining.loss.objective import BatchTensors

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
