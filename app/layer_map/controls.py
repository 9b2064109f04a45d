"""The controls of the layer map: points, method, colours, search, and a map's progress."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.shared.collect import VectorTable
from bertcore.analysis.space.geometry import NUM_ROGUE
from bertcore.analysis.space.projection import METHODS, LayerMap, umap_opened
from bertcore.data.sentence_list import Span

from ..shell import Compute, Field, Job, cache, one_of
from .parameters import choose_parameters
from .points import COLOUR_BY
from .view import UNITS, Chosen, Points, View, embed, read

MANY_SENTENCES = 50
SPACE_NAMES = {"joint": "one map for all", "separate": "each by itself"}
UNIT = Field("map_unit", "tokens")
WORD = Field("map_word", "")
COLOUR = Field("map_colour", "word")
DIMS = Field("map_dims", "2")
METHOD = Field("map_method", "umap", tuple(METHODS))
SPACE = Field("map_space", "joint", tuple(SPACE_NAMES))
HIDE_SPECIAL = Field("map_hide", True)
LEVEL_LAYERS = Field("map_level", True)
ROGUE_OFF = Field("map_rogue_off", 0)
PARAMETERS = "umap"
"""Begins the names of a method's parameters, as in links made when UMAP was the only one."""


def choose_points(key: cache.BertKey, chosen: Chosen) -> Points:
    """Draw the row of controls of the view Geometry; return which points are measured."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    unit = _select(row, "Points", UNIT, UNITS, 150)
    word = _word(row, unit) if unit == "word" else ""
    off = rogue_off(row)
    hide = row.toggle("Hide special tokens", key=HIDE_SPECIAL.key())
    marks = _marks(unit, word, chosen)
    return Points(key, chosen.sentences, unit, word, hide, off, marks, chosen.is_list)


def choose_view(key: cache.BertKey, chosen: Chosen) -> tuple[Points, View, str]:
    """Draw the row of controls; return which points are drawn, how, and what colours them."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    unit = _select(row, "Points", UNIT, UNITS, 135)
    word = _word(row, unit)
    dims = int(one_of("View", {"2": "2-D", "3": "3-D"}, DIMS, where=row, with_label=True))
    method = one_of("Method", METHODS, METHOD, where=row, with_label=True)
    colours = {name: name for name in COLOUR_BY}
    if not any(sentence.label for sentence in chosen.sentences):
        colours.pop("label")
    colour = _select(row, "Colour by", COLOUR, colours, 115)
    with row.popover("More", icon=":material/tune:"):
        space = one_of("Layers", SPACE_NAMES, SPACE, with_label=True)
        hide = st.toggle("Hide special tokens", key=HIDE_SPECIAL.key())
        level = st.toggle(
            "Align centre and size of the layers",
            key=LEVEL_LAYERS.key(),
            disabled=space != "joint",
            help="If off, one map for all also shows how mean and size change from layer to layer.",
        )
        off = rogue_off(st)
        settings = choose_parameters(st, method, PARAMETERS)
    word = word if unit == "word" else ""
    marks = _marks(unit, word, chosen)
    points = Points(key, chosen.sentences, unit, word, hide, off, marks, chosen.is_list)
    return points, View(dims, method, space, level, settings), colour


def _marks(unit: str, word: str, chosen: Chosen) -> tuple[tuple[int, Span], ...]:
    """Return the marked words, if they are drawn: those of one word that is not typed."""
    return chosen.marks if unit == "word" and not word else ()


def _word(row: DeltaGenerator, unit: str) -> str:
    typed: str = row.text_input(
        "The word" if unit == "word" else "Find a word",
        key=WORD.key(),
        width=110,
        placeholder="bank",
    )
    return typed.strip()


def rogue_off(where: Any) -> int:
    """Draw the switch of the rogue dimensions; `where` is a container or Streamlit itself."""
    return int(
        where.number_input(
            "Rogue dimensions off",
            0,
            NUM_ROGUE,
            key=ROGUE_OFF.key(low=0, high=NUM_ROGUE),
            width=170,
            help="Sets to 0 the dimensions with the largest share of a layer's mean cosine.",
        )
    )


def map_when_ready(points: Points, view: View) -> LayerMap:
    """Return the map by UMAP, t-SNE or PaCMAP; draw its progress until it is there.

    Raises:
        Pending: Until then.
        Exception: The error that stopped the map.
    """
    name = METHODS[view.method]

    def say(job: Job) -> str:
        return f"PCA, until {name} is there. {job.stage}."

    stopped = f"{name} was stopped: this is the PCA map."
    # A text's UMAP takes 0.2 s, if it need not be compiled: no PCA flickers before it.
    patience = 0.6 if view.method == "umap" and umap_opened.is_set() else 0.0
    compute = Compute(name="layer-map", patience=patience, stopped=stopped, say=say)
    return compute(embed, points, view)


def read_points(points: Points) -> VectorTable:
    """Return the points and their vectors; of many sentences draw the progress until then.

    Raises:
        Pending: Until then.
        ValueError: As `Points.table`.
    """
    if len(points.sentences) >= MANY_SENTENCES:
        Compute(name="map-points")(read, points)
    return points.table


def _select(
    row: DeltaGenerator, label: str, field: Field[str], options: dict[str, str], width: int
) -> str:
    key = field.key(options=list(options))
    chosen: str = row.selectbox(
        label, list(options), format_func=options.__getitem__, key=key, width=width
    )
    return chosen
