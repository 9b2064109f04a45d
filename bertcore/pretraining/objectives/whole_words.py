"""Whole words instead of single pieces."""

from collections.abc import Mapping

import torch

from bertcore.configs import DataConfig
from bertcore.objectives.masked_batches import mask_words
from bertcore.pretraining.data.batches import Batch, Totals, num_masked_of
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.instances import Instances
from bertcore.pretraining.data.layout import lay_out, starts_of_words
from bertcore.pretraining.data.packed_rows import PackedRows
from bertcore.pretraining.objectives.masked_words import MaskedWords
from bertcore.pretraining.objectives.objective import Generators, share
from bertcore.tokenizer import Tokenizer


class WholeWords(MaskedWords):
    """Masked words, all pieces of a word at once, on rows packed full of running text.

    Source: google-research/bert create_pretraining_data.py, do_whole_word_mask; Cui et al. 2021.
    """

    name = "wwm"
    parts = ("whole-words",)
    draws_on_device = False
    is_berts = False
    best_by = "loss"

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
        """Hide whole words."""
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
            "a longer text, or raise --masked-lm-prob."
        )

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return the loss on whole words, and the fraction of their pieces that were right."""
        return {
            "loss": values["loss"],
            "wwm_loss": values["mlm_loss"],
            "wwm_top1": share(values, "mlm_correct"),
        }
