"""Objectives of masked words: BERT's two, sentence order, whole words, and UniLM's mixture."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
import torch
from torch import Tensor, nn

from bertcore.architecture.config import BertConfig
from bertcore.configs import DataConfig
from bertcore.network import ALL_HEADS, Network
from bertcore.objectives.attention_masks import DIRECTIONS, SINGLE, Direction
from bertcore.objectives.masking import mask_grams, mask_words, num_masked
from bertcore.pretraining.data.batches import Batch, Totals, make_batch, num_masked_of
from bertcore.pretraining.data.layout import lay_out, starts_of_words
from bertcore.pretraining.loss import BatchTensors, NetworkWithLoss, to_device
from bertcore.pretraining.objectives.objective import BatchSource, Objective, share

SHORTEST_ROW = 5
"""[CLS] a [SEP] b [SEP]"""


class WordObjective(Objective):
    """An objective with the loss of the masked-word head alone, on a `Batch`."""

    metric: ClassVar[str]
    """Begins the names of its metrics."""

    def with_loss(
        self, network: Network, companion: nn.Module | None, *, dtype: str, is_compiled: bool
    ) -> nn.Module:
        """Return the network with the masked-word loss."""
        return NetworkWithLoss(network, dtype=dtype, is_compiled=is_compiled)

    def tensors(self, batch: Batch, device: torch.device, *, keep_mask: bool) -> BatchTensors:
        return to_device(batch, device, keep_mask=keep_mask)

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return the loss, and the fraction of predicted tokens that were right."""
        return {
            "loss": values["loss"],
            f"{self.metric}_loss": values["mlm_loss"],
            f"{self.metric}_top1": share(values, "mlm_correct"),
        }


