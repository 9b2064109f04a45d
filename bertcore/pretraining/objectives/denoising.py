"""Objectives with a decoder: T5's spans, BART's noise, MASS's fragment, on networks of
`transformers`."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.architecture.config import BertConfig
from bertcore.configs import DataConfig, TrainConfig
from bertcore.loading import load
from bertcore.network import Network
from bertcore.objectives import IGNORED, Corrupted, Pieces, Row, bart_noise, mass, t5_spans
from bertcore.others.config import read_config
from bertcore.others.families import described_family
from bertcore.others.network import OtherNetwork
from bertcore.pretraining.data.batches import Totals
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.layout import (
    NUM_SENTINELS,
    check_sentinels,
    pieces_of,
    row_sources,
    text_rows,
    with_sentinels,
)
from bertcore.pretraining.data.rows import PackedRows
from bertcore.pretraining.objectives.objective import (
    BatchSource,
    Objective,
    refuse_mask_shares,
    share,
)
from bertcore.tokenizer import Tokenizer


class SequenceLoss(NamedTuple):
    """Loss in nats and counts of a batch, scalars on the device.

    For a part of a batch: its contribution to each, so that the parts sum to the batch's loss.
    """

    loss: Tensor
    """Mean over the tokens that the decoder must write."""
    correct: Tensor
    """Number of tokens that would be written correctly, given those before them in the text."""
    num_written: Tensor


class SequenceTensors(NamedTuple):
    """The inputs of encoder and decoder, and the decoder's labels."""

    input_ids: Tensor
    """Ids of the encoder, int64, [B, T]"""
    attention_mask: Tensor
    """True at its tokens, False at padding, [B, T]."""
    decoder_input_ids: Tensor
    """int64, [B, Td]"""
    decoder_mask: Tensor
    """True at the decoder's tokens, [B, Td]."""
    labels: Tensor
    """The token after each of them, IGNORED if there is no loss, int64, [B, Td]."""


def sequence_loss(model: Any, rows: SequenceTensors, total_written: Tensor) -> SequenceLoss:
    """Return the loss of a batch or a part of it.

    Args:
        model: A T5ForConditionalGeneration or BartForConditionalGeneration of `transformers`.
        rows: Rows on its device.
        total_written: Number of labels in the whole batch; float32 scalar.

    Source: Raffel et al. 2020, section 2.4; Lewis et al. 2020, section 2.2; Song et al. 2019,
        equation 2: cross-entropy of each token given the text before it and the encoder's states.
    """
    logits = model(
        input_ids=rows.input_ids,
        attention_mask=rows.attention_mask.long(),
        decoder_input_ids=rows.decoder_input_ids,
        decoder_attention_mask=rows.decoder_mask.long(),
        use_cache=False,
    ).logits.float()
    labels = rows.labels.flatten()
    losses = F.cross_entropy(logits.flatten(0, 1), labels, ignore_index=IGNORED, reduction="sum")
    is_written = rows.labels != IGNORED
    with torch.no_grad():
        right = ((logits.argmax(-1) == rows.labels) & is_written).sum()
    return SequenceLoss(losses / total_written, right.float(), is_written.sum().float())


