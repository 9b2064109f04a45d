"""The gain of a tuned lens: how close each layer's words are to the last's, by both lenses."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.evaluation.intervals import Interval, bootstrap_means


@dataclass(frozen=True, slots=True, eq=False)
class LensQuality:
    """One lens on held-out hidden tokens; each interval has shape [L], without the last layer.

    Means over sentences, which are resampled for the 95% intervals.
    """

    bits: Interval
    """KL(last layer || lens), in bits: 0 is the same words."""
    agreement: Interval
    """Share of tokens at which the lens's best word is the last layer's."""


@dataclass(frozen=True, slots=True, eq=False)
class LensGain:
    """The plain and the tuned lens on the same held-out tokens."""

    plain: LensQuality
    tuned: LensQuality
    saved_bits: Interval
    """Bits of the plain lens minus those of the tuned one, paired by sentence, [L]."""
    num_sentences: int
    num_tokens: int

    def to_json(self) -> dict[str, object]:
        """Return the numbers as lists."""

        def as_lists(interval: Interval) -> list[list[float]]:
            return [np.asarray(part).tolist() for part in interval]

        return {
            **{
                f"{name}_{kind}": as_lists(getattr(quality, kind))
                for name, quality in (("plain", self.plain), ("tuned", self.tuned))
                for kind in ("bits", "agreement")
            },
            "saved_bits": as_lists(self.saved_bits),
            "num_sentences": self.num_sentences,
            "num_tokens": self.num_tokens,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "LensGain":
        """Return the gain of `to_json`'s numbers.

        ValueError, KeyError or TypeError if they are not such numbers.
        """

        def interval(name: str) -> Interval:
            return Interval(*(np.array(part, dtype=np.float64) for part in data[name]))

        plain, tuned = (
            LensQuality(interval(f"{name}_bits"), interval(f"{name}_agreement"))
            for name in ("plain", "tuned")
        )
        return cls(
            plain,
            tuned,
            interval("saved_bits"),
            int(data["num_sentences"]),
            int(data["num_tokens"]),
        )


def compare(end: Tensor, lens: Tensor) -> tuple[Tensor, Tensor]:
    """Return KL(end || lens) in bits and whether the best words agree, [N] each.

    Args:
        end, lens: log p over the vocabulary, [N, V].
    """
    bits = (end.exp() * (end - lens)).sum(-1) / math.log(2)
    return bits.clamp_min(0), end.argmax(-1) == lens.argmax(-1)


def gain_of(
    bits: NDArray[np.float64], agrees: NDArray[np.float64], owners: NDArray[np.int64]
) -> LensGain:
    """Return the gain over tokens.

    Args:
        bits, agrees: Values of the plain and the tuned lens, [2, L, N].
        owners: Number of the sentence of each token, [N].
    """
    sentences = np.unique(owners)
    members = np.array([owners == sentence for sentence in sentences], dtype=np.float64)
    members /= members.sum(1, keepdims=True)  # [S, N]
    by_sentence = [np.einsum("sn,kln->skl", members, values) for values in (bits, agrees)]
    plain, tuned = (
        LensQuality(
            bootstrap_means(by_sentence[0][:, kind]), bootstrap_means(by_sentence[1][:, kind])
        )
        for kind in range(2)
    )
    saved = bootstrap_means(by_sentence[0][:, 0] - by_sentence[0][:, 1])
    return LensGain(plain, tuned, saved, len(sentences), len(owners))


def log_probabilities(logits: Tensor) -> Tensor:
    """Return log p, float32 [N, V], of logits [N, V]."""
    return torch.log_softmax(logits.float(), -1)
