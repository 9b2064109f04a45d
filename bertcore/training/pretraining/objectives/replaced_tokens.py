"""Replaced tokens (ELECTRA): a generator and a discriminator, trained together."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.configs import DataConfig, TrainConfig
from bertcore.model.architecture.config import BertConfig
from bertcore.model.checkpoints import save
from bertcore.model.network import Network
from bertcore.model.network.initialize import initialize
from bertcore.model.objectives.masked_words import WEIGHT
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.pretraining.data.batches import Batch, BatchSource, make_batch
from bertcore.training.pretraining.data.corpus import PackedCorpus
from bertcore.training.pretraining.loss import Inputs, Losses, NetworkWithLoss, reported
from bertcore.training.pretraining.objectives.objective import Objective, word_metrics
from bertcore.training.pretraining.starting_weights import log_frequencies

TABLES = ("word_embeddings", "position_embeddings", "token_type_embeddings")
"""The tables of the embeddings that the two networks may share."""


class DeltaEmbedding(nn.Embedding):
    """The table `base` plus a difference; gradients reach only the difference.

    `weight` is the difference, which starts at 0, [rows, E].

    Source: He et al. 2023 (DeBERTaV3), gradient-disentangled embedding sharing: E_D = sg(E_G) +
        E_delta.
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
        super().__init__(config, frozenset({"mlm"}))
        self.deltas = nn.ModuleDict()
        """The discriminator's `DeltaEmbedding`s, by name; empty without "gdes"."""


def share_tables(generator: Generator, discriminator: Network, sharing: str) -> None:
    """Give the discriminator the embedding tables, as wide as its own, that the generator has.

    "es": both networks have the same tables; "nes": each has its own; "gdes": the discriminator
    adds a difference to the generator's, and its loss changes only that.

    Source: Clark et al. 2020, section 3.2; "gdes": He et al. 2023 (DeBERTaV3).
    """
    if sharing == "nes":
        return
    for name in TABLES:
        table = getattr(generator.embeddings, name)
        if table is None:
            continue
        if sharing == "gdes":
            table = generator.deltas[name] = DeltaEmbedding(table)
        setattr(discriminator.embeddings, name, table)


class ReplacedTokenPair(NetworkWithLoss):
    """The discriminator with its companion, the generator, and their loss.

    Source: Clark et al. 2020, section 2. Differs from google-research/electra: each network has its
        own LayerNorm after the tables.
    """

    def forward(self, batch: Inputs) -> Losses:
        """Return the loss of a batch or a part of it.

        Args:
            batch: With [MASK] at the hidden positions, and `draws`, a random number from 0 up to
                below 1 for each of them, [B, P], which determines the generator's word.

        Returns:
            "loss", "mlm_loss" + 50 x "replaced_loss": the generator's, a mean over hidden tokens,
            and the discriminator's, over all tokens except padding; "mlm_correct" of "num_masked";
            of "num_tokens" the number "replaced_correct" that is judged correctly, and
            "num_replaced" that differs from the text, of which "num_found" are judged correctly.
        """
        generator, mask = self.companion, batch.get("attention_mask")
        assert isinstance(generator, Generator)
        hidden = generator(batch["input_ids"], batch["segment_ids"], mask)
        places = batch["positions"][..., None].expand(-1, -1, hidden.shape[-1])
        logits = generator.mlm_logits(hidden.gather(1, places)).float()  # [B, P, V]
        labels, weights = batch["labels"], batch["weights"]
        losses = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
        mlm_loss = (losses * weights.flatten()).sum() / batch["total_masked"]
        with torch.no_grad():
            guesses = sample_words(logits, batch["draws"])
            ids, is_replaced = replace_tokens(batch, guesses)
            right = (logits.argmax(-1) == labels) * weights
        judged = self.network.replaced_logits(
            self.network(ids, batch["segment_ids"], mask)
        ).float()  # [B, T]
        kept = torch.ones_like(judged) if mask is None else mask
        judged_losses = F.binary_cross_entropy_with_logits(
            judged, is_replaced.float(), reduction="none"
        )
        replaced_loss = (judged_losses * kept).sum() / batch["total_tokens"]
        return reported(
            {
                "loss": mlm_loss + WEIGHT * replaced_loss,
                "mlm_loss": mlm_loss,
                "replaced_loss": replaced_loss,
                "mlm_correct": right.sum(),
                "num_masked": weights.sum(),
                "replaced_correct": (((judged > 0) == is_replaced) * kept).sum(),
                "num_found": ((judged > 0) & is_replaced).sum(),
                "num_replaced": is_replaced.sum(),
                "num_tokens": kept.sum(),
            }
        )


