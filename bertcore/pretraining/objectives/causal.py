"""Next tokens from those before them: a BERT with causal attention."""

from dataclasses import replace

import torch

from bertcore.architecture.config import BertConfig
from bertcore.configs import DataConfig
from bertcore.objectives.masking import Masked
from bertcore.pretraining.data.batches import Batch, Totals
from bertcore.pretraining.data.layout import lay_out
from bertcore.pretraining.objectives.masked_words import WordObjective
from bertcore.pretraining.objectives.objective import BatchSource


class NextTokens(WordObjective):
    """Predict each token from those before it, on rows packed full of running text.

    The network is a BERT whose tokens attend to themselves and to those before them; its
    masked-word head predicts the next token. `transformers` opens it as BertLMHeadModel.

    Source: Radford et al. 2018, section 3.1.
    """

    name = "causal"
    parts = ("causal",)
    draws_on_device = True
    has_shares = False
    fills_masks = False
    is_causal = True
    metric = "next"

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject members of the family other than BERT.

        ValueError if the network is one, or settings do not fit.
        """
        if shape.model_type != "bert":
            raise ValueError(
                f'the objective "causal" trains BERT itself, but the network is {shape.family.name}'
                ". Leave family out, or start from a BERT."
            )
        super().check(shape, config)

    def shape(self, shape: BertConfig) -> BertConfig:
        """Return the shape with causal attention."""
        return replace(shape, is_decoder=True)

    def batch(self, source: BatchSource) -> Batch:
        """Label each token except the last with the one after it; nothing is hidden."""
        corpus, rows, tokenizer, config, generator, part = source
        one = generator if isinstance(generator, torch.Generator) else generator[0]
        width = config.max_seq_length
        own = rows if part is None else rows.take(part)
        laid_out = lay_out(corpus, own, tokenizer, width, one.device)
        is_token = laid_out.attention_mask[:, 1:]
        places = torch.arange(width - 1, device=one.device).expand(len(own), -1)
        masked = Masked(
            input_ids=laid_out.ids,
            positions=places,
            labels=laid_out.ids[:, 1:].masked_fill(~is_token, 0),
            weights=is_token.float(),
            action=torch.where(is_token, 1, -1),
        )
        lengths = rows.lengths
        return Batch(
            masked,
            laid_out.segment_ids,
            laid_out.attention_mask,
            next_sentence_labels=None,
            whole=Totals(
                num_pairs=0,
                num_masked=int((lengths - 1).sum()),
                num_tokens=int(lengths.sum()),
            ),
        )