class SequenceWithLoss(nn.Module):
    """A network of `transformers` with an encoder and a decoder, and its loss.

    Args:
        network: An `OtherNetwork`; shared, not copied.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, tensors: tuple[SequenceTensors, Tensor]) -> SequenceLoss:
        """Return the loss of rows, given the number of tokens that the whole batch writes."""
        rows, total_written = tensors
        return sequence_loss(self.network.model, rows, total_written)


def pad_sequences(rows: Sequence[Corrupted], pad_id: int) -> SequenceTensors:
    """Return rows padded to the longest.

    If a row names the positions of its decoder's tokens (MASS), they are placed there and all other
    positions are padding, so that the decoder's own positions are right.

    Args:
        rows: Rows of an objective with a decoder.
        pad_id: The padding token.
    """
    inputs = [row.input_ids for row in rows]
    read, is_read, written = zip(*(_decoder_side(row, pad_id) for row in rows), strict=True)
    input_ids, attention_mask = _pad(inputs, pad_id)
    decoder_input_ids, _ = _pad(read, pad_id)
    decoder_mask, _ = _pad(is_read, 0)
    labels, _ = _pad(written, IGNORED)
    return SequenceTensors(
        input_ids, attention_mask, decoder_input_ids, decoder_mask.bool(), labels
    )


def _decoder_side(row: Corrupted, pad_id: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the decoder's input for a row, 1 at its tokens, and its labels, each [Td]."""
    assert row.decoder_input_ids is not None  # denoising objectives all have a decoder
    places = row.decoder_positions
    if places is None:
        return row.decoder_input_ids, np.ones_like(row.decoder_input_ids), row.labels
    width = int(places.max()) + 1
    read, is_read, written = np.full(width, pad_id), np.zeros(width), np.full(width, IGNORED)
    read[places], is_read[places], written[places] = row.decoder_input_ids, 1, row.labels
    return read, is_read, written


def _pad(rows: Sequence[np.ndarray], value: int) -> tuple[Tensor, Tensor]:
    """Return rows of several lengths as one tensor, and True except at padding, both [B, T]."""
    lengths = torch.tensor([len(row) for row in rows])
    width = int(lengths.max())
    padded = np.full((len(rows), width), value, dtype=np.int64)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return torch.from_numpy(padded), torch.arange(width) < lengths[:, None]


WORDS = frozenset({"mlm"})
"""The head of `OtherNetwork` that writes words."""


@dataclass(frozen=True, slots=True)
class SequenceBatch:
    """Rows for an encoder and a decoder."""

    rows: SequenceTensors
    """The rows, on the CPU."""
    totals: Totals
    """Counts of the whole batch, used as divisors; `num_masked` are the tokens to write."""

    @property
    def num_tokens(self) -> int:
        """Number of tokens that the encoder reads, without padding."""
        return int(self.rows.attention_mask.sum())

    @property
    def num_rows(self) -> int:
        """Number of rows in this batch or part."""
        return len(self.rows.input_ids)

    def as_part_of(self, totals: Totals) -> Self:
        """Return the same rows as a part of a larger batch with these counts."""
        return replace(self, totals=totals)


