"""Vectors as strips: which tokens are drawn, and the mean of each cell's dimensions."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

MAX_ROWS = 128  # most tokens that are drawn; for longer inputs, the middle is folded
NUM_BANDS = 16  # cells of a vector: each is the mean of D / 16 neighbouring dimensions


def rows_to_draw(
    text_ids: Sequence[int], *, keep: Sequence[int] = (), most: int = MAX_ROWS
) -> list[int]:
    """Return the positions that are drawn: all, or both ends and what must not be folded.

    Args:
        text_ids: Of the tokens; below 0 for added ones.
        keep: Positions that are drawn in any case, such as masks; the first few of them.
    """
    count = len(text_ids)
    if count <= most:
        return list(range(count))
    special = [place for place, text in enumerate(text_ids) if text < 0]
    wanted = dict.fromkeys([*keep[: most // 4], *special[: most // 4]])
    for step in range(count):  # from both ends inwards, two from the front for one from the back
        if len(wanted) >= most:
            break
        wanted[count - 1 - step // 3 if step % 3 == 2 else step - step // 3] = None
    return sorted(wanted)


def mean_bands(vectors: Tensor) -> NDArray[np.float32]:
    """Return [R, D] as the means of neighbouring dimensions, [R, NUM_BANDS]."""
    pooled = torch.nn.functional.adaptive_avg_pool1d(vectors[None], NUM_BANDS)[0]
    return np.array(pooled.numpy(), dtype=np.float32)
