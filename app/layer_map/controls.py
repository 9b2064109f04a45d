"""The controls of the layer map: points, method, colours, search, and UMAP's progress."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.shared.collect import Sentence, VectorTable
from bertcore.analysis.space.geometry import NUM_ROGUE
from bertcore.analysis.space.projection import METRICS, LayerMap, UmapSettings

from ..shell import cache
from ..shell.jobs import waiting
from ..shell.jobs.background import Job
from ..shell.one_of import one_of
from ..shell.state import Field
from .fields import (
    COLOUR,
    DIMS,
    HIDE_SPECIAL,
    LEVEL_LAYERS,
    METHOD,
    METHOD_NAMES,
    ROGUE_OFF,
    SPACE,
    SPACE_NAMES,
    UMAP_METRIC,
    UMAP_MIN_DIST,
    UMAP_NEIGHBORS,
    UMAP_SEED,
    UNIT,
    WORD,
)
from .points import COLOUR_BY
from .view import UNITS, Points, View, matches, reading_work, umap_work

MANY_SENTENCES = 50
LARGEST_SEED = 2**31


def choose_points(sentences: Sequence[Sentence]) -> Points:
    """Draw the row of controls of the view Geometry; return which points are measured."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    unit = _select(row, "Points", UNIT, UNITS, 150)
    word = _word(row, unit) if unit == "word" else ""
    off = _rogue_off(row)
    hide = row.toggle("Hide special tokens", key=HIDE_SPECIAL.key())
    return Points(tuple(sentences), unit, word, hide, off)


def choose_view(sentences: Sequence[Sentence]) -> tuple[Points, View, str]:
    """Draw the row of controls; return which points are drawn, how, and what colours them."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    unit = _select(row, "Points", UNIT, UNITS, 150)
    word = _word(row, unit)
    dims = int(one_of("View", {"2": "2-D", "3": "3-D"}, DIMS, where=row, with_label=True))
    method = one_of("Method", METHOD_NAMES, METHOD, where=row, with_label=True)
    colours = {name: name for name in COLOUR_BY}
    if not any(sentence.label for sentence in sentences):
        colours.pop("label")
    colour = _select(row, "Colour by", COLOUR, colours, 120)
    with row.popover("More", icon=":material/tune:"):
        space = one_of("Layers", SPACE_NAMES, SPACE, with_label=True)
        hide = st.toggle("Hide special tokens", key=HIDE_SPECIAL.key())
        level = st.toggle(
            "Align centre and size of the layers",
            key=LEVEL_LAYERS.key(),
            disabled=space != "joint",
            help="Off: one map for all also shows how mean and size change from layer to layer.",
        )
        off = _rogue_off(st)
        settings = _umap_settings(disabled=method != "umap")
    points = Points(tuple(sentences), unit, word if unit == "word" else "", hide, off)
    return points, View(dims, method, space, level, settings), colour


def _word(row: DeltaGenerator, unit: str) -> str:
    typed: str = row.text_input(
        "The word" if unit == "word" else "Find a word",
        key=WORD.key(),
        width=120,
        placeholder="bank",
    )
    return typed.strip()


def _rogue_off(where: Any) -> int:
    """Draw the switch of the rogue dimensions; `where` is a container or Streamlit itself."""
    return int(
        where.number_input(
            "Rogue dimensions off",
            0,
            NUM_ROGUE,
            key=ROGUE_OFF.key(low=0, high=NUM_ROGUE),
            width=170,
            help="Sets the dimensions with the largest part in a layer's mean cosine to 0.",
        )
    )


def searched(table: VectorTable, points: Points) -> NDArray[np.bool_]:
    """Return which points match the search box, [N]; none if that word is the only point."""
    word = "" if points.unit == "word" else WORD.value
    return matches(table, word)


def umap_when_ready(key: cache.BertKey, points: Points, view: View) -> LayerMap | None:
    """Return the UMAP map if it is ready; else draw its progress, which updates by itself.

    Raises:
        Exception: The error that stopped UMAP.
    """
    work = umap_work(key, points, view)
    result: LayerMap | None = waiting.result(
        work, "umap", patience=0.0, stopped="UMAP was stopped: this is the PCA map.", say=_say
    )
    return result


def _say(job: Job) -> str:
    first = " The first one on this server takes up to a minute." if job.fraction_done < 0.3 else ""
    return f"UMAP. {job.stage}.{first} Until then this is the PCA map."


def are_read(key: cache.BertKey, points: Points) -> bool:
    """Return whether the points are there; of many sentences draw the progress until they are."""
    if len(points.sentences) < MANY_SENTENCES:
        return True
    return waiting.result(reading_work(key, points), "map-points") is not None


def columns() -> Iterator[DeltaGenerator]:
    """Yield places for small charts, two to a row."""
    for number in itertools.count():
        yield from st.container(key=f"map_columns_{number}").columns(2, gap="medium")


def _umap_settings(*, disabled: bool) -> UmapSettings:
    st.caption("UMAP")
    neighbours = st.slider(
        "n_neighbors",
        2,
        100,
        key=UMAP_NEIGHBORS.key(low=2, high=100),
        disabled=disabled,
        help="Size of a point's neighbourhood: small shows detail, large the whole.",
    )
    distance = st.slider(
        "min_dist",
        0.0,
        1.0,
        key=UMAP_MIN_DIST.key(low=0.0, high=1.0),
        disabled=disabled,
        help="How close points may lie in the map.",
    )
    metric = st.selectbox(
        "metric",
        METRICS,
        key=UMAP_METRIC.key(),
        disabled=disabled,
        help="Distance between vectors; the faithfulness of the map is measured by it too.",
    )
    seed = st.number_input(
        "seed", 0, LARGEST_SEED, key=UMAP_SEED.key(low=0, high=LARGEST_SEED), disabled=disabled
    )
    return UmapSettings(
        n_neighbors=int(neighbours), min_dist=float(distance), metric=metric, seed=int(seed)
    )


def _select(
    row: DeltaGenerator, label: str, field: Field[str], options: dict[str, str], width: int
) -> str:
    key = field.key(options=list(options))
    chosen: str = row.selectbox(
        label, list(options), format_func=options.__getitem__, key=key, width=width
    )
    return chosen