class Denoising(Objective):
    """Repair a damaged text: an encoder reads it, a decoder writes.

    The network is a class of `transformers` with its own initial weights. On either side, it has
    the requested number of layers, width and number of heads.
    """

    heads = frozenset()
    fills_masks = False
    is_ours = False
    uses_shares: ClassVar[bool] = False
    """Whether hidden tokens become [MASK], stay or change by `mask_shares`."""

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject families, and mask settings without effect; ValueError if they do not fit."""
        if shape.model_type != "bert":
            raise ValueError(
                f"the objective {self.name!r} trains an encoder and a decoder of its own, but the "
                f"family {shape.family.name} was requested. Leave family out."
            )
        if not self.uses_shares:
            refuse_mask_shares(config, f"{self.name!r} leaves no hidden token in its place")

    def check_goes_on(self) -> None:
        """Reject every checkpoint.

        Raises:
            ValueError: Always.
        """
        raise ValueError(f"the objective {self.name!r} starts from noise. Leave --checkpoint out.")

    def network(
        self,
        shape: BertConfig,
        config: TrainConfig,
        corpus: PackedCorpus | None,
        start_from: Network | None,
        *,
        on_notice: Callable[[str], None],
    ) -> Network:
        """Return the network with the initial weights of `transformers`, determined by the seed."""
        if config.start == "warm" and corpus is not None:
            on_notice("training starts from noise: the warm start is made for BERT's encoder.")
        with torch.random.fork_rng([]):
            torch.manual_seed(config.seed)
            model = self.model(shape, config.dropout)
        family = described_family(model.config.model_type)
        assert family is not None  # T5 or BART
        network = OtherNetwork(model, read_config(model.config, heads=WORDS, family=family), WORDS)
        # Typed for our network; only this one's parameters and token table are used.
        return cast(Network, network)

    @abstractmethod
    def model(self, shape: BertConfig, dropout: float) -> Any:
        """Return a new model of `transformers`.

        Args:
            shape: Shape of encoder and decoder.
            dropout: Fraction of activations to drop.
        """

    @abstractmethod
    def corrupt(
        self, row: Row, pieces: Pieces, source: np.random.Generator, config: DataConfig
    ) -> Corrupted:
        """Return the inputs and labels of encoder and decoder for a row of two or more words."""

    def position_tables(self, network: Network, companion: nn.Module | None) -> list[Tensor]:
        """Return none: no table starts with the vectors that are extended."""
        return []

    def with_loss(
        self, network: Network, companion: nn.Module | None, *, dtype: str, is_compiled: bool
    ) -> nn.Module:
        return SequenceWithLoss(network)

    def batch(self, source: BatchSource) -> SequenceBatch:
        """Corrupt each row, and pad to the longest."""
        corpus, rows, tokenizer, config, generator, part = source
        assert isinstance(rows, PackedRows)
        pieces, sources = pieces_of(tokenizer), row_sources(generator, len(rows))
        damaged = [
            self.corrupt(row, pieces, source, config) if len(row.text_places) > 1 else _kept(row)
            for row, source in zip(text_rows(corpus, rows, tokenizer), sources, strict=True)
        ]
        whole = pad_sequences(damaged, tokenizer.pad_id)
        totals = Totals(
            num_pairs=0,
            num_masked=int((whole.labels != IGNORED).sum()),
            num_tokens=int(whole.attention_mask.sum()),
        )
        own = part or slice(0, len(rows))
        return SequenceBatch(SequenceTensors(*(tensor[own] for tensor in whole)), totals)

    def tensors(
        self, batch: SequenceBatch, device: torch.device, *, keep_mask: bool
    ) -> tuple[SequenceTensors, Tensor]:
        """Return the tensors of a batch on a device, and the whole batch's number of labels."""
        total = torch.tensor(batch.totals.divisor, device=device)
        return SequenceTensors(*(tensor.to(device) for tensor in batch.rows)), total

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return the loss, and the fraction of tokens that would have been written correctly."""
        return {
            "loss": values["loss"],
            "written_top1": share(values, "correct", "num_written"),
        }

    def save(
        self, network: Network, companion: nn.Module | None, tokenizer: Tokenizer, folder: Path
    ) -> None:
        """Write a checkpoint that opens as the class of `transformers`, ready to generate."""
        model = cast(OtherNetwork, network).model
        for config in (model.config, model.generation_config):
            config.pad_token_id = tokenizer.pad_id
            config.bos_token_id = tokenizer.cls_id
            config.eos_token_id = tokenizer.sep_id
            config.decoder_start_token_id = self.start_id(tokenizer)
            config.forced_eos_token_id = None
        with _without_bars():
            model.save_pretrained(folder)
        tokenizer.save(folder)

    def start_id(self, tokenizer: Tokenizer) -> int:
        """Return the token with which the decoder starts."""
        return tokenizer.sep_id

    def weights(self, folder: Path) -> dict[str, Tensor]:
        """Return the network's weights as written by `save`, on the CPU."""
        return cast(OtherNetwork, load(folder, device="cpu").module).state_dict()


