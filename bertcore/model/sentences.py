"""Sentence vectors: pooling, and the modules of sentence-transformers after it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import torch
import torch.nn.functional as F
from torch import Tensor, nn

POOLINGS = ("mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
"""The names of sentence-transformers: the mean over all tokens; the first token; the highest of
each number; the sum over the square root of their number; the mean with weights 1, 2, 3, ...; the
last token. [CLS] and [SEP] are tokens like all others."""


def pool(hidden: Tensor, attention_mask: Tensor, pooling: str) -> Tensor:
    """Pool the states of a padded batch, [B, T, D], to [B, D] by one of POOLINGS.

    True in the mask is a token; padding comes last.
    """
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "max":
        return hidden.masked_fill(~attention_mask[..., None], -torch.inf).amax(1)
    weights, total = _weights(attention_mask, pooling)
    return (hidden * weights[..., None].to(hidden.dtype)).sum(1) / total


def _weights(attention_mask: Tensor, pooling: str) -> tuple[Tensor, Tensor]:
    """Return the weight of each token, float32 [B, T], and the divisor of their sum, [B, 1]."""
    tokens = attention_mask.float()
    counts = tokens.sum(1, keepdim=True)
    places = torch.arange(1, attention_mask.shape[1] + 1, device=attention_mask.device)
    if pooling == "mean_sqrt_len_tokens":
        return tokens, counts.sqrt()
    if pooling == "weightedmean":
        tokens = tokens * places
    elif pooling == "lasttoken":
        tokens = (places == counts).float()
    elif pooling == "cls":
        tokens = (places == 1).float().expand_as(tokens)
    return tokens, tokens.sum(1, keepdim=True)


def token_parts(hidden: Tensor, pooling: str) -> Tensor:
    """Return the part of each token in the pooled vector of one text, [T, D]; they sum to it.

    There is no padding. With "max", a number belongs to the token that has it.
    """
    if pooling == "max":
        owners = hidden.argmax(0)
        return hidden * (torch.arange(len(hidden), device=hidden.device)[:, None] == owners)
    attention_mask = torch.ones(1, len(hidden), dtype=torch.bool, device=hidden.device)
    weights, total = _weights(attention_mask, pooling)
    return hidden * weights[0, :, None].to(hidden.dtype) / total


_NAMES = {
    "mean_sqrt_len_tokens": "mean (by the square root of the length)",
    "weightedmean": "weighted mean",
    "lasttoken": "last-token",
    "cls": "[CLS]",
}


class Normalize(nn.Module):
    """Vectors of length 1."""

    def forward(self, vectors: Tensor) -> Tensor:
        """Return [B, D] divided by the length of each row."""
        return F.normalize(vectors, dim=-1)


class Dense(nn.Module):
    """A linear layer with an activation, optionally with its input added to the output.

    The input passes through `residual` before it is added; None: it is not added.
    """

    def __init__(
        self, linear: nn.Linear, activation: nn.Module, residual: nn.Module | None
    ) -> None:
        super().__init__()
        self.linear, self.activation, self.residual = linear, activation, residual

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the layer's output, [B, D']."""
        out: Tensor = self.activation(self.linear(vectors))
        return out if self.residual is None else out + self.residual(vectors)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceModules:
    """How a sentence encoder turns the last hidden states into one vector."""

    poolings: tuple[str, ...] = ("mean",)
    """Of POOLINGS; of several the vectors are concatenated."""
    after: nn.Sequential = field(default_factory=nn.Sequential)
    """Dense, LayerNorm and Normalize, in their order."""
    max_length: int | None = None
    """Most tokens of a text; None: what the encoder allows."""
    prompt: str = ""
    """Put before every text."""
    prompts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """By name: prompts to put before a text where needed; none is added automatically."""
    unread: str | None = None
    """Why its vectors cannot be computed, as a sentence; None: they can."""

    def check(self) -> None:
        """Check that the modules can be computed.

        ValueError if one is not supported; the message states which.
        """
        if self.unread is not None:
            raise ValueError(
                f"{self.unread} Name a pooling, such as pooling='mean', for the vectors of the "
                "encoder without its modules."
            )

    @property
    def is_normalized(self) -> bool:
        """Whether its vectors have length 1."""
        return any(isinstance(module, Normalize) for module in self.after)

    @property
    def splits_by_token(self) -> bool:
        """Whether a vector is, up to its length, a sum with one part for each token."""
        return len(self.poolings) == 1 and all(isinstance(m, Normalize) for m in self.after)

    def width(self, hidden_size: int) -> int:
        """Return the width of the vectors of an encoder with this width."""
        widths = [module.linear.out_features for module in self.after if isinstance(module, Dense)]
        return int(widths[-1]) if widths else hidden_size * len(self.poolings)

    def vectors(self, hidden: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the sentence vectors, float32 [B, D'], of last hidden states [B, T, D].

        True in the mask is a token; padding comes last.
        """
        pooled = torch.cat(
            [pool(hidden.float(), attention_mask, name) for name in self.poolings], -1
        )
        out: Tensor = self.after(pooled)
        return out

    def describe(self, max_length: int) -> str:
        """Return pooling, modules and length in a few words: "mean pooling, normalised, ..."."""
        names = [_NAMES.get(name, name) for name in self.poolings]
        joined = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        parts = [f"{joined} pooling" + (", concatenated" if len(names) > 1 else "")]
        for module in self.after:
            if isinstance(module, Dense):
                parts.append(
                    f"a dense layer to {module.linear.out_features} numbers "
                    f"({type(module.activation).__name__})"
                )
            else:
                parts.append("normalised" if isinstance(module, Normalize) else "LayerNorm")
        length = min(max_length, self.max_length or max_length)
        return f"{', '.join(parts)}, at most {length:,} tokens"

    def sentences(self, max_length: int) -> list[str]:
        """Return the sentences for the load report."""
        if self.unread is not None:
            return [f"Warning: {self.unread}"]
        lines = [f"Sentence encoder: {self.describe(max_length)}."]
        if self.prompt:
            lines.append(f"The prompt {self.prompt!r} is put before every text that is encoded.")
        elif self.prompts:
            named = ", ".join(f"{name}: {text!r}" for name, text in self.prompts.items())
            lines.append(
                f"It was trained with prompts ({named}); none is added automatically, so write "
                "one before a text where needed."
            )
        return lines


MEAN = SentenceModules()
"""The default for a checkpoint that is not a sentence encoder: the mean over all tokens."""
