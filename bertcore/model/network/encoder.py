"""BERT's network: embeddings, a stack of layers, and the heads that a checkpoint has."""

from collections.abc import Callable, Iterable, Sequence

import torch
from torch import Tensor, nn

from bertcore.model.architecture.config import BertConfig, ModernBertConfig
from bertcore.model.architecture.families import Capability, Family
from bertcore.model.network.attention import (
    AttentionBlock,
    AttentionFunction,
    SelfAttention,
    additive_mask,
    attention_fused,
    attention_kept,
    tokens_at,
)
from bertcore.model.network.embeddings import EmbeddingParts, Embeddings
from bertcore.model.network.empty import layer_norm
from bertcore.model.network.feed_forward import FeedForward
from bertcore.model.network.heads import MaskedWordHead, PairHead, Pooler, ReplacedTokenHead
from bertcore.model.network.modern import GatedFeedForward, ModernAttention

ALL_HEADS = frozenset({"pooler", "mlm", "nsp"})
"""The heads of BERT's own pretraining."""
FAMILY_HEADS = ALL_HEADS | {"replaced", "sop"}
"""The same with ELECTRA's replaced-token head and ALBERT's sentence-order head."""


class Layer(nn.Module):
    """Self-attention, then feed-forward: BERT's blocks or ModernBERT's."""

    def __init__(
        self, attention: AttentionBlock, feed_forward: FeedForward | GatedFeedForward
    ) -> None:
        super().__init__()
        self.attention = attention
        self.feed_forward = feed_forward

    def forward(self, hidden: Tensor, mask: Tensor | None, attention: AttentionFunction) -> Tensor:
        """Return the layer's output, [B, T, D]."""
        out: Tensor = self.feed_forward(self.attention(hidden, mask, attention))
        return out


_ABSENT = {
    "pooler": "has no pooler, so it has no pooled sentence vector",
    "mlm": "has no masked-word (MLM) head, so it cannot predict words",
    "nsp": "has no next-sentence (NSP) head",
    "replaced": "has no replaced-token head",
    "sop": "has no sentence-order head",
    "next": "does not predict the next token",
    "decoder": "has no decoder here",
}
_INSTEAD = {
    "replaced": "an ELECTRA discriminator (ElectraForPreTraining)",
    "sop": "an ALBERT checkpoint with its pretraining heads (AlbertForPreTraining)",
    "next": "a causal checkpoint, such as the shipped 'causal', or a GPT-2 (GPT2LMHeadModel)",
    "decoder": "a T5 or BART checkpoint with its head",
}


def absent_head(head: Capability, family: Family) -> str:
    """Return why a checkpoint of a family has no such head, and what to open instead."""
    reason = family.absent.get(head) or f"this checkpoint {_ABSENT[head]}."
    return f"{reason} Open {_INSTEAD.get(head, _USUAL)}."


_USUAL = "a pretrained checkpoint with one, such as 'default'"


def too_long(num_tokens: int, limit: int) -> str:
    """Return the sentence about an input of more tokens than there are positions."""
    return (
        f"sequence has {num_tokens} tokens, but this checkpoint has {limit} position "
        f"embeddings. Shorten the text or pass max_length={limit}."
    )


def collect_into(states: list[Tensor]) -> Callable[[int, Tensor], Tensor]:
    """Return a callback that appends each layer's output to a list, for `Network.run_layers`."""

    def after(index: int, hidden: Tensor) -> Tensor:
        states.append(hidden)
        return hidden

    return after


