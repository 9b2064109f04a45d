"""The controls of the layer map: points, method, parameters, colours, search, progress."""

from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.shared.collect import VectorTable
from bertcore.analysis.space.projection import METHODS, LayerMap, Settings, umap_opened
from bertcore.configs.maps import METRICS, TsneSettings, UmapSettings
from bertcore.data.sentence_list import Span

from ..shell import Compute, Field, Job, cache, one_of
from .points import COLOUR_BY
from .view import UNITS, Chosen, Points, View, embed, read

HELP = {
    "neighbors": (
        "Size of a point's neighbourhood: a small one shows detail, a large one the whole."
    ),
    "min_dist": "How close points may be in the map.",
    "perplexity": "Effective number of a point's neighbours; less than the number of points.",
    "exaggeration": (
        "Multiplies the attraction in the first 250 steps: a large value draws groups together "
        "before they are laid out."
    ),
    "learning_rate": "0 for auto: the number of points by four times the exaggeration.",
    "max_iter": "Steps, of which the first 250 have early exaggeration.",
    "metric": "Distance between vectors; the faithfulness of the map is measured by it too.",
}
"""What is said of a parameter, by its field."""


class Number(NamedTuple):
    """A number among the parameters."""

    name: str
    """Its name in the settings, and its label."""
    field: str
    """Name in the address, after the map's own prefix."""
    default: float
    low: float
    high: float
    step: float | None = None
    is_typed: bool = False
    """Whether it is typed and not chosen by a slider."""


class Word(NamedTuple):
    """A parameter that is one of a few words, by default the first."""

    name: str
    options: tuple[str, ...]

    @property
    def field(self) -> str:
        """Name in the address, after the map's own prefix."""
        return self.name


OWN: dict[str, tuple[Number | Word, ...]] = {
    "pca": (),
    "umap": (
        Number("n_neighbors", "neighbors", 15, 2, 100),
        Number("min_dist", "min_dist", 0.1, 0.0, 1.0),
    ),
    "tsne": (
        Number("perplexity", "perplexity", 30.0, 2.0, 200.0, 1.0),
        Number("early_exaggeration", "exaggeration", 12.0, 1.0, 50.0, 1.0),
        Number("learning_rate", "learning_rate", 0.0, 0.0, 100_000.0, 50.0, is_typed=True),
        Number("max_iter", "max_iter", 1000, 250, 2000, 50),
    ),
}
"""The parameters of each method."""
SHARED = (Word("metric", METRICS), Number("seed", "seed", 0, 0, 2**31, is_typed=True))


def choose_parameters(where: Any, method: str, prefix: str) -> Settings:
    """Draw the parameters of a method; return them.

    Args:
        where: A container, or Streamlit itself.
        method: One of METHODS. PCA has no parameter: its UmapSettings hold the metric by which it
            is measured.
        prefix: Begins the names of the fields.
    """
    chosen = {each.name: _choose(where, each, prefix) for each in (*OWN[method], *SHARED)}
    return TsneSettings(**chosen) if method == "tsne" else UmapSettings(**chosen)


def _choose(where: Any, parameter: Number | Word, prefix: str) -> Any:
    name, shown = f"{prefix}_{parameter.field}", {"help": HELP.get(parameter.field)}
    if isinstance(parameter, Word):
        options = parameter.options
        key = Field(name, options[0], options).key()
        return where.selectbox(parameter.name, options, key=key, **shown)
    default, low, high = parameter.default, parameter.low, parameter.high
    if isinstance(default, float) and parameter.step is not None:
        shown["format"] = "%g"
    draw = where.number_input if parameter.is_typed else where.slider
    key = Field(name, default).key(low=low, high=high)
    return type(default)(draw(parameter.name, low, high, step=parameter.step, key=key, **shown))


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
PARAMETERS = "umap"
"""Begins the names of a method's parameters, as in links made when UMAP was the only one."""


def choose_points(key: cache.BertKey, chosen: Chosen) -> Points:
    """Draw the row of controls of the view Geometry; return which points are measured."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    unit = _select(row, "Points", UNIT, UNITS, 150)
    word = _word(row, unit) if unit == "word" else ""
    hide = row.toggle("Hide special tokens", key=HIDE_SPECIAL.key())
    marks = _marks(unit, word, chosen)
    return Points(key, chosen.sentences, unit, word, hide, marks, chosen.is_list)


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
        settings = choose_parameters(st, method, PARAMETERS)
    word = word if unit == "word" else ""
    marks = _marks(unit, word, chosen)
    points = Points(key, chosen.sentences, unit, word, hide, marks, chosen.is_list)
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


def map_when_ready(points: Points, view: View) -> LayerMap:
    """Return the map by UMAP or t-SNE; draw its progress until it is there.

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
