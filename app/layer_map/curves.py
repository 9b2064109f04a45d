"""Measures over the layers: separation of labels, and the faithfulness of the map."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.space.map_quality import MAX_POINTS, Faithfulness, Separation
from bertcore.analysis.space.projection import LayerMap

from ..plots.charts import Curve, LayerCurves
from ..shell import Picture, cache, columns, frame
from . import view
from .view import Points, View


class Quality(NamedTuple):
    """How faithful a map of some layers is."""

    layers: Sequence[int]
    faithfulness: Faithfulness
    explained: NDArray[np.floating]
    """Fraction of the variance along each axis of the map, [L, dims]; NaN if it is not by PCA."""


def _quality_table(quality: Quality) -> pd.DataFrame:
    """Return a row for each layer."""
    found = quality.faithfulness
    return pd.DataFrame(
        {
            "layer": list(quality.layers),
            "trustworthiness": found.trustworthiness,
            "continuity": found.continuity,
            "overlap": found.overlap,
            "variance_shown": quality.explained.sum(1),
        }
    )


def _separation_table(separation: Separation) -> pd.DataFrame:
    layers = np.arange(len(separation.purity))
    measures = {"silhouette": separation.silhouette, "purity": separation.purity}
    return pd.DataFrame({"layer": layers, **measures})


QUALITY = LayerCurves(
    table=_quality_table,
    curves=(
        Curve("trustworthiness", "trustworthiness", 0),
        Curve("continuity", "continuity", 2, "dashdot"),
        Curve("overlap", "shared neighbours (of {k})", 1, "dot"),
        Curve("variance_shown", "variance shown", 3, "dash", is_optional=True),
    ),
    title="How faithful is the map?",
    unit="fraction",
)
SEPARATION = Picture(
    name="layer-map-labels",
    chart=LayerCurves(
        table=_separation_table,
        curves=(
            Curve("purity", "neighbours with the same label (of {k})", 0),
            Curve("silhouette", "silhouette", 1, "dot"),
        ),
        title="Where do the labels separate?",
        unit="fraction; silhouette",
        chance_name="purity by chance",
        is_name_below=True,
    ),
    how=(
        "Measured on the full vectors by cosine, not on the map. The first curve is the fraction "
        "of a point's nearest neighbours in other sentences that share its label; it rises where "
        "the layers begin to separate the labels. A silhouette of 1 is far apart, 0 is mixed."
    ),
    code="""
from bertcore.analysis.space.map_quality import separation

separation(table.vectors, table.labels, groups=table.sentence_ids)
""",
)
FAITHFULNESS = Picture(
    name="layer-map-truth",
    chart=QUALITY,
    how=(
        "Trustworthiness of 1: points that are near in the map are near in the full space. "
        "Continuity of 1: points that are near in the full space are near in the map. For both, "
        "0.5 is chance. Shared neighbours: the fraction of nearest points in the full space that "
        "are also nearest in the map. If these values are low, do not trust single neighbours in "
        "the map. The full space is that of the vectors, by {metric} distance; of more than "
        f"{MAX_POINTS} points, a random {MAX_POINTS} are measured."
    ),
    code="""
from bertcore.analysis.space.map_quality import faithfulness

faithfulness(table.vectors, layer_map.coordinates, metric={metric!r})
""",
)


LEFT_OUT = "They are left out, since which of them are nearest is up to chance."
SEPARATION_COPIES = "They count as neighbours, but a copy is no evidence that labels separate."


def note_copies(
    measured: Faithfulness | Separation, layers: Sequence[int], meaning: str = LEFT_OUT
) -> None:
    """Draw how many points have the vector of another one, and what that means for a measure."""
    if not measured.num_copies.any():
        return
    most = int(measured.num_copies.argmax())
    number = measured.num_copies[most]
    where = f"layer {layers[most]}" if (measured.num_copies < number).any() else "every layer"
    st.caption(
        f"{number:,} of {measured.num_points:,} points have the same vector as another (equal "
        f"texts or words) at {where}. {meaning}"
    )


def show_curves(
    page: frame.Page, points: Points, chosen: View, layer_map: LayerMap, code: str
) -> None:
    """Draw the measures side by side; that of the labels if there are at least two."""
    places = columns()
    with frame.guard():
        separated = cache.computed(view.separation, points)
        if separated is not None:
            with next(places):
                drawn = {"k": separated.k, "chance": separated.chance}
                SEPARATION.show(page, separated, drawn=drawn, setup=code)
                note_copies(separated, range(len(separated.num_copies)), SEPARATION_COPIES)
        with next(places):
            metric = chosen.settings.metric
            faithful = cache.computed(view.faithfulness, points, metric, layer_map)
            quality = Quality(range(len(faithful.overlap)), faithful, layer_map.explained)
            FAITHFULNESS.show(page, quality, drawn={"k": faithful.k}, setup=code, metric=metric)
            note_copies(faithful, quality.layers)
