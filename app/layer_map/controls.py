"""The controls of the layer map: points, method, colours, search, and UMAP's progress."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from app.layer_map import view as map_view
from app.layer_map.points import COLOUR_BY
from app.layer_map.view import UNITS, Points, View
from app.shell import cache, state, waiting
from app.shell.background import Job
from bertcore.analysis.shared.collect import Sentence, VectorTable
from bertcore.analysis.space.projection import METRICS, LayerMap, UmapSettings

MANY_SENTENCES = 50
METHOD_NAMES = {"pca": "PCA", "umap": "UMAP"}
SPACE_NAMES = {"joint": "one map for all", "separate": "each by itself"}


def draw(sentences: Sequence[Sentence]) -> tuple[Points, View, str]:
    """Draw the row of controls; return which points are drawn, how, and what colours them."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    unit = _select(row, "Points", "map_unit", UNITS, "tokens", 150)
    word = row.text_input(
        "The word" if unit == "word" else "Find a word",
        key=state.keep("map_word", ""),
        width=120,
        placeholder="bank",
    ).strip()
    dims = int(_segments(row, "View", "map_dims", {"2": "2-D", "3": "3-D"}, "2"))
    method = _segments(row, "Method", "map_method", METHOD_NAMES, "pca")
    colours = {name: name for name in COLOUR_BY}
    if not any(sentence.label for sentence in sentences):
        colours.pop("label")
    colour = _select(row, "Colour by", "map_colour", colours, "word", 120)
    with row.popover("More", icon=":material/tune:"):
        space = _segments(st, "Layers", "map_space", SPACE_NAMES, "joint")
        hide = st.toggle("Hide special tokens", key=state.keep("map_hide", True))
        level = st.toggle(
            "Bring layers to one centre and size",
            key=state.keep("map_level", True),
            disabled=space != "joint",
            help="Off: one map for all also shows how the mean and the size change with the layer.",
        )
        settings = _umap_settings(disabled=method != "umap")
    points = Points(tuple(sentences), unit, word if unit == "word" else "", hide)
    return points, View(dims, method, space, level, settings), colour


def searched(table: VectorTable, points: Points) -> NDArray[np.bool_]:
    """Return which points are the word in the search box, [N]; none where it is the points."""
    word = "" if points.unit == "word" else state.value("map_word", "")
    return map_view.matches(table, word)


def umap_when_ready(key: cache.BertKey, points: Points, view: View) -> LayerMap | None:
    """Return the UMAP map if it is computed; else draw its progress, which runs by itself.

    Raises:
        Exception: What stopped UMAP.
    """
    work = map_view.umap_work(key, points, view)
    found: LayerMap | None = waiting.result(work, "umap", patience=0.0, say=_say)
    return found


def _say(job: Job) -> str:
    first = " The first one on this server takes up to a minute." if job.share < 0.3 else ""
    return f"UMAP. {job.stage}.{first} Until then this is the PCA map."


def patience(sentences: Sequence[Sentence]) -> AbstractContextManager[None]:
    """Return a context that says what is going on, where there is enough to read to notice."""
    if len(sentences) < MANY_SENTENCES:
        return nullcontext()
    return st.spinner(f"Reading {len(sentences):,} sentences at every layer")


def columns() -> Iterator[DeltaGenerator]:
    """Yield places for small charts, two beside each other."""
    while True:
        yield from st.columns(2, gap="medium")


def _umap_settings(*, disabled: bool) -> UmapSettings:
    st.caption("UMAP")
    neighbours = st.slider(
        "n_neighbors",
        2,
        100,
        key=state.keep("umap_neighbors", 15, low=2, high=100),
        disabled=disabled,
        help="Size of a point's neighbourhood: small shows detail, large the whole.",
    )
    distance = st.slider(
        "min_dist",
        0.0,
        1.0,
        key=state.keep("umap_min_dist", 0.1, low=0.0, high=1.0),
        disabled=disabled,
        help="How close points may lie in the map.",
    )
    metric = st.selectbox(
        "metric",
        METRICS,
        key=state.keep("umap_metric", METRICS[0], options=METRICS),
        disabled=disabled,
        help="Distance between vectors; also the one by which the map's truth is measured.",
    )
    seed = st.number_input(
        "seed", 0, 2**31, key=state.keep("umap_seed", 0, low=0, high=2**31), disabled=disabled
    )
    return UmapSettings(
        n_neighbors=int(neighbours), min_dist=float(distance), metric=metric, seed=int(seed)
    )


def _select(
    row: DeltaGenerator, label: str, name: str, options: dict[str, str], default: str, width: int
) -> str:
    key = state.keep(name, default, options=list(options))
    chosen: str = row.selectbox(
        label, list(options), format_func=options.__getitem__, key=key, width=width
    )
    return chosen


def _segments(
    row: DeltaGenerator | ModuleType, label: str, name: str, options: dict[str, str], default: str
) -> str:
    key = state.keep(name, default, options=list(options))
    chosen: str = row.segmented_control(
        label, list(options), format_func=options.__getitem__, key=key, required=True
    )
    return chosen
