"""Rotary positions: what is left of each pair of numbers at each distance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bertcore.analysis.space.rotary import Rotations

from ..plots import theme
from ..plots.figure import Figure, heatmap, subplots


def rotation_maps(kinds: Sequence[Rotations]) -> Figure:
    """Draw the cosine of each pair's turn by distance, a map for each kind of layer."""
    fig = subplots(
        cols=len(kinds),
        shared_yaxes=True,
        horizontal_spacing=0.06,
        subplot_titles=[_title(kind) for kind in kinds],
    )
    for col, kind in enumerate(kinds, start=1):
        fig.add_trace(
            heatmap(
                z=kind.cosines,
                colorscale=theme.DIVERGING,
                zmin=-1,
                zmax=1,
                showscale=col == 1,
                colorbar={"title": {"text": "cosine"}, "thickness": 12},
                hovertemplate="pair %{x}, %{y} tokens apart<br>cosine %{z:.3f}<extra></extra>",
            ),
            row=1,
            col=col,
        )
        if kind.reach is not None and has_line(kind):
            line = {"color": theme.ACCENT, "width": 2}
            fig.add_hline(y=kind.reach + 0.5, row=1, col=col, line=line)
    theme.plot_layout(fig, "", "pair of numbers in a head", "", 460)
    fig.update_xaxes(title={"text": "pair of numbers in a head"}, showgrid=False)
    fig.update_yaxes(showgrid=False, autorange="reversed")
    fig.update_yaxes(title={"text": "distance in tokens"}, row=1, col=1)
    fig.update_layout(margin={"t": 56})
    return fig


def has_line(kind: Rotations) -> bool:
    """Return whether the window of the layers ends within the distances that are drawn."""
    return kind.reach is not None and kind.reach + 1 < len(kind.cosines)


def _title(kind: Rotations) -> str:
    layers = ", ".join(map(str, kind.layers[:4])) + (" ..." if len(kind.layers) > 4 else "")
    name = "full attention" if kind.reach is None else f"window of {kind.reach} to each side"
    return f"Layers {layers}: {name}, base {kind.theta:,.0f}"


def rotation_arrays(kinds: Sequence[Rotations]) -> dict[str, NDArray[np.float32]]:
    """Return the cosines of each kind of layer, [P, K / 2]."""
    names = ("full" if kind.reach is None else "window" for kind in kinds)
    return {name: kind.cosines for name, kind in zip(names, kinds, strict=True)}
