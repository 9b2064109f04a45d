"""Display coordinates of the layer map: centred points, and the range of the axes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.space.projection import LayerMap


def display_places(layer_map: LayerMap) -> NDArray[np.float32]:
    """Return the centred coordinates, [L+1, N, dims].

    Maps of each layer by itself are scaled to one size too: their units are not comparable.
    """
    places = layer_map.coordinates
    if layer_map.space == "joint":
        finite = places.reshape(-1, places.shape[-1])
        low, high = np.nanmin(finite, 0), np.nanmax(finite, 0)
        centred: NDArray[np.float32] = places - (low + high) / 2
        return centred
    places = places - np.nanmean(places, axis=1, keepdims=True)
    size = np.sqrt(np.nanmean((places**2).sum(-1), axis=1))[:, None, None]
    scaled: NDArray[np.float32] = np.divide(places, size, out=np.zeros_like(places), where=size > 0)
    return scaled


def at(places: NDArray[np.floating], dims: int) -> dict[str, Any]:
    """Return x, y and z of points as lists: Plotly does not move packed arrays smoothly."""
    return {name: rounded(places[:, axis]) for axis, name in enumerate("xyz"[:dims])}


def rounded(values: NDArray[np.floating]) -> list[float | None]:
    """Return numbers rounded to four digits, to keep the message short; None for NaN."""
    return [None if value != value else float(f"{value:.4g}") for value in values.tolist()]


def reach_of(places: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return half the width to show along each axis, with a margin."""
    flat = np.abs(places.reshape(-1, places.shape[-1]))
    reach: NDArray[np.floating] = 1.1 * np.nanmax(flat, axis=0)
    return np.where(reach > 0, np.maximum(reach, 0.15 * reach.max()), 1.0)
