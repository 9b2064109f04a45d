"""Two maps of the same points from two seeds, side by side, and how far they agree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.space.projection import LayerMap
from bertcore.analysis.space.seed_agreement import SeedAgreement

from ..plots import player, theme
from ..plots.figure import Figure, Properties, scatter, subplots
from .curve_figures import line, over_layers
from .overview_figures import small_marker
from .places import reach_of, rounded
from .point_styles import Marks

MAX_LINES = 2000
"""With more points than this, no lines lead from a point's first place to its second."""
HEIGHT = 470


class TwoSeeds(NamedTuple):
    """A map, and another of the same points by another seed."""

    layer_map: LayerMap
    agreement: SeedAgreement
    seeds: tuple[int, int]


def seed_pair(two: TwoSeeds, marks: Marks, *, layer: int) -> Figure:
    """Draw both maps of a layer with a slider; lines lead from the first place to the second.

    Of a 3-D map the first two axes.
    """
    ones = two.layer_map.coordinates[..., :2]
    twos = two.agreement.second[..., :2]
    centre = (np.nanmin(ones, (0, 1)) + np.nanmax(ones, (0, 1))) / 2
    ones, twos = ones - centre, twos - centre
    layer = min(max(layer, 0), len(ones) - 1)
    first, second = two.seeds
    fig = subplots(
        1, 2, subplot_titles=[f"seed {first}", f"seed {second}"], horizontal_spacing=0.02
    )
    marker = small_marker(marks, np.arange(ones.shape[1]))
    marker["size"] = 7 if ones.shape[1] <= 400 else 5
    names = list(marks.labels)
    shared: Properties = {"mode": "markers", "marker": marker, "showlegend": False}
    shared |= {"hovertext": names, "hoverinfo": "text"}
    fig.add_trace(scatter(**_at(ones[layer]), **shared), row=1, col=1)
    with_lines = ones.shape[1] <= MAX_LINES
    if with_lines:
        fig.add_trace(
            scatter(
                **_lines(ones[layer], twos[layer]),
                mode="lines",
                line={"color": theme.SPECIAL, "width": 1},
                opacity=0.35,
                hoverinfo="skip",
                showlegend=False,
            ),
            row=1,
            col=2,
        )
    fig.add_trace(scatter(**_at(twos[layer]), **shared), row=1, col=2)
    fig.stages = [
        {
            "name": str(index),
            "data": [
                {"type": "scatter", **_at(one)},
                *([{"type": "scatter", **_lines(one, other)}] if with_lines else []),
                {"type": "scatter", **_at(other)},
            ],
            "traces": list(range(len(fig.traces))),
        }
        for index, (one, other) in enumerate(zip(ones, twos, strict=True))
    ]
    theme.plot_layout(fig, "", "", "", HEIGHT)
    reach = reach_of(np.concatenate([ones, twos], axis=1))
    box: Properties = {"showticklabels": False, "ticks": "", "showgrid": False, "showline": True}
    box |= {"mirror": True, "linecolor": theme.GRID, "automargin": False}
    fig.update_xaxes(range=[-reach[0], reach[0]], **box)
    fig.update_yaxes(range=[-reach[1], reach[1]], **box)
    jump = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate"}
    steps = [
        {"label": str(i), "method": "animate", "args": [[str(i)], jump]} for i in range(len(ones))
    ]
    room = {"t": 24, "b": 4}
    fig.update_layout(
        sliders=[player.slider(steps, active=layer, prefix="Layer ", y=0, pad=room)],
        margin={"t": 30, "l": 2, "r": 10, "pad": 0},  # the page's template has 8: frames are cut
    )
    fig.update_annotations(font_size=13, yshift=6, yanchor="bottom")
    return fig


def agreement_curve(two: TwoSeeds) -> Figure:
    """Draw how many neighbours both maps share, and how far apart their points are."""
    agreement = two.agreement
    fig = Figure(
        [
            line(agreement.kept, f"shared neighbours (of {agreement.k})", 0),
            line(np.nanmedian(agreement.moved, axis=1), "moved (median, in radii)", 1, "dot"),
        ]
    )
    fig.add_hline(
        y=agreement.chance,
        line={"color": theme.SPECIAL, "width": 1, "dash": "dash"},
        annotation={
            "text": "neighbours by chance",
            "font": {"size": 11, "color": theme.SPECIAL},
            "yanchor": "bottom",
        },
    )
    high = max(1.0, float(np.nanmax(np.nanmedian(agreement.moved, axis=1)))) + 0.05
    return over_layers(fig, "", "fraction; radii", [-0.03, high])


def moved_table(two: TwoSeeds) -> pd.DataFrame:
    """Return a row for each point at each layer: both places, and how far apart they are."""
    num_layers, num_points, _ = two.layer_map.coordinates.shape
    return pd.DataFrame(
        {
            "layer": np.repeat(np.arange(num_layers), num_points),
            "point": np.tile(np.arange(num_points), num_layers),
            "x": two.layer_map.coordinates[..., 0].reshape(-1),
            "y": two.layer_map.coordinates[..., 1].reshape(-1),
            "x_second": two.agreement.second[..., 0].reshape(-1),
            "y_second": two.agreement.second[..., 1].reshape(-1),
            "moved": two.agreement.moved.reshape(-1),
        }
    )


def agreement_table(two: TwoSeeds) -> pd.DataFrame:
    """Return a row for each layer."""
    return pd.DataFrame(
        {
            "layer": np.arange(len(two.agreement.kept)),
            "shared_neighbours": two.agreement.kept,
            "moved_median": np.nanmedian(two.agreement.moved, axis=1),
        }
    )


def _at(places: NDArray[np.floating]) -> Properties:
    return {"x": rounded(places[:, 0]), "y": rounded(places[:, 1])}


def _lines(ones: NDArray[np.floating], twos: NDArray[np.floating]) -> Properties:
    """Return a line from each first place to the second, with a gap after each."""
    gaps = np.full_like(ones, np.nan)
    ends = np.stack([ones, twos, gaps], axis=1).reshape(-1, 2)
    return {"x": rounded(ends[:, 0]), "y": rounded(ends[:, 1])}