class Network(nn.Module):
    """All parameters of one BERT and its forward passes.

    Args:
        config: The shape.
        heads: Which of "pooler", "mlm", "nsp", "replaced", "sop" exist; a missing head is None.
            Fine-tuned or stripped checkpoints lack some; families never have others.

    The weights start empty: fill them with `initialize` or from a checkpoint.
    """

    def __init__(self, config: BertConfig, heads: frozenset[str] = ALL_HEADS) -> None:
        super().__init__()
        if not heads <= FAMILY_HEADS or ({"nsp", "sop"} & heads and "pooler" not in heads):
            raise ValueError(
                f"heads {sorted(heads)} cannot be built; expected a choice of "
                f"{sorted(FAMILY_HEADS)}, and nsp and sop need pooler."
            )
        self.config = config
        self.embeddings = Embeddings(config)
        num_layers = config.num_hidden_layers
        self.final_norm: nn.LayerNorm | None = None
        if isinstance(config, ModernBertConfig):
            self.final_norm = layer_norm(config, config.hidden_size)
        # A layer that is in the list L times counts its parameters once.
        num_distinct = 1 if config.share_layers else num_layers
        distinct = [self._new_layer(index) for index in range(num_distinct)]
        layers = nn.ModuleList(distinct * num_layers if config.share_layers else distinct)
        self.layers = layers  # type: ignore[assignment]  # typed by its content, below
        self.pooler = Pooler(config) if "pooler" in heads else None
        self.mlm = MaskedWordHead(config) if "mlm" in heads else None
        self.nsp = PairHead(config) if "nsp" in heads else None
        self.replaced = ReplacedTokenHead(config) if "replaced" in heads else None
        self.sop = PairHead(config) if "sop" in heads else None

    layers: Sequence[Layer]

    def _new_layer(self, index: int) -> Layer:
        config = self.config
        if not isinstance(config, ModernBertConfig):
            return Layer(SelfAttention(config), FeedForward(config))
        is_last = index + 1 == config.num_hidden_layers
        feed_forward = GatedFeedForward(config, self.final_norm if is_last else None)
        return Layer(ModernAttention(config, index), feed_forward)

    def forward(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        *,
        attention: AttentionFunction = attention_fused,
        num_layers: int | None = None,
    ) -> Tensor:
        """Return the last hidden state, [B, T, D].

        Args:
            input_ids: int64, [B, T].
            segment_ids: int64, [B, T]; None means all 0.
            attention_mask: True = attend, [B, T] or [B, T, T]; None means attend to all.
            position_ids: int64, [B, T] or [T]; None means 0, 1, 2, ... (see `default_ids`).
            attention: How to attend; the fused function by default.
            num_layers: Stop after this many layers (0: the embeddings' output); None runs all.

        ValueError if the input is longer than the position table.
        """
        hidden, mask = self.embed(input_ids, segment_ids, attention_mask, position_ids)
        return self.run_layers(hidden, mask, attention, layers=range(len(self.layers))[:num_layers])

    def embed(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the input of the first layer, [B, T, D], and the additive mask of all layers.

        Arguments as for `forward`. ValueError if the input is longer than the position table.
        """
        segment_ids, position_ids = self.default_ids(input_ids, segment_ids, position_ids)
        hidden: Tensor = self.embeddings(input_ids, segment_ids, position_ids)
        mask = None if attention_mask is None else additive_mask(attention_mask, hidden.dtype)
        return hidden, mask

    def look_up(self, input_ids: Tensor, segment_ids: Tensor) -> EmbeddingParts:
        """Return the embeddings of an input before they are summed; ids are int64, [B, T]."""
        _, positions = self.default_ids(input_ids, segment_ids, None)
        return self.embeddings.look_up(input_ids, segment_ids, positions.expand_as(input_ids))

    def run_embedded(
        self,
        embedded: EmbeddingParts,
        input_ids: Tensor,
        segment_ids: Tensor,
        attention_mask: Tensor | None = None,
        *,
        after: Callable[[int, Tensor], Tensor] = lambda index, state: state,
    ) -> Tensor:
        """Return the last hidden state, [B, T, D]; arguments as of `OtherNetwork.run_embedded`."""
        hidden = self.embeddings.project(self.embeddings.normalize(embedded.sum))
        mask = None if attention_mask is None else additive_mask(attention_mask, hidden.dtype)
        return self.run_layers(hidden, mask, after=after)

    def run_layers(
        self,
        hidden: Tensor,
        mask: Tensor | None = None,
        attention: AttentionFunction = attention_fused,
        *,
        layers: Iterable[int] | None = None,
        attention_of: Callable[[int], AttentionFunction] | None = None,
        after: Callable[[int, Tensor], Tensor] | None = None,
    ) -> Tensor:
        """Return the state after the last of the given layers, [B, T, D].

        The only loop over the layers besides `trace_network`, which writes every activation into
        buffers.

        Args:
            hidden: The state before the first of them, [B, T, D].
            layers: Indices of the layers to run, from 0; None: all.
            attention_of: How each layer attends, by its index, instead of `attention`.
            after: Called with a layer's index and output; returns the next layer's input.
        """
        for index in range(len(self.layers)) if layers is None else layers:
            attend = attention if attention_of is None else attention_of(index)
            hidden = self.layers[index](hidden, mask, attend)
            if after is not None:
                hidden = after(index, hidden)
        return hidden

    def every_state(self, input_ids: Tensor, segment_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return all hidden states of a padded batch, [L+1, B, T, D]; True is a token."""
        hidden, mask = self.embed(input_ids, segment_ids, attention_mask)
        states = [hidden]
        self.run_layers(hidden, mask, after=collect_into(states))
        return torch.stack(states)

    def every_attention(
        self, input_ids: Tensor, segment_ids: Tensor, attention_mask: Tensor
    ) -> Tensor:
        """Return the attention weights of a padded batch, float32 [L, B, H, T, T]."""
        hidden, mask = self.embed(input_ids, segment_ids, attention_mask)
        weights: list[Tensor] = []
        self.run_layers(hidden, mask, attention_kept(weights))
        return torch.stack([each.float() for each in weights])

    def run_last_layer_at(
        self,
        hidden: Tensor,
        mask: Tensor | None,
        places: Tensor,
        attention: AttentionFunction = attention_fused,
    ) -> Tensor:
        """Return the last hidden state of one token of each text, [B, 1, D].

        Of the state before the last layer, [B, T, D], with the additive mask of all layers. Only
        that token, at `places` [B], has a query, and only its state goes through the feed-forward
        block: the same numbers as with `run_layers`, with a quarter less work in four layers.
        """
        block, num_rows = self.layers[-1].attention, len(hidden)
        mask = block.masked(mask, hidden.shape[-2])
        if mask is not None and mask.shape[-2] > 1:  # a row for each query, not one for all
            mask = tokens_at(mask.expand(num_rows, 1, -1, -1), places)
        queries, keys, values = block.project_at(hidden, places)  # queries: [B, H, 1, K]
        dropout = block.attention_dropout if block.training else 0.0
        context = attention(queries, keys, values, mask, dropout)
        out: Tensor = self.layers[-1].feed_forward(
            block.combine(context, tokens_at(hidden, places))
        )
        return out

    def word_states_at(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None,
        attention_mask: Tensor | None,
        places: Tensor,
        attention: AttentionFunction = attention_fused,
    ) -> Tensor:
        """Return the masked-word head's input at one position of each text, [B, D].

        The other arguments as for `forward`.
        """
        hidden, mask = self.embed(input_ids, segment_ids, attention_mask)
        layers = range(len(self.layers) - 1)
        hidden = self.run_layers(hidden, mask, attention, layers=layers)
        return self.run_last_layer_at(hidden, mask, places, attention)[:, 0]

    def word_states(
        self,
        input_ids: Tensor,
        segment_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
    ) -> Tensor:
        """Return the masked-word head's input at each token: the last hidden state, [B, T, D].

        Other architectures use other states.
        """
        out: Tensor = self(input_ids, segment_ids, attention_mask)
        return out

    @property
    def token_table(self) -> Tensor:
        """The token embeddings, [V, E]: a row for each piece of the vocabulary."""
        return self.embeddings.word_embeddings.weight

    @property
    def decoder_table(self) -> Tensor:
        """The masked-word head's matrix, [V, E]: the token table, unless it has its own (untied).

        ValueError if this checkpoint has no such head.
        """
        return self.masked_word_head().decoder.table(self.token_table)

    @property
    def position_table(self) -> Tensor:
        """The position embeddings, [P, E]; ValueError if positions are not vectors (ModernBERT)."""
        if self.embeddings.position_embeddings is None:
            raise ValueError(self.config.family.absent["positions"])
        return self.embeddings.position_embeddings.weight

    def default_ids(
        self, input_ids: Tensor, segment_ids: Tensor | None, position_ids: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Fill in segment 0 and positions 0, 1, 2, ... if they are not given.

        With a `position_offset` (RoBERTa), the first token has that position; padding has the one
        before it and is not counted, as in fairseq's make_positions.
        """
        num_tokens, limit = input_ids.shape[-1], self.config.max_length
        if num_tokens > limit and position_ids is None:
            raise ValueError(too_long(num_tokens, limit))
        if segment_ids is None:
            segment_ids = torch.zeros_like(input_ids)
        if position_ids is None and self.config.position_offset:
            is_token = input_ids != self.config.pad_token_id
            position_ids = is_token.cumsum(-1) * is_token + self.config.position_offset - 1
        elif position_ids is None:
            position_ids = torch.arange(num_tokens, device=input_ids.device)
        return segment_ids, position_ids

    def read_early(self, states: Tensor) -> Tensor:
        """Return hidden states [L+1, ...] in the form of the last, on which heads were trained.

        ModernBERT's last state is normalised; the earlier ones get the same LayerNorm.
        """
        if self.final_norm is None:
            return states
        return torch.cat([self.final_norm(states[:-1]), states[-1:]])

    def mlm_logits(self, hidden: Tensor) -> Tensor:
        """Return vocabulary logits, [..., V], of hidden states [..., D].

        ValueError if this checkpoint has no masked-word head.
        """
        if self.config.is_decoder:
            raise ValueError(self.why_no_head("mlm"))
        out: Tensor = self.masked_word_head()(hidden, self.token_table)
        return out

    def next_logits(self, hidden: Tensor) -> Tensor:
        """Return logits of the token after each, [..., V], of hidden states [..., D].

        ValueError if this checkpoint does not predict next tokens.
        """
        if reason := self.why_no_head("next"):
            raise ValueError(reason)
        out: Tensor = self.masked_word_head()(hidden, self.token_table)
        return out

    def masked_word_head(self) -> MaskedWordHead:
        """Return the word head, for masked words or, with causal attention, next tokens.

        ValueError if this checkpoint has none.
        """
        if self.mlm is None:
            raise ValueError(self.why_no_head("next" if self.config.is_decoder else "mlm"))
        return self.mlm

    def pooled(self, hidden: Tensor) -> Tensor:
        """Return the pooled [CLS] vector, [B, D], of the last hidden state [B, T, D].

        ValueError if this checkpoint has no pooler.
        """
        return self._read("pooler", hidden)

    def nsp_logits(self, hidden: Tensor) -> Tensor:
        """Return next-sentence logits, [B, 2] (0: follows, 1: random), of hidden [B, T, D].

        ValueError if this checkpoint has no next-sentence head.
        """
        return self._read("nsp", hidden)

    def sop_logits(self, hidden: Tensor) -> Tensor:
        """Return sentence-order logits, [B, 2] (0: in order, 1: exchanged), of hidden [B, T, D].

        ValueError if this checkpoint has no sentence-order head.
        """
        return self._read("sop", hidden)

    def replaced_logits(self, hidden: Tensor) -> Tensor:
        """Return replaced-token logits, [..., T] (above 0: replaced), of hidden [..., T, D].

        ValueError if this checkpoint has no replaced-token head.
        """
        return self._read("replaced", hidden)

    def _read(self, head: Capability, hidden: Tensor) -> Tensor:
        if reason := self.why_no_head(head):
            raise ValueError(reason)
        out: Tensor = getattr(self, head)(self.pooled(hidden) if head in ("nsp", "sop") else hidden)
        return out

    def why_no_head(self, head: Capability) -> str | None:
        """Return the reason why one of HEADS is absent, as a sentence; None if it is there."""
        if self.config.is_decoder and head in ("mlm", "next"):  # one head, named by its use
            if head == "mlm":
                return self.config.family.absent["mlm"]
            head = "next" if self.mlm is None else "mlm"
        is_there = getattr(self, head, None) is not None
        return None if is_there else absent_head(head, self.config.family)