class MaskedWords(WordObjective):
    """Masked words alone, on rows packed full of running text, as in RoBERTa.

    Source: Liu et al. 2019, section 4.
    """

    name = "mlm"
    parts: ClassVar[tuple[str, ...]] = ("masked-words",)
    draws_on_device = True
    is_berts = True
    can_have_teacher = True
    best_by = "mlm_loss"
    metric = "mlm"

    def batch(self, source: BatchSource) -> Batch:
        """Hide single pieces, each with the same chance."""
        corpus, rows, tokenizer, config, generator, part = source
        return make_batch(corpus, rows, tokenizer, config, generator=generator, part=part)


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
    metric = "pairs_mlm"

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject a network without a head or a second segment for pairs, and too many masks.

        ValueError if they do not fit.
        """
        if "sop" not in shape.family.heads:
            raise ValueError(
                f'the objective "mlm+sop" needs a sentence-order head, which {shape.family.name} '
                'does not have. Train an ALBERT (family = "albert").'
            )
        super().check(shape, config)
        check_pairs(shape, config)

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return the losses, and the fractions of hidden tokens and of pairs that were right.

        "mlm_loss" is the loss on BERT's masks, used to compare objectives.
        """
        return {
            **super().metrics(values, totals),
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


GRAMS = np.array([SINGLE, (1 - SINGLE) / 2, (1 - SINGLE) / 2])
"""Probability of runs of one, two and three pieces."""


@dataclass(frozen=True, slots=True)
class DirectedBatch(Batch):
    """Rows with hidden tokens, each with its direction of attention."""

    directions: Tensor = field(kw_only=True)
    """Indices into DIRECTIONS, int64, [B]."""

    def take(self, rows: slice) -> Self:
        """Return some of the rows, as a part of this batch."""
        taken = Batch.take(self, rows)
        return replace(taken, directions=self.directions[rows])


class LimitedAttention(WordObjective):
    """Masked words under four masks of attention, on pairs of texts that follow each other.

    A third of the rows is read in both directions, a third as source and target (the source sees
    itself, the target the source and its own earlier tokens), a sixth each from left to right and
    from right to left. The network is a BERT; only the masks differ.

    Source: Dong et al. 2019, sections 2.2 to 2.4. Differs: the direction is drawn for each row, all
        rows are pairs, next sentences are not predicted, and BERT's two segments do not encode the
        direction.
    """

    name = "unilm"
    parts = ("unilm",)
    metric = "unilm"

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject a network without a second segment, and too many masks.

        ValueError if they do not fit.
        """
        super().check(shape, config)
        check_pairs(shape, config)

    def batch(self, source: BatchSource) -> DirectedBatch:
        """Hide runs of one to three pieces, and draw a direction for each row."""
        corpus, rows, tokenizer, config, generator, part = source
        laid_out = lay_out(corpus, rows, tokenizer, config.max_seq_length, torch.device("cpu"))
        masked = mask_grams(
            laid_out.ids,
            maskable=~laid_out.is_special,
            counts=torch.from_numpy(num_masked_of(rows.lengths, config)),
            lengths=GRAMS,
            max_predictions=config.max_predictions_per_seq,
            mask_id=tokenizer.mask_id,
            vocab_size=tokenizer.vocab_size,
            generator=generator,
            actions=config.actions,
        )
        if isinstance(generator, torch.Generator):
            drawn = torch.rand(len(rows), generator=generator)
        else:
            drawn = torch.cat([torch.rand(1, generator=own) for own in generator])
        shares = torch.tensor(list(DIRECTIONS.values())).cumsum(0)
        batch = DirectedBatch(
            masked,
            laid_out.segment_ids,
            laid_out.attention_mask,
            next_sentence_labels=None,
            directions=torch.searchsorted(shares, drawn).clamp(max=len(shares) - 1),
        )
        return batch if part is None else batch.take(part)

    def tensors(self, batch: Batch, device: torch.device, *, keep_mask: bool) -> BatchTensors:
        """Return the tensors of a batch on a device, with a mask [B, T, T]."""
        assert isinstance(batch, DirectedBatch)  # as made by `batch`
        tensors = to_device(batch, device, keep_mask=True)
        assert tensors.attention_mask is not None  # because of keep_mask
        mask = directed_mask(
            batch.directions.to(device), tensors.segment_ids, tensors.attention_mask
        )
        return tensors._replace(attention_mask=mask)


def directed_mask(directions: Tensor, segment_ids: Tensor, is_token: Tensor) -> Tensor:
    """Return the attention mask, True if a row's token may attend to a column's, [B, T, T].

    Args:
        directions: Indices into DIRECTIONS, [B].
        segment_ids: 1 in text B, which is the target of "prefix", [B, T].
        is_token: False at padding, to which only padding attends, [B, T].
    """
    names = list(DIRECTIONS)
    place = torch.arange(segment_ids.shape[1], device=segment_ids.device)
    before = place[None, :] <= place[:, None]  # [T, T]: the column is not after the row

    def chosen(name: Direction) -> Tensor:
        return directions.eq(names.index(name))[:, None, None]

    in_source = (segment_ids == 0)[:, None, :]
    in_target = (segment_ids == 1)[:, :, None]
    allowed = chosen("bidirectional") | (chosen("left-to-right") & before)
    allowed = allowed | (chosen("right-to-left") & before.T)
    allowed = allowed | (chosen("prefix") & (in_source | (in_target & before)))
    # A token that sees nothing, such as padding read from right to left, would have no gradient.
    itself = torch.eye(segment_ids.shape[1], dtype=torch.bool, device=segment_ids.device)
    return (allowed & is_token[:, None, :]) | itself


class WholeWords(WordObjective):
    """Masked words, all pieces of a word at once, on rows packed full of running text.

    Source: google-research/bert create_pretraining_data.py, do_whole_word_mask; Cui et al. 2021.
    """

    name = "wwm"
    parts = ("whole-words",)
    can_have_teacher = True
    metric = "wwm"

    def batch(self, source: BatchSource) -> Batch:
        corpus, rows, tokenizer, config, generator, part = source
        laid_out = lay_out(corpus, rows, tokenizer, config.max_seq_length, torch.device("cpu"))
        masked = mask_words(
            laid_out.ids,
            maskable=~laid_out.is_special,
            starts_word=starts_of_words(corpus, laid_out, tokenizer),
            counts=torch.from_numpy(num_masked_of(rows.lengths, config)),
            max_predictions=config.max_predictions_per_seq,
            mask_id=tokenizer.mask_id,
            vocab_size=tokenizer.vocab_size,
            generator=generator,
            actions=config.actions,
        )
        # Words that do not fit are skipped, so the number of masks is known only for a whole batch.
        batch = Batch(masked, laid_out.segment_ids, laid_out.attention_mask, None)
        return batch if part is None else batch.take(part)

    def why_nothing_hidden(self, config: DataConfig) -> str:
        """Return a sentence that words are too long for the share of a row that is hidden."""
        return (
            f"no word of it fits into {config.masked_lm_prob:.4g} of a row (masked_lm_prob). Give "
            "a longer text, or raise masked_lm_prob."
        )
