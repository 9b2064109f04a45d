"""Objectives with a decoder: T5's spans, BART's noise, MASS's fragment, on networks of
`transformers`."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from bertcore.base.quiet import quiet_transformers
from bertcore.configs import DataConfig, TrainConfig
from bertcore.model.architecture.config import BertConfig
from bertcore.model.loading import load
from bertcore.model.network import Network
from bertcore.model.objectives import IGNORED, Corrupted, Pieces, Row, bart_noise, mass, t5_spans
from bertcore.model.others.config import read_config
from bertcore.model.others.families import described_family
from bertcore.model.others.network import OtherNetwork
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.pretraining.data.batches import Batch, BatchSource, Totals
from bertcore.training.pretraining.data.corpus import PackedCorpus
from bertcore.training.pretraining.data.layout import (
    NUM_SENTINELS,
    check_sentinels,
    pieces_of,
    row_sources,
    text_rows,
    with_sentinels,
)
from bertcore.training.pretraining.data.rows import PackedRows
from bertcore.training.pretraining.loss import Inputs, Losses, NetworkWithLoss
from bertcore.training.pretraining.objectives.objective import Objective, metrics


class SequenceWithLoss(NetworkWithLoss):
    """A T5ForConditionalGeneration or BartForConditionalGeneration, and its loss.

    Source: Raffel et al. 2020, section 2.4; Lewis et al. 2020, section 2.2; Song et al. 2019,
        equation 2: cross-entropy of each token given the text before it and the encoder's states.
    """

    def __init__(self, network: Network, *_: object, **__: object) -> None:
        super(NetworkWithLoss, self).__init__()  # its attention is that of `transformers`
        self.network = network

    def forward(self, batch: Inputs) -> Losses:
        """Return "loss", the mean over the tokens that the decoder must write, "num_written", and
        "correct", how many of them would be, given those before them in the text.

        Args:
            batch: From `pad_sequences`.
        """
        names = ("attention_mask", "decoder_attention_mask")
        masks = {name: batch[name].long() for name in names if name in batch}
        logits = (
            cast(OtherNetwork, self.network)
            .model(
                input_ids=batch["input_ids"],
                decoder_input_ids=batch["decoder_input_ids"],
                use_cache=False,
                **masks,
            )
            .logits.float()
        )
        labels = batch["labels"]
        losses = F.cross_entropy(
            logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="sum"
        )
        is_written = labels != IGNORED
        right = (logits.argmax(-1) == labels) & is_written
        return {
            "loss": losses / batch["total_masked"],
            "correct": right.sum(),
            "num_written": is_written.sum(),
        }


def pad_sequences(rows: Sequence[Corrupted], pad_id: int) -> dict[str, Tensor]:
    """Return rows of an objective with a decoder, padded to the longest.

    `input_ids` and `attention_mask`, [B, T]; `decoder_input_ids`, `decoder_attention_mask`, and
    `labels`, the token after each of them, IGNORED if there is no loss, [B, Td]. If a row names the
    positions of its decoder's tokens (MASS), they are placed there and all other positions are
    padding, so that the decoder's own positions are right.
    """
    read, is_read, written = zip(*(_decoder_side(row, pad_id) for row in rows), strict=True)
    return {
        "input_ids": _pad([row.input_ids for row in rows], pad_id),
        "attention_mask": _pad([np.ones_like(row.input_ids) for row in rows], 0).bool(),
        "decoder_input_ids": _pad(read, pad_id),
        "decoder_attention_mask": _pad(is_read, 0).bool(),
        "labels": _pad(written, IGNORED),
    }


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


def _pad(rows: Sequence[np.ndarray], value: int) -> Tensor:
    """Return rows of several lengths as one tensor, int64, [B, T]."""
    tensors = [torch.from_numpy(row.astype(np.int64)) for row in rows]
    return torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=value)


WORDS = frozenset({"mlm"})
"""The head of `OtherNetwork` that writes words."""


class Denoising(Objective):
    """Repair a damaged text: an encoder reads it, a decoder writes.

    The network is a class of `transformers` with its own initial weights. On either side, it has
    the requested number of layers, width and number of heads.
    """

    reports = metrics(written_top1=("correct", "num_written"))
    module = SequenceWithLoss
    heads = frozenset()
    is_for_bert = True
    # No hidden token is left in its place.
    ignores: ClassVar[tuple[str, ...]] = ("mask_shares",)
    fills_masks = False
    is_ours = False

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
        """Return a new model of `transformers`, encoder and decoder of this shape."""

    @abstractmethod
    def corrupt(
        self, row: Row, pieces: Pieces, source: np.random.Generator, config: DataConfig
    ) -> Corrupted:
        """Return the inputs and labels of encoder and decoder for a row of two or more words."""

    def batch(self, source: BatchSource) -> Batch:
        """Corrupt each row, and pad to the longest."""
        corpus, rows, tokenizer, config, generator, part = source
        assert isinstance(rows, PackedRows)
        pieces, sources = pieces_of(tokenizer), row_sources(generator, len(rows))
        damaged = [
            self.corrupt(row, pieces, random, config) if len(row.text_places) > 1 else _kept(row)
            for row, random in zip(text_rows(corpus, rows, tokenizer), sources, strict=True)
        ]
        tensors = pad_sequences(damaged, tokenizer.pad_id)
        num_written = int((tensors["labels"] != IGNORED).sum())
        totals = Totals(0, num_written, int(tensors["attention_mask"].sum()))
        return Batch(tensors, totals).take(part)

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
        with quiet_transformers():
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


class OnBart(Denoising):
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


class BartNoise(OnBart):
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


class MassFragment(OnBart):
    """Write the hidden fragment of a text: MASS, on BART's network.

    Source: Song et al. 2019. Differs: the decoder may attend to hidden positions of the encoder, as
        in the paper's text; the released code hides them.
    """

    name = "mass"
    parts = ("mass",)
    ignores = ()

    def corrupt(
        self, row: Row, pieces: Pieces, source: np.random.Generator, config: DataConfig
    ) -> Corrupted:
        """Hide one fragment, which the decoder writes."""
        return mass(row, pieces, source, share=config.masked_lm_prob, actions=config.actions)


def _kept(row: Row) -> Corrupted:
    """Return a row of one word, the end of a corpus, unchanged, with nothing to write."""
    return Corrupted(
        input_ids=row.ids,
        labels=np.array([IGNORED]),
        decoder_input_ids=row.ids[-1:],
        decoder_positions=None,
    )
