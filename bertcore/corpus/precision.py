"""The number format of a network, and its cost: cosines to float32."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from bertcore.base.device import compute_format
from bertcore.bert import Bert
from bertcore.configs.encode import EncodeSettings
from bertcore.corpus.batch import encode_texts
from bertcore.model import Model

LEAST_COSINE = 0.999
"""Mean cosine to float32 below which "auto" stays with float32."""
SAMPLE_CHARACTERS = 20_000
"""Of the texts on which both are compared."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cosines between the vectors of a layer in bfloat16 and in float32."""

    layer: int
    mean: float
    lowest: float


@dataclass(frozen=True, slots=True)
class Precision:
    """A model in the number format in which it will run."""

    model: Model
    agreements: tuple[Agreement, ...]
    """One for each layer; () where nothing was compared."""
    sentence: str
    """What was chosen and why."""

    @property
    def dtype(self) -> str:
        """Name of the number format."""
        return str(self.model.dtype).removeprefix("torch.")


def choose_precision(
    model: Model, texts: Sequence[str], layers: Sequence[int], settings: EncodeSettings
) -> Precision:
    """Return the model in the number format of `settings.dtype`, and compare it.

    Args:
        texts: A sample on which the vectors in bfloat16 and in float32 are compared. Without texts
            nothing is compared.
        layers: The layers whose vectors are compared.

    ValueError if bfloat16 is requested and the model runs in `transformers`.
    """
    asked = settings.dtype
    if model.dtype != torch.float32:
        name = str(model.dtype).removeprefix("torch.")
        return Precision(model, (), f"Opened in {name}, so not compared with float32.")
    if not isinstance(model, Bert):
        if asked == "bfloat16":
            raise ValueError(
                "dtype is 'bfloat16', but this architecture runs in transformers and was opened "
                "in float32. Choose 'auto', or open it in bfloat16."
            )
        return Precision(model, (), "Computing in float32.")
    compute = compute_format(asked, model.device)
    if compute.dtype == "float32":
        return Precision(model, (), compute.sentence)
    half = Bert(
        copy.deepcopy(model.module).to(torch.bfloat16),
        model.tokenizer,
        name=model.name,
        report=model.report,
        sentence_modules=model.sentence_modules,
    )
    agreements = compare(model, half, texts, layers, settings) if texts else ()
    if not agreements:
        return Precision(half, (), compute.sentence)
    mean, lowest = min(a.mean for a in agreements), min(a.lowest for a in agreements)
    measured = (
        f"cosine to float32 of {mean:.5f} on average, at least {lowest:.4f} (on {len(texts)} "
        "sentences, in the layer where it is lowest)"
    )
    if mean < LEAST_COSINE and asked == "auto":
        return Precision(
            model,
            agreements,
            f"Computing in float32: in bfloat16 the vectors differ too much, {measured}.",
        )
    warning = f" That is less than {LEAST_COSINE}: choose float32." if mean < LEAST_COSINE else ""
    return Precision(
        half, agreements, f"{compute.sentence} Its vectors have a {measured}.{warning}"
    )


def compare(
    exact: Model,
    half: Model,
    texts: Sequence[str],
    layers: Sequence[int],
    settings: EncodeSettings,
) -> tuple[Agreement, ...]:
    """Return the cosines between the vectors of two models on some texts, layer by layer."""
    alike = replace(settings, dtype="float32")
    in_full, in_half = (encode_texts(model, texts, layers, alike) for model in (exact, half))
    agreements = []
    for layer in layers:
        a, b = (encoded.vectors[layer].astype(np.float32) for encoded in (in_full, in_half))
        norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        is_nonzero = norms > 0
        if is_nonzero.any():
            cosines = (a * b).sum(1)[is_nonzero] / norms[is_nonzero]
            agreements.append(Agreement(layer, float(cosines.mean()), float(cosines.min())))
    return tuple(agreements)