def sample_words(logits: Tensor, draws: Tensor) -> Tensor:
    """Return a word for each row of logits [..., V], drawn by its probability, without gradients.

    `draws` are random numbers from 0 up to below 1, [...]: the chosen word is the first at which
    the cumulative probability exceeds the number. Equal numbers give equal words however a batch is
    divided; on another device, or in two runs on a GPU, where sums may be rounded differently, a
    number at the border of two words may give the other.

    Source: Clark et al. 2020, section 2. Differs: inverse transform sampling instead of the Gumbel
        maximum; the words have the same probabilities.
    """
    cumulative = logits.detach().float().softmax(-1).cumsum(-1)
    wanted = draws[..., None] * cumulative[..., -1:]
    words = torch.searchsorted(cumulative, wanted, right=True)[..., 0]
    return words.clamp(max=logits.shape[-1] - 1)  # a number just below 1 may be rounded up


def replace_tokens(batch: Inputs, guesses: Tensor) -> tuple[Tensor, Tensor]:
    """Return the discriminator's input, and which tokens are replaced, both [B, T].

    `guesses` has the generator's word for each hidden position, [B, P]; one that happens to be
    right does not count as a replacement.
    """
    width = batch["input_ids"].shape[1]
    # One extra column receives the writes of padding.
    places = batch["positions"].masked_fill(batch["weights"] == 0, width)
    extended = F.pad(batch["input_ids"], (0, 1))
    original = extended.scatter(1, places, batch["labels"])[:, :width]
    replaced = extended.scatter(1, places, guesses)[:, :width]
    return replaced, replaced != original


def generator_shape(shape: BertConfig, fraction: float) -> BertConfig:
    """Return the shape of a generator: as deep as the discriminator, but narrower.

    >>> from bertcore.model.architecture.config import shape_of
    >>> base = shape_of("electra", vocab_size=100, num_hidden_layers=4, hidden_size=256)
    >>> small = generator_shape(base, 0.25)
    >>> small.hidden_size, small.num_attention_heads, small.embedding_width
    (64, 1, 128)

    Source: Clark et al. 2020, section 3.2; google-research/electra, get_generator_config.
    """
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


GENERATOR_FOLDER = "generator"
"""Folder in a checkpoint of the discriminator for the generator's."""
_EMBEDDING_SIZE = 128


class ReplacedTokens(Objective):
    """Detect the tokens that a generator put in place of hidden ones, on rows of running text.

    The network is the discriminator, of the family ELECTRA; its companion is the generator.

    Source: Clark et al. 2020. Differs: rows are packed full of text and have one segment.
    """

    name = "rtd"
    parts = ("replaced-tokens",)
    reports = word_metrics(
        "generator",
        replaced_loss="replaced_loss",
        replaced_accuracy=("replaced_correct", "num_tokens"),  # high even if nothing is found
        replaced_recall=("num_found", "num_replaced"),
        share_replaced=("num_replaced", "num_tokens"),
    )
    module = ReplacedTokenPair
    ignores = ("mask_shares",)  # the generator reads [MASK] at every hidden position
    heads = frozenset({"replaced"})
    draws_on_device = True
    fills_masks = False

    def shape(self, shape: BertConfig) -> BertConfig:
        """Return ELECTRA's shape: the requested one, with narrow embeddings if it is BERT's."""
        shape = super().shape(shape)
        if shape.model_type != "bert":
            return shape
        narrow = _EMBEDDING_SIZE if shape.hidden_size > _EMBEDDING_SIZE else None
        return replace(shape, model_type="electra", embedding_size=narrow)

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

    def batch(self, source: BatchSource) -> Batch:
        """Hide pieces, all as [MASK], and draw a random number for each."""
        config = replace(source.config, mask_shares="100/0/0")
        words = make_batch(source._replace(config=config))
        most, generator = config.max_predictions_per_seq, source.generator
        own_rows = source.part or slice(0, len(source.rows))
        device = source.device
        if isinstance(generator, torch.Generator):
            size = (len(source.rows), most)
            draws = torch.rand(size, generator=generator, device=device)[own_rows]
        else:
            own = [torch.rand(most, generator=g, device=device) for g in generator[own_rows]]
            draws = torch.stack(own)
        return replace(words, tensors={**words.tensors, "draws": draws})

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
