"""Positions: a learned table next to the sinusoids of the Transformer, and rotary ones."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from bertcore.model.architecture.config import LAYER_TYPES, ModernBertConfig
from bertcore.model.model import Model
from bertcore.model.network.embeddings import sinusoids
from bertcore.model.network.modern import rotation_angles


@dataclass(frozen=True, slots=True, eq=False)
class PositionTables:
    """The first P rows of a checkpoint's position table, and of the formula."""

    learned: NDArray[np.float32]
    """[P, D]"""
    sinusoids: NDArray[np.float32]
    """[P, D]: sine and cosine of falling frequency, side by side."""
    cosines: NDArray[np.float32]
    """Cosine of each learned row with the formula's, [P]."""
    learned_cosines: NDArray[np.float32]
    """Cosines of each pair of learned rows, [P, P]."""
    sinusoid_cosines: NDArray[np.float32]
    """Cosines of each pair of the formula's rows, [P, P]."""
    learned_by_distance: NDArray[np.float32]
    """Mean cosine of two learned rows that are 0 to P - 1 places apart, [P]."""
    sinusoids_by_distance: NDArray[np.float32]
    """The same for the formula's rows, [P]."""


def position_tables(bert: Model, num_positions: int = 64) -> PositionTables:
    """Return the first rows of a checkpoint's position table and the formula's, of the same shape.

    A number beyond the table takes all of it. ValueError if it has no such table.

    Source: the formula: Vaswani et al. 2017, section 3.5.
    """
    bert.require("positions")
    learned = bert.module.position_table[:num_positions].detach().float().cpu()
    formula = sinusoids(*learned.shape)
    among = [_cosines(table) for table in (learned, formula)]
    return PositionTables(
        learned=learned.numpy(),
        sinusoids=formula.numpy(),
        cosines=F.cosine_similarity(learned, formula, dim=-1).numpy(),
        learned_cosines=among[0].numpy(),
        sinusoid_cosines=among[1].numpy(),
        learned_by_distance=_by_distance(among[0]),
        sinusoids_by_distance=_by_distance(among[1]),
    )


def _cosines(table: Tensor) -> Tensor:
    unit = F.normalize(table, dim=-1)
    return unit @ unit.T


def _by_distance(cosines: Tensor) -> NDArray[np.float32]:
    means = [float(torch.diagonal(cosines, distance).mean()) for distance in range(len(cosines))]
    return np.array(means, dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class PositionSimilarity:
    """How alike the rows of a position table are."""

    kind: str
    """How positions are embedded: a `BertConfig.position_embedding`."""
    cosines: NDArray[np.float32]
    """Of each pair of rows, [P, P]."""


@torch.inference_mode()
def position_similarity(bert: Model, num_positions: int = 64) -> PositionSimilarity:
    """Return the cosines between the first rows of the position table.

    A number beyond the table takes all of it. ValueError if the checkpoint has no such table.
    """
    bert.require("positions")
    cosines = _cosines(bert.module.position_table[:num_positions].float()).clamp(-1, 1)
    return PositionSimilarity(bert.config.position_embedding, cosines.cpu().numpy())


@dataclass(frozen=True, slots=True, eq=False)
class Rotations:
    """The turns of one kind of layer."""

    layers: tuple[int, ...]
    """The layers with these rotations."""
    theta: float
    """Base of the frequencies."""
    reach: int | None
    """Maximum distance between tokens that attend to each other there; None: any distance."""
    cosines: NDArray[np.float32]
    """The factor on a pair's product at each distance, a cosine, [P, K / 2]."""


def rotations(bert: Model, num_distances: int = 64) -> tuple[Rotations, ...]:
    """Return the turns of each kind of layer that a checkpoint has, at distances 0 to P - 1.

    If query and key are equal in a pair of numbers, the pair adds its squared length times this
    cosine to their product. ValueError if the checkpoint has no rotary positions.

    Source: Su et al. 2021 (RoFormer), section 3.2.2.
    """
    config = bert.config
    if not isinstance(config, ModernBertConfig):
        raise ValueError(f"{config.family.name} has no rotary positions.")
    found = []
    for kind in LAYER_TYPES:
        layers = tuple(i for i, of_layer in enumerate(config.layer_types) if of_layer == kind)
        if layers:
            theta = config.rope_theta(layers[0])
            angles = rotation_angles(num_distances, config.head_size, theta)
            cosines = angles.cos().numpy()
            found.append(Rotations(layers, theta, config.window(layers[0]), cosines))
    return tuple(found)
