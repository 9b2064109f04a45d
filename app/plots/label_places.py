"""Placing the names of moving points with as little overlap as possible."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

POSITIONS = ("top center", "bottom center", "middle right", "middle left")
CHARACTER = 7.0  # mean width of a character at 12 pixels of height
LINE = 14.0
GAP = 8.0  # from a point's centre to its name


MOST_COVERED = 0.3
"""A name covered by other names to more than this fraction is shown on hover only."""


def label_places(
    places: NDArray[np.floating], labels: Sequence[str], *, width: float, height: float
) -> list[str | None]:
    """Return for each point one of POSITIONS, the same in all layers; None: do not write it.

    Names are placed one after the other, each where it overlaps the names before it and all
    points least, summed over the layers: one choice that stays while the points travel.

    Args:
        places: In data units, [L+1, N, 2]; NaN for points that are not drawn.
        labels: Their names, [N]; "" is not written.
        width, height: Size of the picture in pixels for the span of all places.

    Source: ours; a greedy form of point-feature label placement.
    """
    positions: list[str | None] = [None] * len(labels)
    if places.size == 0 or np.isnan(places).all():
        return positions
    low, high = np.nanmin(places, (0, 1)), np.nanmax(places, (0, 1))
    # One scale for both axes, as the map is drawn.
    scale = min(width / max(high[0] - low[0], 1e-9), height / max(high[1] - low[1], 1e-9))
    points = np.nan_to_num((places - low) * scale, nan=-1e6)
    # The points themselves, [L+1, N, 4], then the names one by one.
    boxes = np.concatenate([points - GAP * 0.7, points + GAP * 0.7], axis=-1)
    for index, label in enumerate(labels):
        if not label:
            continue
        candidates = [_box(points[:, index], label, position) for position in POSITIONS]
        others = np.delete(boxes, index, axis=1)
        best = int(np.argmin([_overlap(box, others).sum() for box in candidates]))
        names = boxes[:, len(labels) :]
        area = LINE * CHARACTER * len(label)
        if _overlap(candidates[best], names).sum(-1).mean() <= MOST_COVERED * area:
            positions[index] = POSITIONS[best]
            boxes = np.concatenate([boxes, candidates[best][:, None]], axis=1)
    return positions


def _box(point: NDArray[np.floating], label: str, position: str) -> NDArray[np.floating]:
    """Return the name's rectangle at each layer, [L+1, 4]: left, low, right, high."""
    wide = CHARACTER * len(label)
    left, low = {
        "top center": (-wide / 2, GAP),
        "bottom center": (-wide / 2, -GAP - LINE),
        "middle right": (GAP, -LINE / 2),
        "middle left": (-GAP - wide, -LINE / 2),
    }[position]
    corner = point + np.array([left, low])
    return np.concatenate([corner, corner + np.array([wide, LINE])], axis=1)


def _overlap(box: NDArray[np.floating], others: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the areas that one rectangle [L+1, 4] shares with others [L+1, M, 4]."""
    low = np.maximum(box[:, None, :2], others[..., :2])
    high = np.minimum(box[:, None, 2:], others[..., 2:])
    areas: NDArray[np.floating] = np.clip(high - low, 0, None).prod(-1)
    return areas
