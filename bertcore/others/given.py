"""Run a head of a class of `transformers` on given states instead of those of its encoder."""

import copy
from typing import Any

import torch
from torch import Tensor, nn


def run_head(model: Any, ids: Tensor, hidden: Tensor, attention_mask: Tensor | None = None) -> Any:
    """Return the output of a model whose encoder's result is given.

    Args:
        model: A model with a head; it is not changed.
        ids: Ids in the shape that the class takes, [B, T], or [B, 1, T] for choices. Their values
            are not read.
        hidden: Last hidden states, [B, T, D].
        attention_mask: True at tokens, [B, T]; None: there is no padding.
    """
    base = getattr(model, model.base_model_prefix)
    pooler = getattr(base, "pooler", None)
    given = _Given(hidden, None if pooler is None else pooler(hidden))
    given.embeddings = getattr(base, "embeddings", None)  # DeBERTa's head reads its table
    twin = copy.copy(model)
    twin._modules = {**model._modules, model.base_model_prefix: given}
    return twin(
        input_ids=ids, attention_mask=None if attention_mask is None else attention_mask.long()
    )


class _Given(nn.Module):
    """A stand-in for an encoder whose results are known."""

    embeddings: nn.Module | None

    def __init__(self, hidden: Tensor, pooled: Tensor | None) -> None:
        super().__init__()
        self._out = _Out(hidden, pooled)

    def forward(self, *arguments: Any, **options: Any) -> "_Out":
        """Return the results, whatever the arguments."""
        return self._out


class _Out:
    """The part of an encoder's output that heads read."""

    mems = hidden_states = attentions = past_key_values = cross_attentions = None

    def __init__(self, hidden: Tensor, pooled: Tensor | None) -> None:
        self.last_hidden_state, self.pooler_output = hidden, pooled

    def __getitem__(self, place: int) -> Tensor | None:
        return (self.last_hidden_state, self.pooler_output)[place]


def word_logits_of(model: Any, hidden: Tensor) -> Tensor:
    """Return the logits of a word head, [..., V], for states [..., D]."""
    rows = hidden.reshape(1, -1, hidden.shape[-1])
    ids = torch.zeros(rows.shape[:2], dtype=torch.long, device=hidden.device)
    out = run_head(model, ids, rows)
    # MobileBERT's class for pretraining has two kinds of logits.
    logits: Tensor = out.prediction_logits if "prediction_logits" in out else out.logits
    return logits.reshape(*hidden.shape[:-1], -1)
