"""SpanBERT: spans of words are hidden, and also predicted from the tokens beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from bertcore.checkpoints import save
from bertcore.configs import DataConfig, TrainConfig
from bertcore.network import Network
from bertcore.objectives.masked_words import LONGEST_SPAN, SPAN_P, span_lengths
from bertcore.objectives.masking import mask_spans_of_rows
from bertcore.pretraining.data.batches import Batch, Totals
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.layout import lay_out, starts_of_words
from bertcore.pretraining.loss.objective import to_device
from bertcore.pretraining.loss.span_boundary import BoundaryHead, SpanBoundary, SpanTensors
from bertcore.pretraining.objectives.objective import BatchSource, Objective, share
from bertcore.tokenizer import Tokenizer

HEAD_FILE = "boundary_head.safetensors"
"""File beside a checkpoint's weights; `transformers` does not read it."""


@dataclass(frozen=True, slots=True)
class SpanBatch(Batch):
    """Rows with hidden spans, and the tokens beside them."""

    left: Tensor = field(kw_only=True)
    right: Tensor = field(kw_only=True)
    offset: Tensor = field(kw_only=True)
    """As in MaskedSpans, int64, [B, P]."""

    def take(self, rows: slice) -> Self:
        """Return some of the rows, as a part of this batch."""
        beside = {name: getattr(self, name)[rows] for name in ("left", "right", "offset")}
        return replace(Batch.take(self, rows), **beside)


class Spans(Objective):
    """Masked spans of words; each token is predicted at its position and from its span's ends.

    On rows packed full of running text. The companion is the boundary head; the network is a BERT
    with a masked-word head.

    Source: Joshi et al. 2020. Differs: rows continue across documents, with [SEP] between, and
        spans end there.
    """

    name = "span-sbo"
    parts = ("spans",)

    def companion(
        self,
        network: Network,
        train_config: TrainConfig,
        data_config: DataConfig,
        corpus: PackedCorpus | None,
    ) -> BoundaryHead:
        """Return the boundary head with its initial weights."""
        random = torch.Generator().manual_seed(train_config.seed + 1)
        return BoundaryHead(network.config, random)

    def with_loss(
        self, network: Network, companion: nn.Module | None, *, dtype: str, is_compiled: bool
    ) -> nn.Module:
        """Return the network and the boundary head with their losses."""
        assert isinstance(companion, BoundaryHead)
        return SpanBoundary(network, companion, dtype=dtype, is_compiled=is_compiled)

    def batch(self, source: BatchSource) -> SpanBatch:
        """Hide spans of whole words; random tokens are drawn from the corpus."""
        corpus, rows, tokenizer, config, generator, part = source
        laid_out = lay_out(corpus, rows, tokenizer, config.max_seq_length, torch.device("cpu"))
        maskable = ~laid_out.is_special
        wanted = np.ceil(config.masked_lm_prob * maskable.sum(1).numpy()).astype(np.int64)
        found = mask_spans_of_rows(
            laid_out.ids,
            maskable=maskable,
            starts_word=starts_of_words(corpus, laid_out, tokenizer),
            counts=torch.from_numpy(wanted.clip(max=config.max_predictions_per_seq)),
            lengths=span_lengths(SPAN_P, LONGEST_SPAN),
            max_predictions=config.max_predictions_per_seq,
            mask_id=tokenizer.mask_id,
            unigrams=np.asarray(corpus.ids),
            generator=generator,
            actions=config.actions,
        )
        batch = SpanBatch(
            found.masked,
            laid_out.segment_ids,
            laid_out.attention_mask,
            next_sentence_labels=None,
            left=found.left,
            right=found.right,
            offset=found.offset,
        )
        return batch if part is None else batch.take(part)

    def tensors(self, batch: Any, device: torch.device, *, keep_mask: bool) -> SpanTensors:
        return SpanTensors(
            words=to_device(batch, device, keep_mask=keep_mask),
            left=batch.left.to(device),
            right=batch.right.to(device),
            offset=batch.offset.to(device),
        )

    def metrics(self, values: Mapping[str, float], totals: Totals) -> dict[str, float]:
        """Return both losses, and the fractions of hidden tokens that were right."""
        return {
            "loss": values["loss"],
            "span_loss": values["mlm_loss"],
            "span_top1": share(values, "mlm_correct"),
            "sbo_loss": values["sbo_loss"],
            "sbo_top1": share(values, "sbo_correct"),
        }

    def save(
        self, network: Network, companion: nn.Module | None, tokenizer: Tokenizer, folder: Path
    ) -> None:
        """Write the network (BertForMaskedLM), and beside it the boundary head."""
        assert companion is not None
        save(network, tokenizer, folder)
        head = {name: tensor.cpu() for name, tensor in companion.state_dict().items()}
        save_file(head, folder / HEAD_FILE, metadata={"format": "pt"})
        (folder / HEAD_FILE).chmod((folder / "config.json").stat().st_mode)
