"""A fitted tuned lens, its gain over the plain one, and its file.

The lens is an affine map from each hidden state to the input of the masked-word head.
"""

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from bertcore.base.whole_files import whole_file
from bertcore.checkpoints.source import SHIPPED
from bertcore.evaluation.intervals import Interval, bootstrap_means
from bertcore.model import Model


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


@dataclass(frozen=True, slots=True, eq=False)
class TunedLens:
    """x -> x + weight x + bias for each hidden state but the last, which the head reads unchanged.

    Source: Belrose et al. 2023, "Eliciting Latent Predictions from Transformers with the Tuned
        Lens", section 3, with BERT's whole masked-word head instead of the unembedding.
    """

    weights: Tensor
    """float32 [L, D, D]; 0 is the plain lens."""
    biases: Tensor
    """float32 [L, D]"""
    checkpoint: str
    """Name of the checkpoint for which it was fitted."""
    fingerprint: str
    """Fingerprint of that checkpoint's weights."""
    text: str
    """Name of the text on which it was fitted."""
    num_tokens: int
    """Number of hidden tokens on which it was fitted."""
    num_steps: int
    gain: LensGain
    """Gain on held-out sentences of the same text."""

    def translate(self, states: Tensor) -> Tensor:
        """Return hidden states [L+1, ..., D] as inputs of the head; the last is unchanged."""
        out = states.clone()
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            state = states[layer]
            out[layer] = state + state @ weight.to(state).T + bias.to(state)
        return out


FILE_NAME = "tuned_lens.safetensors"
_KIND = "bertscope tuned lens 1"


def cache_place(model: Model) -> Path:
    """Return the file of the lens for a checkpoint outside the user's own folders."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "bertscope" / "tuned_lens" / f"{_fingerprint(model)[:32]}.safetensors"


def place_to_save(model: Model) -> Path:
    """Return the file for a checkpoint's lens: in its folder if that is writable.

    Otherwise in the cache folder, as for a checkpoint that is shipped or comes from a hub.
    """
    folder = Path(model.report.folder) if model.report is not None else None
    own = (
        folder is not None and model.name not in SHIPPED and Path(model.name).expanduser().is_dir()
    )
    if own and folder is not None and os.access(folder, os.W_OK):
        return folder / FILE_NAME
    return cache_place(model)


def find_tuned_lens(model: Model) -> Path | None:
    """Return the file of a checkpoint's lens, beside it or in the cache folder; None: no file."""
    if model.report is None:
        return None
    places = (Path(model.report.folder) / FILE_NAME, cache_place(model))
    return next((place for place in places if place.is_file()), None)


def save_tuned_lens(lens: TunedLens, path: Path) -> Path:
    """Write a lens, whole or not at all; OSError if it cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    metadata = {
        "kind": _KIND,
        "checkpoint": lens.checkpoint,
        "fingerprint": lens.fingerprint,
        "text": lens.text,
        "num_tokens": str(lens.num_tokens),
        "num_steps": str(lens.num_steps),
        "gain": json.dumps(lens.gain.to_json()),
    }
    tensors = {"weights": lens.weights.contiguous(), "biases": lens.biases.contiguous()}
    with whole_file(path) as partial:
        save_file(tensors, partial, metadata)
    return path


def read_tuned_lens(path: Path, model: Model | None = None) -> TunedLens:
    """Read a lens.

    Args:
        model: The checkpoint it was fitted for; None: any.

    ValueError if it was fitted for another checkpoint. RuntimeError if the file is damaged or is
    not a tuned lens. OSError if it cannot be read.
    """
    if not path.is_file():
        raise FileNotFoundError(
            f"there is no tuned lens at {path}. Fit one with: bertscope tuned-lens --data TEXT"
        )
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if metadata.get("kind") != _KIND:
            raise RuntimeError(f"{path} is not a tuned lens of BertScope. Fit a new one.")
        lens = TunedLens(
            weights=tensors["weights"],
            biases=tensors["biases"],
            checkpoint=metadata["checkpoint"],
            fingerprint=metadata["fingerprint"],
            text=metadata["text"],
            num_tokens=int(metadata["num_tokens"]),
            num_steps=int(metadata["num_steps"]),
            gain=LensGain.from_json(json.loads(metadata["gain"])),
        )
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise RuntimeError(f"the tuned lens {path} is damaged ({error}). Fit it again.") from error
    if model is not None:
        _check(lens, model, path)
    return lens


def _check(lens: TunedLens, model: Model, path: Path) -> None:
    if lens.fingerprint != _fingerprint(model):
        raise ValueError(
            f"the tuned lens {path} was fitted for {lens.checkpoint!r} (fingerprint "
            f"{lens.fingerprint[:12]}), not for {model.name!r} ({_fingerprint(model)[:12]}). Fit "
            "another one with: bertscope tuned-lens --data TEXT"
        )
    depth, width = model.config.num_hidden_layers, model.config.hidden_size
    shapes = tuple(lens.weights.shape), tuple(lens.biases.shape)
    if shapes != ((depth, width, width), (depth, width)) or not all(
        tensor.is_floating_point() and bool(torch.isfinite(tensor).all())
        for tensor in (lens.weights, lens.biases)
    ):
        raise RuntimeError(
            f"the tuned lens {path} is damaged: its maps have shapes {shapes} or are not finite. "
            "Fit it again."
        )


def _fingerprint(model: Model) -> str:
    return "" if model.report is None else model.report.fingerprint
