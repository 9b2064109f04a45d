"""Text in the cells of a heat map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .figure import Properties, scatter


def cell_text(values: NDArray[np.float32], text: Sequence[Sequence[str]], size: int) -> Properties:
    """Return text for the cells of a heat map of probabilities, white on dark and dark on light.

    Args:
        values: 0 to 1, [R, C]; NaN has no text.
        text: [R, C], already escaped.
        size: Of the letters, in pixels.
    """
    num_rows, num_columns = values.shape
    return scatter(
        x=[column for _ in range(num_rows) for column in range(num_columns)],
        y=[row for row in range(num_rows) for _ in range(num_columns)],
        mode="text",
        text=[entry for row in text for entry in row],
        # Cividis passes from dark to light in its middle.
        textfont={
            "size": size,
            "color": ["#FFFFFF" if p < 0.5 else "#10131C" for p in values.flatten().tolist()],
        },
        hoverinfo="skip",
        showlegend=False,
    )
