"""What a decoder attends to as it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..plots import theme
from ..plots.figure import Figure
from ..plots.formats import shorten


class DecoderMap(NamedTuple):
    """One map of a decoder."""

    weights: NDArray[np.float32]
    """[Td, N], a row for each token of the decoder; rows sum to 1."""
    tokens: Sequence[str]
    """What the decoder reads, [Td]."""
    columns: Sequence[str]
    """The tokens attended to, [N]."""
    written: Sequence[str]
    """The most probable next token after each, [Td]."""


def decoder_map(attention_map: DecoderMap) -> Figure:
    """Draw one map of a decoder."""
    weights, tokens, columns, written = attention_map
    fig = Figure(
        {
            "type": "heatmap",
            # By the square root, as in the other maps, so that small weights are seen too.
            "z": np.sqrt(weights),
            "text": weights,
            "customdata": [[theme.escape(shorten(word))] * len(columns) for word in written],
            "zmin": 0,
            "zmax": 1,
            "colorscale": theme.SEQUENTIAL,
            "colorbar": {
                "title": {"text": "weight"},
                "thickness": 10,
                "tickvals": [0, 0.1**0.5, 0.5, 0.5**0.5, 1],
                "ticktext": ["0", "0.1", "0.25", "0.5", "1"],
            },
            "hovertemplate": "row %{y}, column %{x}<br>weight %{text:.3f}"
            "<br>writes next: %{customdata}<extra></extra>",
        }
    )
    height = 110 + 22 * max(6, len(tokens))
    theme.plot_layout(fig, "", "token attended to", "decoder", height)
    for axis, names in (("xaxis", columns), ("yaxis", tokens)):
        fig.settings[axis].update(
            tickmode="array",
            tickvals=list(range(len(names))),
            ticktext=[theme.escape(shorten(name)) for name in names],
        )
    fig.update_yaxes(autorange="reversed")
    return fig


def decoder_table(attention_map: DecoderMap) -> pd.DataFrame:
    """Return a row for each token of the decoder, a column for each token attended to."""
    table = pd.DataFrame(attention_map.weights)
    table.columns = [f"{number} {token}" for number, token in enumerate(attention_map.columns)]
    table.insert(0, "token", list(attention_map.tokens))
    table.insert(1, "most probable next", list(attention_map.written))
    return table
