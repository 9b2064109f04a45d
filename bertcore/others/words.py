"""Predict hidden words in each architecture: the input of its head and how it is applied."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor

from bertcore.others.config import OtherConfig
from bertcore.others.families import DENOISING, PERMUTED, SPANS, OtherFamily
from bertcore.others.given import word_logits_of

LONGEST_SPAN = 8
"""Maximum number of pieces that T5's decoder writes for a sentinel before the next one."""


class WordNetwork(Protocol):
    """What words are predicted with; `bertcore.others.network.OtherNetwork` is one."""

    model: Any
    config: OtherConfig
    other: OtherFamily
    mask_id: int
    sentinels: list[int]

    @property
    def base(self) -> Any:
        """The model without its word head."""

    @property
    def token_table(self) -> Tensor:
        """The token embeddings, [V, E]."""

    def encoder(self) -> Any:
        """Return the module that computes hidden states from ids."""

    def inputs(
        self, input_ids: Tensor, segment_ids: Tensor | None, attention_mask: Tensor | None
    ) -> dict[str, Tensor]:
        """Return the arguments of the encoder."""

    def run(self, part: Any, **inputs: Any) -> Any:
        """Call a part of the model."""

    def __call__(
        self, input_ids: Tensor, segment_ids: Tensor | None, attention_mask: Tensor | None
    ) -> Tensor:
        """Return the last hidden states, [B, T, D]."""


def word_logits(network: WordNetwork, hidden: Tensor) -> Tensor:
    """Return vocabulary logits, [..., V], for the head's input, [..., D].

    Uses the model's own head, as its class in `transformers` applies it.
    """
    model, model_type = network.model, network.config.model_type
    logits: Tensor
    if network.other.is_generic:
        logits = word_logits_of(model, hidden)
    elif model_type.startswith("deberta"):
        if model.legacy:
            logits = model.cls(hidden)
        else:
            logits = model.lm_predictions(hidden, network.base.embeddings.word_embeddings)
    elif model_type == "mobilebert":
        flat = model.cls.predictions(hidden.reshape(-1, hidden.shape[-1]))
        logits = flat.view(*hidden.shape[:-1], -1)
    elif model_type == "xlnet":
        logits = model.lm_loss(hidden)
    elif model_type == "t5":
        scale = model.model_dim**-0.5 if model.config.scale_decoder_outputs else 1.0
        logits = model.lm_head(hidden * scale)
    elif model_type == "bart":
        logits = model.lm_head(hidden) + model.final_logits_bias[0].to(hidden.device)
    else:
        logits = model.lm_head(hidden)
    return logits


def word_states(
    network: WordNetwork,
    input_ids: Tensor,
    segment_ids: Tensor | None,
    attention_mask: Tensor | None,
) -> Tensor:
    """Return the word head's input at each token, [B, T, D]; see `OtherNetwork.word_states`."""
    way = network.other.words
    if way == PERMUTED:
        return _query_stream(network, input_ids, segment_ids, attention_mask)
    if way == DENOISING:
        inputs = network.inputs(input_ids, segment_ids, attention_mask)
        states: Tensor = network.run(network.base, **inputs).last_hidden_state
        return states
    if way == SPANS:
        return _span_states(network, input_ids, attention_mask)
    out: Tensor = network(input_ids, segment_ids, attention_mask)
    return out


def _query_stream(
    network: WordNetwork,
    input_ids: Tensor,
    segment_ids: Tensor | None,
    attention_mask: Tensor | None,
) -> Tensor:
    """Return XLNet's query stream g at each token: it knows the position but not the token.

    No token attends to hidden tokens; all attend to the others.

    Source: Yang et al. 2019, section 2.3 (two-stream attention), with an order in which all hidden
        tokens come last and do not attend to each other.
    """
    inputs = network.inputs(input_ids, segment_ids, attention_mask)
    num_tokens = input_ids.shape[1]
    hidden = input_ids == network.mask_id
    unseen = hidden[:, None, :].expand(-1, num_tokens, -1)
    mapping = torch.eye(num_tokens, device=input_ids.device).expand(len(input_ids), -1, -1)
    dtype = network.token_table.dtype
    out = network.run(
        network.base,
        **inputs,
        perm_mask=unseen.to(dtype),
        target_mapping=mapping.to(dtype),
        use_mems=False,
    )
    states: Tensor = out.last_hidden_state
    return states


