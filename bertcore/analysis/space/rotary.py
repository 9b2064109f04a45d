"""Rotary positions: how far each pair of numbers of a query or key turns with distance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.architecture.modern_config import LAYER_TYPES, ModernBertConfig
from bertcore.model import Model
from bertcore.network.modern import rotation_angles


@dataclass(frozen=True, slots=True)
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


def rotations(bert: Model, num_distances: int) -> tuple[Rotations, ...]:
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
