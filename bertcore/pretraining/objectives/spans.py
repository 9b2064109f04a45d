"""SpanBERT: spans of words are hidden, and also predicted from the tokens beside them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Generator, Tensor, nn

from bertcore.architecture.config import BertConfig
from bertcore.checkpoints import save
from bertcore.configs import DataConfig, TrainConfig
from bertcore.network import Network
from bertcore.network.empty import empty_embedding, empty_linear, layer_norm
from bertcore.objectives.masked_words import LONGEST_SPAN, SPAN_P, span_lengths
from bertcore.objectives.masking import mask_spans_of_rows
from bertcore.pretraining.data.batches import Batch, Totals
from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.layout import lay_out, starts_of_words
from bertcore.pretraining.loss import BatchTensors, NetworkWithLoss, loss_of_hidden, to_device
from bertcore.pretraining.objectives.objective import BatchSource, Objective, share
from bertcore.tokenizer import Tokenizer

POSITION_WIDTH = 200
"""Width of the vector of a token's position in its span."""
LONGEST = 20
"""Number of positions in a span that are predicted from its ends."""


class BoundaryHead(nn.Module):
    """Two layers, each with GELU and LayerNorm, then the token table and a bias of its own.

    Args:
        config: Shape of the network whose states it reads and whose token table it uses.
        generator: Determines the initial weights.

    Source: Joshi et al. 2020, section 3.2. Differs: the second layer has the width of the token
        table, which is D unless the embeddings are narrower.
    """

    def __init__(self, config: BertConfig, generator: Generator) -> None:
        super().__init__()
        d, e = config.hidden_size, config.embedding_width
        self.positions = empty_embedding(LONGEST, POSITION_WIDTH)
        self.dense = empty_linear(2 * d + POSITION_WIDTH, d)
        self.norm = layer_norm(config, d)
        self.output = empty_linear(d, e)
        self.output_norm = layer_norm(config, e)
        self.word_bias = nn.Parameter(torch.zeros(config.vocab_size))
        std = config.initializer_range
        for weight in (self.positions.weight, self.dense.weight, self.output.weight):
            nn.init.trunc_normal_(weight, 0.0, std, -2 * std, 2 * std, generator=generator)

    def forward(self, left: Tensor, right: Tensor, offset: Tensor) -> Tensor:
        """Return the vectors to multiply with the token table, [..., E].

        Args:
            left, right: States of the tokens before and after the span, [..., D].
            offset: Index of the token in the span, from 0 to LONGEST - 1, int64, [...].
        """
        joined = torch.cat([left, right, self.positions(offset).to(left.dtype)], dim=-1)
        hidden = self.norm(F.gelu(self.dense(joined)))
        out: Tensor = self.output_norm(F.gelu(self.output(hidden)))
        return out


class SpanTensors(NamedTuple):
    """A batch with hidden spans as tensors for the network, on its device."""

    words: BatchTensors
    left: Tensor
    right: Tensor
    offset: Tensor
    """As in MaskedSpans, int64, [B, P]."""


class SpanLoss(NamedTuple):
    """Losses in nats and counts of a batch or of a part of it, scalars on the device."""

    loss: Tensor
    """mlm_loss + sbo_loss"""
    mlm_loss: Tensor
    """Mean over hidden tokens."""
    sbo_loss: Tensor
    """The same loss from the tokens beside the spans; tokens beyond LONGEST count as 0."""
    mlm_correct: Tensor
    sbo_correct: Tensor
    num_masked: Tensor


class SpanBoundary(NetworkWithLoss):
    """A network and its boundary head with both losses.

    Args:
        network: A network with a masked-word head; shared, not copied.
        head: A head for the same network; shared, not copied.
        dtype, is_compiled: As for NetworkWithLoss.

    Source: Joshi et al. 2020, section 3.2: the sum of both losses of each hidden token.
    """

    def __init__(
        self, network: Network, head: BoundaryHead, *, dtype: str, is_compiled: bool = False
    ) -> None:
        super().__init__(network, dtype=dtype, is_compiled=is_compiled)
        self.head = head

    def forward(self, batch: SpanTensors) -> SpanLoss:  # type: ignore[override]
        words = batch.words
        hidden = self.network(
            words.input_ids, words.segment_ids, words.attention_mask, attention=self.attention
        )  # [B, T, D]
        found = loss_of_hidden(self.network, hidden, words, word_loss=self.word_loss)

        def beside(places: Tensor) -> Tensor:
            at = places[..., None].expand(-1, -1, hidden.shape[-1])
            states: Tensor = hidden.gather(1, at).flatten(0, 1)  # [B * P, D]
            return states

        offset = batch.offset.flatten() - 1
        is_near = (offset >= 0) & (offset < LONGEST)
        weights = words.weights.flatten() * is_near
        vectors = self.head(beside(batch.left), beside(batch.right), offset.clamp(0, LONGEST - 1))
        sbo_loss, right = self.word_loss(
            vectors,
            self.network.token_table,
            self.head.word_bias,
            words.labels.flatten(),
            weights / words.total_masked,
        )
        return SpanLoss(
            loss=found.words + sbo_loss,
            mlm_loss=found.numbers.mlm_loss,
            sbo_loss=sbo_loss.detach(),
            mlm_correct=found.numbers.mlm_correct,
            sbo_correct=(right * weights).sum(),
            num_masked=found.numbers.num_masked,
        )


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