def _span_states(network: WordNetwork, input_ids: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Return the decoder's state from which T5 writes the first piece for each sentinel.

    Hidden tokens are numbered: the first becomes <extra_id_0>, the next <extra_id_1>. The decoder
    gets each sentinel in turn, after its own (greedy) output for those before.

    Source: Raffel et al. 2020, section 3.1.4 (the form of inputs and targets).
    """
    hidden = input_ids == network.mask_id  # <extra_id_0>, or [MASK] of word pieces
    counts = hidden.sum(1)
    most = int(counts.max())
    if most > len(network.sentinels):
        raise ValueError(
            f"{most} words are hidden, but T5 has {len(network.sentinels)} sentinels. Hide fewer."
        )
    numbered = input_ids.clone()
    for row, where in enumerate(hidden):
        numbered[row, where] = torch.tensor(network.sentinels[: int(counts[row])]).to(input_ids)
    inputs = network.inputs(numbered, None, attention_mask)
    encoded = network.run(network.encoder(), **inputs).last_hidden_state
    states = torch.zeros_like(encoded)
    if most == 1:  # all rows at once: no sentinel follows
        rows = hidden.any(1).nonzero()[:, 0]
        decoder_ids = _first_decoder_ids(network, len(rows)).to(input_ids)
        decoded = _decode(network, decoder_ids, encoded[rows], inputs["attention_mask"][rows])
        states[hidden] = decoded[:, -1]
        return states
    for row in hidden.any(1).nonzero()[:, 0].tolist():
        where = hidden[row].nonzero()[:, 0]
        source, attention_mask = encoded[row : row + 1], inputs["attention_mask"][row : row + 1]
        states[row, where] = _row_states(network, source, attention_mask, len(where))
    return states


def _first_decoder_ids(network: WordNetwork, num_rows: int) -> Tensor:
    """Return the decoder's input before it writes for the first sentinel, [B, 2]."""
    start = network.model.config.decoder_start_token_id or 0
    return torch.tensor([[start, network.sentinels[0]]]).expand(num_rows, -1)


def _row_states(
    network: WordNetwork, encoded: Tensor, attention_mask: Tensor, count: int
) -> Tensor:
    """Return the states from which the pieces of `count` sentinels are written, [count, D]."""
    ids = _first_decoder_ids(network, 1).to(attention_mask)
    stops = {*network.sentinels, network.model.config.eos_token_id}
    states = []
    for number in range(count):
        if number:
            sentinel = ids.new_tensor([[network.sentinels[number]]])
            ids = torch.cat([ids, sentinel], dim=1)
        state = _decode(network, ids, encoded, attention_mask)[:, -1]
        states.append(state[0])
        for _ in range(LONGEST_SPAN if number + 1 < count else 0):
            piece = word_logits(network, state).argmax(-1)
            if int(piece) in stops:
                break
            ids = torch.cat([ids, piece[None]], dim=1)
            state = _decode(network, ids, encoded, attention_mask)[:, -1]
    return torch.stack(states)


def _decode(network: WordNetwork, ids: Tensor, encoded: Tensor, attention_mask: Tensor) -> Tensor:
    """Return the decoder's last states, [B, Td, D]."""
    out = network.run(
        network.model.get_decoder(),
        input_ids=ids,
        encoder_hidden_states=encoded,
        encoder_attention_mask=attention_mask,
        use_cache=False,
    )
    states: Tensor = out.last_hidden_state
    return states
