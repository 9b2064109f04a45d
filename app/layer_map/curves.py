"""Measures over the layers: separation of labels, and the faithfulness of the map."""

from __future__ import annotations

from bertcore.analysis.space.map_quality import MAX_POINTS
from bertcore.analysis.space.projection import LayerMap

from ..shell import frame
from ..shell.columns import columns
from ..shell.picture import Picture
from .curve_figures import (
    faithfulness_curve,
    faithfulness_table,
    separation_curve,
    separation_table,
)
from .view import Points, View, faithfulness, separation

SEPARATION = Picture(
    name="layer-map-labels",
    figure=separation_curve,
    table=separation_table,
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
    figure=faithfulness_curve,
    table=faithfulness_table,
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


def show_curves(
    page: frame.Page, points: Points, view: View, layer_map: LayerMap, code: str
) -> None:
    """Draw the measures side by side; that of the labels if there are at least two."""
    places = columns()
    with frame.guard():
        separated = separation(page.bert_key, points)
        if separated is not None:
            with next(places):
                SEPARATION.show(page, separated, setup=code)
        with next(places):
            faithful = faithfulness(page.bert_key, points, view, layer_map)
            drawn = {"layer_map": layer_map}
            FAITHFULNESS.show(page, faithful, drawn=drawn, setup=code, metric=view.settings.metric)
