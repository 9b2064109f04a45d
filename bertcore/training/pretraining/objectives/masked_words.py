"""Objectives of our masked-word head: BERT's, sentence order, whole words, UniLM, next tokens."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from bertcore.model.network import ALL_HEADS
from bertcore.model.objectives.attention_masks import DIRECTIONS, GRAMS, allowed
from bertcore.model.objectives.masking import mask_grams, mask_words
from bertcore.training.pretraining.data.batches import (
    Batch,
    BatchSource,
    Totals,
    make_batch,
    num_masked_of,
)
from bertcore.training.pretraining.data.layout import Rows, lay_out, starts_of_words
from bertcore.training.pretraining.objectives.objective import Objective, word_metrics


class MaskedWords(Objective):
    """Masked words alone, on rows packed full of running text, as in RoBERTa.

    Source: Liu et al. 2019, section 4.
    """

    name = "mlm"
    parts: ClassVar[tuple[str, ...]] = ("masked-words",)
    reports = word_metrics("mlm")
    draws_on_device = True
    is_berts = True
    can_have_teacher = True
    best_by = "mlm_loss"

    def batch(self, source: BatchSource) -> Batch:
        """Hide single pieces, each with the same chance."""
        return make_batch(source)


class MaskedWordsAndPairs(MaskedWords):
    """Masked words and next sentences, on sentence pairs: BERT's own.

    Source: Devlin et al. 2019, section 3.1.
    """

    name = "mlm+nsp"
    parts = ("masked-words", "next-sentence")
    reports = word_metrics("mlm", nsp_loss="nsp_loss", nsp_accuracy=("nsp_correct", "num_pairs"))
    heads = ALL_HEADS


class MaskedWordsAndOrder(MaskedWords):
    """Masked words and sentence order, on pairs of texts that follow each other: ALBERT's.

    "mlm_loss" of its scores is the loss on BERT's masks, used to compare objectives.

    Source: Lan et al. 2020, section 3.1. Differs: single pieces are hidden, as in BERT, not n-grams
        of words.
    """

    name = "mlm+sop"
    parts = ("masked-words", "sentence-order")
    reports = word_metrics(
        "pairs_mlm", sop_loss="nsp_loss", sop_accuracy=("nsp_correct", "num_pairs")
    )
    family = "albert"
    heads = frozenset({"pooler", "mlm", "sop"})
    is_berts = False
    can_have_teacher = False
    best_by = "loss"


class HiddenOnCpu(Objective):
    """An objective that hides tokens of rows on the CPU, a whole batch at a time.

    How many are hidden is known only for the whole batch.
    """

    def batch(self, source: BatchSource) -> Batch:
        corpus, rows, tokenizer, config, _, part = source
        laid_out = lay_out(corpus, rows, tokenizer, config.max_seq_length)
        return Batch.whole({**laid_out.inputs, **self.hide(source, laid_out)}).take(part)

    @abstractmethod
    def hide(self, source: BatchSource, rows: Rows) -> dict[str, Tensor]:
        """Return the other tensors of the batch."""


def hiding(source: BatchSource, rows: Rows) -> dict[str, Any]:
    """Return the common arguments of functions that hide tokens of a batch."""
    config = source.config
    return {
        "input_ids": rows.ids,
        "maskable": ~rows.is_special,
        "counts": torch.from_numpy(num_masked_of(source.rows.lengths, config)),
        "max_predictions": config.max_predictions_per_seq,
        "mask_id": source.tokenizer.mask_id,
        "generator": source.generator,
        "actions": config.actions,
    }


class WholeWords(HiddenOnCpu):
    """Masked words, all pieces of a word at once, on rows packed full of running text.

    Source: google-research/bert create_pretraining_data.py, do_whole_word_mask; Cui et al. 2021.
    """

    name = "wwm"
    parts = ("whole-words",)
    reports = word_metrics("wwm")
    can_have_teacher = True
    nothing_hidden = (
        "no word of it fits into {share:.4g} of a row (masked_lm_prob). Give a longer text, or "
        "raise masked_lm_prob."
    )

    def hide(self, source: BatchSource, rows: Rows) -> dict[str, Tensor]:
        return mask_words(
            **hiding(source, rows),
            starts_word=starts_of_words(source.corpus, rows, source.tokenizer),
            vocab_size=source.tokenizer.vocab_size,
        )._asdict()


class LimitedAttention(HiddenOnCpu):
    """Masked words under four masks of attention, on pairs of texts that follow each other.

    A third of the rows is read in both directions, a third as source and target (the source sees
    itself, the target the source and its own earlier tokens), a sixth each from left to right and
    from right to left. The network is a BERT; only the masks differ: `allowed` of the batch,
    [B, T, T].

    Source: Dong et al. 2019, sections 2.2 to 2.4. Differs: the direction is drawn for each row, all
        rows are pairs, next sentences are not predicted, and BERT's two segments do not encode the
        direction.
    """

    name = "unilm"
    parts = ("unilm",)
    reports = word_metrics("unilm")

    def hide(self, source: BatchSource, rows: Rows) -> dict[str, Tensor]:
        """Hide runs of one to three pieces, and draw a direction for each row."""
        masked = mask_grams(
            **hiding(source, rows), lengths=GRAMS, vocab_size=source.tokenizer.vocab_size
        )
        generator = source.generator
        if isinstance(generator, torch.Generator):
            drawn = torch.rand(len(rows.ids), generator=generator)
        else:
            drawn = torch.cat([torch.rand(1, generator=own) for own in generator])
        shares = torch.tensor(list(DIRECTIONS.values())).cumsum(0)
        directions = torch.searchsorted(shares, drawn).clamp(max=len(shares) - 1)
        return {**masked._asdict(), "allowed": directed_mask(directions, rows)}


def directed_mask(directions: Tensor, rows: Rows) -> Tensor:
    """Return the attention mask, True if a row's token may attend to a column's, [B, T, T].

    Directions are indices into DIRECTIONS, [B]. Text B, segment 1, is the target of "prefix". Only
    padding attends to padding.
    """
    width = rows.ids.shape[1]
    names, sources = list(DIRECTIONS), (rows.segment_ids == 1).int().argmax(1).tolist()
    masks = [
        allowed(names[number], width, prefix)
        for number, prefix in zip(directions.tolist(), sources, strict=True)
    ]
    # A token that sees nothing, such as padding read from right to left, would have no gradient.
    itself = torch.eye(width, dtype=torch.bool)
    return torch.from_numpy(np.stack(masks)) & rows.attention_mask[:, None, :] | itself


class NextTokens(Objective):
    """Predict each token from those before it, on rows packed full of running text.

    The network is a BERT whose tokens attend to themselves and to those before them; its
    masked-word head predicts the next token. `transformers` opens it as BertLMHeadModel.

    Source: Radford et al. 2018, section 3.1.
    """

    name = "causal"
    parts = ("causal",)
    reports = word_metrics("next")
    is_for_bert = True
    draws_on_device = True
    ignores = ("masked_lm_prob", "mask_shares")
    fills_masks = False
    is_causal = True

    def batch(self, source: BatchSource) -> Batch:
        """Label each token except the last with the one after it; nothing is hidden."""
        corpus, rows, tokenizer, config, _, part = source
        width, own = config.max_seq_length, rows if part is None else rows.take(part)
        laid_out = lay_out(corpus, own, tokenizer, width, source.device)
        is_token = laid_out.attention_mask[:, 1:]
        tensors = {
            **laid_out.inputs,
            "input_ids": laid_out.ids,
            "positions": torch.arange(width - 1, device=source.device).expand(len(own), -1),
            "labels": laid_out.ids[:, 1:].masked_fill(~is_token, 0),
            "weights": is_token.float(),
        }
        lengths = rows.lengths
        return Batch(tensors, Totals(0, int((lengths - 1).sum()), int(lengths.sum())))
