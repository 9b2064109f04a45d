"""Permutation language modelling (XLNet): two streams as an attention mask of our network."""

import numpy as np
import torch
from torch import Tensor

from bertcore.configs import DataConfig
from bertcore.model.architecture.config import BertConfig
from bertcore.model.network import Network
from bertcore.model.network.attention import AttentionFunction, attention_fused
from bertcore.model.objectives import permute
from bertcore.training.pretraining.data.batches import Batch, BatchSource
from bertcore.training.pretraining.data.layout import lay_out, row_sources, text_rows
from bertcore.training.pretraining.data.rows import PackedRows
from bertcore.training.pretraining.loss import Inputs, Losses, NetworkWithLoss, loss_at_places
from bertcore.training.pretraining.objectives.objective import Objective, metrics


class PermutationWithLoss(NetworkWithLoss):
    """A network and the loss of predicting the end of each row's order.

    Source: Yang et al. 2019, equation 3 and section 2.3.
    """

    def forward(self, batch: Inputs) -> Losses:
        """Return "loss", the mean over predicted tokens, and the counts "correct" and
        "num_predicted".

        Args:
            batch: As for `query_states`, with the labels of the predicted tokens.
        """
        states = query_states(self.network, batch, attention=self.attention)  # [B, P, D]
        head = self.network.masked_word_head()
        loss, correct = loss_at_places(
            head.transform(states.flatten(0, 1)),
            self.network.decoder_table,
            head.word_bias,
            batch,
            self.word_loss,
        )
        return {"loss": loss, "correct": correct, "num_predicted": batch["weights"].sum()}


def query_states(
    network: Network, batch: Inputs, *, attention: AttentionFunction = attention_fused
) -> Tensor:
    """Return the last states of the query stream at the predicted tokens, [B, P, D].

    A row of T + P tokens contains both streams: the text, followed by a mask token for each
    prediction, with the position and segment of the predicted token. No token attends to the masks,
    not even the masks themselves, so all keys and values are the content stream's, and both streams
    have the same weights, as in the paper.

    Args:
        batch: The text as it is, with `rank`, the rank of each token in the order, int64, [B, T],
            -1 at tokens that all tokens see; `positions` and `weights` of the predicted tokens; and
            `queries`, a [MASK] for each of them, with which the query stream starts, [B, P].

    ValueError if positions are not vectors (ModernBERT), so that a query would not have its
    position.

    Source: Yang et al. 2019, section 2.3. Differs: positions are learned vectors that are added to
        the input, not relative ones inside attention; there is no memory of earlier rows; a query
        starts with the vector of [MASK], not with one of its own.
    """
    if network.embeddings.position_embeddings is None:
        raise ValueError(network.config.family.absent["positions"])
    ids, positions = batch["input_ids"], batch["positions"]
    segment_ids, places = network.default_ids(ids, batch["segment_ids"], None)
    places = places.expand_as(ids)
    hidden = network(
        torch.cat([ids, batch["queries"]], dim=1),
        torch.cat([segment_ids, segment_ids.gather(1, positions)], dim=1),
        stream_mask(batch),
        torch.cat([places, places.gather(1, positions)], dim=1),
        attention=attention,
    )
    states: Tensor = hidden[:, ids.shape[1] :]
    return states


def stream_mask(batch: Inputs) -> Tensor:
    """Return the attention mask of both streams: True = attend, [B, T + P, T + P].

    The first T rows are the content stream, in which a token sees itself, the others the query
    stream. The last P columns, the masks, are all False.
    """
    rank, positions = batch["rank"], batch["positions"]
    # Padding has a query too; it sees what all tokens see.
    of_queries = rank.gather(1, positions).masked_fill(batch["weights"] == 0, 0)
    content = _sees(rank, rank)
    content |= torch.eye(rank.shape[1], dtype=torch.bool, device=rank.device)
    seen = torch.cat([content, _sees(of_queries, rank)], dim=1)  # [B, T + P, T]
    if "attention_mask" in batch:
        seen &= batch["attention_mask"][:, None, :]
    return torch.nn.functional.pad(seen, (0, positions.shape[1]))


def _sees(of: Tensor, rank: Tensor) -> Tensor:
    """Return which tokens come before which in the order, [B, rows, T]; -1 is before all."""
    # Tokens that are not predicted see each other.
    return rank[:, None, :] < of[:, :, None].clamp(min=0)


class PermutedWords(Objective):
    """Predict the last words of a random order of each row, each from those before it.

    Source: Yang et al. 2019. Differs: our network, whose positions are vectors added to the input;
        no memory of earlier rows; the order covers the whole row (`permute`).
    """

    name = "plm"
    parts = ("permutation",)
    reports = metrics(plm_top1=("correct", "num_predicted"))
    module = PermutationWithLoss
    ignores = ("mask_shares",)
    fills_masks = False

    def check(self, shape: BertConfig, config: DataConfig) -> None:
        """Reject networks without position vectors too; ValueError if they have none."""
        super().check(shape, config)
        reason = shape.family.absent.get("positions")
        if reason is not None:
            raise ValueError(
                f"the objective {self.name!r} predicts a word from its position alone. {reason} "
                "Choose another family or objective."
            )

    def batch(self, source: BatchSource) -> Batch:
        """Draw an order for each row; `masked_lm_prob` of its words are predicted."""
        corpus, rows, tokenizer, config, generator, part = source
        assert isinstance(rows, PackedRows)
        most = config.max_predictions_per_seq
        laid_out = lay_out(corpus, rows, tokenizer, config.max_seq_length)
        ids = laid_out.ids.numpy()
        rank = np.full(ids.shape, -1, dtype=np.int64)
        positions = np.zeros((len(rows), most), dtype=np.int64)
        weights = np.zeros((len(rows), most), dtype=np.float32)
        sources = row_sources(generator, len(rows))
        for number, row in enumerate(text_rows(corpus, rows, tokenizer)):
            if len(row.text_places) < 2:  # the end of the corpus: nothing comes before its word
                continue
            order = permute(row, sources[number], share=config.masked_lm_prob, most=most)
            rank[number, : len(row)] = order.rank
            places = np.flatnonzero(order.rank >= 0)
            positions[number, : len(places)] = places
            weights[number, : len(places)] = 1
        own = {
            "input_ids": ids,
            "rank": rank,
            "positions": positions,
            "labels": np.take_along_axis(ids, positions, 1),
            "weights": weights,
            "queries": np.full_like(positions, tokenizer.mask_id),
        }
        tensors = {name: torch.from_numpy(array) for name, array in own.items()}
        return Batch.whole({**laid_out.inputs, **tensors}).take(part)
