"""A second seed beside the first: what moves between seeds is not structure."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.space.map_quality import SeedAgreement, seed_agreement
from bertcore.analysis.space.projection import METHODS, LayerMap
from bertcore.configs.maps import TsneSettings

from ..plots import Figure, Properties, cell_table, player, subplots, theme
from ..plots.charts import Curve, LayerCurves
from ..shell import Compute, Field, Picture, frame
from ..shell.links import MAP_LAYER as LAYER
from .maps import small_marker
from .points import Mapped, PointMarks, at, bare_axes, reach_of
from .view import Points, View, code_of, embed

SECOND_SEED = Field("map_second_seed", False)
MAX_LINES = 2000
"""With more points than this, no lines lead from a point's first place to its second."""
HEIGHT = 470


class TwoSeeds(NamedTuple):
    """A map, and another of the same points by another seed."""

    layer_map: LayerMap
    agreement: SeedAgreement
    seeds: tuple[int, int]


def _pair(two: TwoSeeds, marks: PointMarks, *, layer: int) -> Figure:
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
    fig.add("scatter", **at(ones[layer], 2), **shared, row=1, col=1)
    with_lines = ones.shape[1] <= MAX_LINES
    if with_lines:
        fig.add(
            "scatter",
            **_lines(ones[layer], twos[layer]),
            mode="lines",
            line={"color": theme.SPECIAL, "width": 1},
            opacity=0.35,
            hoverinfo="skip",
            showlegend=False,
            row=1,
            col=2,
        )
    fig.add("scatter", **at(twos[layer], 2), **shared, row=1, col=2)
    fig.stages = [
        {
            "name": str(index),
            "data": [
                {"type": "scatter", **at(one, 2)},
                *([{"type": "scatter", **_lines(one, other)}] if with_lines else []),
                {"type": "scatter", **at(other, 2)},
            ],
            "traces": list(range(len(fig.traces))),
        }
        for index, (one, other) in enumerate(zip(ones, twos, strict=True))
    ]
    theme.plot_layout(fig, "", "", "", HEIGHT)
    bare_axes(fig, reach_of(np.concatenate([ones, twos], axis=1)))
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


def _lines(ones: NDArray[np.floating], twos: NDArray[np.floating]) -> Properties:
    """Return a line from each first place to the second, with a gap after each."""
    gaps = np.full_like(ones, np.nan)
    ends = np.stack([ones, twos, gaps], axis=1).reshape(-1, 2)
    return at(ends, 2)


def _moved_table(two: TwoSeeds) -> pd.DataFrame:
    """Return a row for each point at each layer: both places, and how far apart they are."""
    (x, y), (x_second, y_second) = (
        np.moveaxis(places[..., :2], 2, 0)
        for places in (two.layer_map.coordinates, two.agreement.second)
    )
    moved = two.agreement.moved
    layers, points = {"layer": range(len(moved))}, {"point": range(moved.shape[1])}
    places = {"x": x, "y": y, "x_second": x_second, "y_second": y_second}
    return cell_table(layers, points, **places, moved=moved)


def _agreement_table(two: TwoSeeds) -> pd.DataFrame:
    """Return a row for each layer."""
    return pd.DataFrame(
        {
            "layer": np.arange(len(two.agreement.kept)),
            "shared_neighbours": two.agreement.kept,
            "moved_median": np.nanmedian(two.agreement.moved, axis=1),
        }
    )


_CODE = """
from dataclasses import replace
from bertcore.analysis.space.map_quality import seed_agreement

other = map_layers(
    table.vectors, dims={dims}, method={name!r}, space={space!r}, level_layers={level},
    **{{{name!r}: replace({settings}, seed={seed})}},
)
agreement = seed_agreement(layer_map, other)
"""
_SAME_START = " Both start from the PCA map, which explains part of what they share at large scale."
_MAY_BE_RANDOM = " Under *More* the start can be made random."
SEED_PAIR = Picture(
    name="layer-map-seeds",
    figure=_pair,
    table=_moved_table,
    how=(
        "The same points by {method} with another seed, rotated and mirrored to fit. Lines lead "
        "from a point's place in the first map to its place in the second. What moves between "
        "seeds is not structure of the vectors.{start}"
    ),
    code=_CODE + "agreement.second, agreement.moved\n",
)
SEED_CURVE = Picture(
    name="layer-map-seeds-curve",
    chart=LayerCurves(
        table=_agreement_table,
        curves=(
            Curve("shared_neighbours", "shared neighbours (of {k})", 0),
            Curve("moved_median", "moved (median, in radii)", 1, "dot"),
        ),
        title="",
        unit="fraction; radii",
        chance_name="neighbours by chance",
    ),
    how=(
        "Shared neighbours: the fraction of a point's nearest points in one map that are also "
        "nearest in the other. Moved: the distance between its two places, in radii of the map; in "
        "unrelated maps it is about 1.4."
    ),
    code=_CODE + "agreement.kept, agreement.chance\n",
)


def show_second_seed(page: frame.Page, points: Points, view: View, mapped: Mapped) -> None:
    """Draw the switch; if it is on, the second map beside the first, when it is computed."""
    st.header("A second seed", anchor=False)
    is_on = st.toggle("Compare with the next seed", key=SECOND_SEED.key())
    if not is_on:
        return
    with frame.guard():
        seed, method = view.settings.seed, METHODS[view.method]
        other = view._replace(settings=replace(view.settings, seed=(seed + 1) % 2**32))
        compute = Compute(name="second-seed", stopped=f"{method} was stopped.")
        second = compute(embed, points, other)
        agreement = seed_agreement(mapped.layer_map, second)
        two = TwoSeeds(mapped.layer_map, agreement, (seed, seed + 1))
        if agreement.k:
            moved = float(np.nanmedian(agreement.moved))
            st.markdown(
                f"A point keeps **{agreement.kept.mean():.0%}** of its {agreement.k} neighbours "
                f"(chance: {agreement.chance:.0%}) and moves by **{moved:.2f}** radii of the map."
            )
        values: dict[str, Any] = {
            "setup": code_of(points, view),
            "dims": view.dims,
            "space": view.space,
            "level": view.level_layers,
            "name": view.method,
            "method": method,
            "settings": repr(view.settings),
            "seed": seed + 1,
            "start": _start(view),
        }
        drawn = {"marks": mapped.marks, "layer": LAYER.value}
        SEED_PAIR.show(page, two, drawn=drawn, **values)
        if agreement.k:
            curve = {"k": agreement.k, "chance": agreement.chance}
            SEED_CURVE.show(page, two, drawn=curve, **values)


def _start(view: View) -> str:
    """Return the sentence on the start that both maps share; UMAP and PaCMAP have no other."""
    if not isinstance(view.settings, TsneSettings):
        return _SAME_START
    return _SAME_START + _MAY_BE_RANDOM if view.settings.initialization == "pca" else ""
