"""BERT's objectives: masked words, alone or with next sentences."""

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import nn

from bertcore.architecture.config import BertConfig
from bertcore.configs import DataConfig
from bertcore.network import ALL_HEADS, Network
from bertcore.objectives.masking import num_masked
from bertcore.pretraining.data.batches import Batch, Totals, make_batch
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.instances import Instances
from bertcore.pretraining.data.packed_rows import PackedRows
from bertcore.pretraining.loss.objective import BatchTensors, NetworkWithLoss, to_device
from bertcore.pretraining.objectives.objective import Generators, Objective, share
from bertcore.tokenizer import Tokenizer

SHORTEST_ROW = 5
"""[CLS] a [SEP] b [SEP]"""


class MaskedWords(Objective):
    """Masked words alone, on rows packed full of running text, as in RoBERTa.

    Source: Liu et al. 2019, section 4.
    """

    name = "mlm"
    parts: ClassVar[tuple[str, ...]] = ("masked-words",)
    draws_on_device = True
    is_berts = True
    can_have_teacher = True
    best_by = "mlm_loss"

    def with_loss(
        self, network: Network, companion: nn.Module | None, *, dtype: str, is_compiled: bool
    ) -> nn.Module:
        """Return the network with the masked-word loss."""
        return NetworkWithLoss(network, dtype=dtype, is_compiled=is_compiled)

    def batch(
        self,
        corpus: PackedCorpus,
        rows: Instances | PackedRows,
        tokenizer: Tokenizer,
        config: DataConfig,
        *,
        generator: Generators,
        part: slice | None = None,
    ) -> Batch:
        """Hide single pieces, each with the same chance."""
        return make_batch(corpus, rows, tokenizer, config, generator=generator, part=part)

    def tensors(self, batch: Batch, device: torch.device, *, keep_mask: bool) -> BatchTensors:
        """Return the tensors of a batch on a device."""
        return to_device(batch, device, keep_mask=keep_mask)

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return the losses, and the fraction of hidden tokens that were right."""
        return {
            "loss": values["loss"],
            "mlm_loss": values["mlm_loss"],
            "mlm_top1": share(values, "mlm_correct"),
        }


class MaskedWordsAndPairs(MaskedWords):
    """Masked words and next sentences, on sentence pairs: BERT's own.

    Source: Devlin et al. 2019, section 3.1.
    """

    name = "mlm+nsp"
    parts = ("masked-words", "next-sentence")
    heads = ALL_HEADS

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject a network without a head or a second segment for pairs, and too many masks.

        ValueError if they do not fit.
        """
        shape = self.shape(shape)
        if "nsp" not in shape.family.heads:
            raise ValueError(
                f'the objective "mlm+nsp" needs a next-sentence head. {shape.family.absent["nsp"]} '
                'Train masked words alone (objective "mlm").'
            )
        super().check(shape, config)
        check_pairs(shape, config)

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return the losses, and the fractions of hidden tokens and of pairs that were right."""
        return {
            **super().metrics(values, totals),
            "nsp_loss": values["nsp_loss"],
            "nsp_accuracy": values["nsp_correct"] / totals.num_pairs,
        }


class MaskedWordsAndOrder(MaskedWords):
    """Masked words and sentence order, on pairs of texts that follow each other: ALBERT's.

    Source: Lan et al. 2020, section 3.1. Differs: single pieces are hidden, as in BERT, not n-grams
        of words.
    """

    name = "mlm+sop"
    parts = ("masked-words", "sentence-order")
    family = "albert"
    heads = frozenset({"pooler", "mlm", "sop"})
    is_berts = False
    can_have_teacher = False
    best_by = "loss"

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject a network without a head or a second segment for pairs, and too many masks.

        ValueError if they do not fit.
        """
        if "sop" not in shape.family.heads:
            raise ValueError(
                f'the objective "mlm+sop" needs a sentence-order head, which {shape.family.name} '
                "does not have. Train an ALBERT (--family albert)."
            )
        super().check(shape, config)
        check_pairs(shape, config)

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return the losses, and the fractions of hidden tokens and of pairs that were right.

        "mlm_loss" is the loss on BERT's masks, used to compare objectives.
        """
        return {
            "loss": values["loss"],
            "pairs_mlm_loss": values["mlm_loss"],
            "pairs_mlm_top1": share(values, "mlm_correct"),
            "sop_loss": values["nsp_loss"],
            "sop_accuracy": values["nsp_correct"] / totals.num_pairs,
        }


def check_pairs(shape: BertConfig, config: DataConfig) -> None:
    """Reject settings with which pairs cannot be laid out and masked.

    ValueError if more tokens are to be hidden than a short pair has, or there is no second segment.
    """
    longest = (config.long_phase() or config).max_seq_length
    probability, most = config.masked_lm_prob, config.max_predictions_per_seq
    for length in range(SHORTEST_ROW, longest + 1):
        count = num_masked(length, most, probability)
        if count > length - 3:
            raise ValueError(
                f"masked_lm_prob is {probability}, which hides {count} tokens of a row of "
                f"{length}, but there are only {length - 3} besides [CLS] and [SEP]. Lower it."
            )
    if shape.type_vocab_size < 2:
        raise ValueError(
            f"a pair has two segments, but this {shape.family.name} has {shape.type_vocab_size} "
            "(type_vocab_size). Choose a network with two, such as bert or albert, or train masked "
            'words alone (objective "mlm").'
        )