class T5Spans(Denoising):
    """Write what sentinels stand for: T5's span corruption.

    Source: Raffel et al. 2020, section 3.1.4. Differs: a row has `max_seq_length` tokens before
        spans are removed, so the encoder reads about a tenth fewer; [CLS] stays before the text,
        where the checkpoint's tokenizer puts it.
    """

    name = "denoise-t5"
    parts = ("t5-spans",)
    num_added_tokens = NUM_SENTINELS

    def tokenizer(self, tokenizer: Tokenizer) -> Tokenizer:
        return with_sentinels(tokenizer)

    def check_tokenizer(self, tokenizer: Tokenizer, config: DataConfig) -> None:
        """Reject a vocabulary with too few sentinels; ValueError if a row may need more."""
        longest = (config.long_phase() or config).max_seq_length
        check_sentinels(tokenizer, longest, config.masked_lm_prob)

    def model(self, shape: BertConfig, dropout: float) -> Any:
        """Return a T5 of the first version: ReLU, one table for reading and writing."""
        import transformers

        return transformers.T5ForConditionalGeneration(
            transformers.T5Config(
                vocab_size=shape.vocab_size,
                d_model=shape.hidden_size,
                d_kv=shape.head_size,
                d_ff=shape.intermediate_size,
                num_layers=shape.num_hidden_layers,
                num_heads=shape.num_attention_heads,
                dropout_rate=dropout,
                pad_token_id=shape.pad_token_id,
            )
        )

    def corrupt(
        self, row: Row, pieces: Pieces, source: np.random.Generator, config: DataConfig
    ) -> Corrupted:
        """Replace spans of 3 pieces on average by sentinels."""
        found = t5_spans(row, pieces, source, share=config.masked_lm_prob)
        return replace(found, input_ids=np.append(pieces.cls_id, found.input_ids))

    def start_id(self, tokenizer: Tokenizer) -> int:
        return tokenizer.cls_id


class _OnBart(Denoising):
    """An objective on BART's network."""

    def model(self, shape: BertConfig, dropout: float) -> Any:
        """Return a BART with twice the positions, for [MASK]s that stand for no word."""
        import transformers

        sides = {
            "layers": shape.num_hidden_layers,
            "attention_heads": shape.num_attention_heads,
            "ffn_dim": shape.intermediate_size,
        }
        both = {f"{side}_{k}": v for side in ("encoder", "decoder") for k, v in sides.items()}
        return transformers.BartForConditionalGeneration(
            transformers.BartConfig(
                vocab_size=shape.vocab_size,
                d_model=shape.hidden_size,
                max_position_embeddings=2 * shape.max_position_embeddings,
                dropout=dropout,
                attention_dropout=dropout,
                init_std=shape.initializer_range,
                pad_token_id=shape.pad_token_id,
                forced_eos_token_id=None,
                **both,
            )
        )


class BartNoise(_OnBart):
    """Write the whole text, whose sentences were shuffled and spans masked: BART's objective.

    Source: Lewis et al. 2020, section 2.2.
    """

    name = "denoise-bart"
    parts = ("bart-infilling", "bart-sentences")

    def corrupt(
        self, row: Row, pieces: Pieces, source: np.random.Generator, config: DataConfig
    ) -> Corrupted:
        """Shuffle sentences, then replace spans of words by one [MASK] each."""
        return bart_noise(row, pieces, source, share=config.masked_lm_prob)


class MassFragment(_OnBart):
    """Write the hidden fragment of a text: MASS, on BART's network.

    Source: Song et al. 2019. Differs: the decoder may attend to hidden positions of the encoder, as
        in the paper's text; the released code hides them.
    """

    name = "mass"
    parts = ("mass",)
    uses_shares = True

    def corrupt(
        self, row: Row, pieces: Pieces, source: np.random.Generator, config: DataConfig
    ) -> Corrupted:
        """Hide one fragment, which the decoder writes."""
        return mass(row, pieces, source, share=config.masked_lm_prob, actions=config.actions)


@contextmanager
def _without_bars() -> Iterator[None]:
    """Keep the progress bars of `transformers` out of the run's."""
    from transformers.utils import logging

    shows_bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shows_bars:
            logging.enable_progress_bar()


def _kept(row: Row) -> Corrupted:
    """Return a row of one word, the end of a corpus, unchanged, with nothing to write."""
    return Corrupted(
        input_ids=row.ids,
        labels=np.array([IGNORED]),
        decoder_input_ids=row.ids[-1:],
        decoder_positions=None,
    )
