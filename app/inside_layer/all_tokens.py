"""All tokens through one layer: a row of short vectors for each."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from bertcore import Model
from bertcore.analysis.mixing.layer_parts import layer_parts

from ..plots.vector_strips import mean_bands, rows_to_draw
from .run import Run

STAGES = ("Vector so far", "Attention writes", "Add & norm", "Feed-forward writes", "Add & norm")
MODERN_STAGES = ("Vector so far", "Attention writes", "Add", "Feed-forward writes", "Add")
LAST_MODERN_STAGES = (*MODERN_STAGES[:-1], "Add & final norm")


@dataclass(frozen=True, slots=True)
class AllTokens:
    """The numbers drawn for R of T tokens in S stages."""

    stages: tuple[str, ...]
    """[S]"""
    rows: list[int]
    """Positions that are drawn, [R]."""
    bands: NDArray[np.float32]
    """Means of neighbouring dimensions, [S, R, NUM_BANDS]."""
    norms: NDArray[np.float32]
    """[S, R]"""
    cosines: NDArray[np.float32]
    """Cosines with the vector so far, [S, R]."""
    firing: list[int]
    """Neurons above zero, [R]."""
    num_neurons: int


def all_tokens(bert: Model, run: Run, layer: int, position: int) -> AllTokens:
    """Return what a layer does at every token.

    Args:
        position: A token that is always drawn.
    """
    trace = run.trace
    parts = layer_parts(bert, trace, layer)
    rows = rows_to_draw(trace, keep=[position])
    vectors = [
        part[rows]
        for part in (
            parts.hidden,
            parts.attention_output,
            parts.attention_state,
            parts.feed_forward_output,
            parts.output,
        )
    ]
    stages = STAGES
    if parts.gates is not None:
        is_last = layer + 1 == bert.config.num_hidden_layers
        stages = LAST_MODERN_STAGES if is_last else MODERN_STAGES
    return AllTokens(
        stages=stages,
        rows=rows,
        bands=np.stack([mean_bands(vector) for vector in vectors]),
        norms=torch.stack([vector.norm(dim=-1) for vector in vectors]).numpy(),
        cosines=torch.stack(
            [torch.cosine_similarity(vector, vectors[0], dim=-1) for vector in vectors]
        ).numpy(),
        firing=(parts.pre_activations[rows] > 0).sum(-1).tolist(),
        num_neurons=parts.activations.shape[-1],
    )
