"""SpanBERT: spans of words are hidden, and also predicted from the tokens beside them."""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import Generator, Tensor, nn

from bertcore.configs import DataConfig, TrainConfig
from bertcore.model.architecture.config import BertConfig
from bertcore.model.checkpoints import save
from bertcore.model.network import Network
from bertcore.model.network.empty import empty_embedding, empty_linear, layer_norm
from bertcore.model.objectives.masked_words import LONGEST_SPAN, SPAN_P, span_lengths
from bertcore.model.objectives.masking import mask_spans_of_rows
from bertcore.model.tokenizer import Tokenizer
from bertcore.training.pretraining.data.batches import BatchSource
from bertcore.training.pretraining.data.corpus import PackedCorpus
from bertcore.training.pretraining.data.layout import Rows, starts_of_words
from bertcore.training.pretraining.loss import (
    Inputs,
    Losses,
    NetworkWithLoss,
    loss_at_places,
    loss_of_hidden,
    reported,
    states_at,
)
from bertcore.training.pretraining.objectives.masked_words import HiddenOnCpu, hiding
from bertcore.training.pretraining.objectives.objective import word_metrics

POSITION_WIDTH = 200
"""Width of the vector of a token's position in its span."""
LONGEST = 20
"""Number of positions in a span that are predicted from its ends."""


class BoundaryHead(nn.Module):
    """Two layers, each with GELU and LayerNorm, then the token table and a bias of its own.

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

        From the states of the tokens before and after the span, [..., D], and the index of the
        token in it, from 0 to LONGEST - 1, int64, [...].
        """
        joined = torch.cat([left, right, self.positions(offset).to(left.dtype)], dim=-1)
        hidden = self.norm(F.gelu(self.dense(joined)))
        out: Tensor = self.output_norm(F.gelu(self.output(hidden)))
        return out


class SpanBoundary(NetworkWithLoss):
    """A network and its boundary head with both losses.

    Source: Joshi et al. 2020, section 3.2: the sum of both losses of each hidden token.
    """

    def forward(self, batch: Inputs) -> Losses:
        """Return the masked-word loss with "sbo_loss", where tokens beyond LONGEST count as 0.

        The batch has `left`, `right` and `offset` as in `MaskedSpans`, int64, [B, P].
        """
        assert isinstance(self.companion, BoundaryHead)
        mask = batch.get("attention_mask")
        hidden = self.network(
            batch["input_ids"], batch["segment_ids"], mask, attention=self.attention
        )  # [B, T, D]
        words = loss_of_hidden(self.network, hidden, batch, word_loss=self.word_loss)
        offset = batch["offset"] - 1
        is_near = (offset >= 0) & (offset < LONGEST)
        left, right = (states_at(hidden, batch[side]) for side in ("left", "right"))
        sbo_loss, sbo_correct = loss_at_places(
            self.companion(left, right, offset.flatten().clamp(0, LONGEST - 1)),
            self.network.token_table,
            self.companion.word_bias,
            {**batch, "weights": batch["weights"] * is_near},
            self.word_loss,
        )
        own = {"loss": words["loss"] + sbo_loss, "sbo_loss": sbo_loss, "sbo_correct": sbo_correct}
        return reported({**words, **own})


HEAD_FILE = "boundary_head.safetensors"
"""File beside a checkpoint's weights; `transformers` does not read it."""


class Spans(HiddenOnCpu):
    """Masked spans of words; each token is predicted at its position and from its span's ends.

    On rows packed full of running text. The companion is the boundary head; the network is a BERT
    with a masked-word head.

    Source: Joshi et al. 2020. Differs: rows continue across documents, with [SEP] between, and
        spans end there.
    """

    name = "span-sbo"
    parts = ("spans",)
    reports = word_metrics("span", sbo_loss="sbo_loss", sbo_top1=("sbo_correct", "num_masked"))
    module = SpanBoundary

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

    def hide(self, source: BatchSource, rows: Rows) -> dict[str, Tensor]:
        """Hide spans of whole words; random tokens are drawn from the corpus."""
        config = source.config
        wanted = np.ceil(config.masked_lm_prob * (~rows.is_special).sum(1).numpy())
        counts = torch.from_numpy(wanted.astype(np.int64).clip(max=config.max_predictions_per_seq))
        found = mask_spans_of_rows(
            **{**hiding(source, rows), "counts": counts},
            starts_word=starts_of_words(source.corpus, rows, source.tokenizer),
            lengths=span_lengths(SPAN_P, LONGEST_SPAN),
            unigrams=np.asarray(source.corpus.ids),
        )
        beside = {"left": found.left, "right": found.right, "offset": found.offset}
        return {**found.masked._asdict(), **beside}

    def save(
        self, network: Network, companion: nn.Module | None, tokenizer: Tokenizer, folder: Path
    ) -> None:
        """Write the network (BertForMaskedLM), and beside it the boundary head."""
        assert companion is not None
        save(network, tokenizer, folder)
        head = {name: tensor.cpu() for name, tensor in companion.state_dict().items()}
        save_file(head, folder / HEAD_FILE, metadata={"format": "pt"})
        (folder / HEAD_FILE).chmod((folder / "config.json").stat().st_mode)
