"""The controls of the layer map: sentences, points, method, parameters, colours, progress."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.shared.collect import VectorTable
from bertcore.analysis.space.projection import METHODS, LayerMap, Settings, umap_opened
from bertcore.analysis.space.sense_sets import SETS
from bertcore.configs.maps import METRICS, TsneSettings, UmapSettings
from bertcore.data.texts import Sentence, Span, Texts, read_upload

from ..plots import plain
from ..shell import Compute, Field, Job, UploadSource, cache, one_of
from ..shell.uploads import Copy
from ..sources import my_sentences
from .maps import COLOUR_BY
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
}
"""What is said of a parameter, by its name in the address."""
MOST_BY_SLIDER = 2000


class Number(NamedTuple):
    """A parameter of a method."""

    name: str
    """Its name in the settings, and its label."""
    url: str
    """Name in the address, after "umap_", as in links made when UMAP was the only method."""
    default: float
    low: float
    high: float
    """Above MOST_BY_SLIDER, the number is typed."""
    step: float | None = None


NUMBERS: dict[str, tuple[Number, ...]] = {
    "pca": (),
    "umap": (
        Number("n_neighbors", "neighbors", 15, 2, 100),
        Number("min_dist", "min_dist", 0.1, 0.0, 1.0),
    ),
    "tsne": (
        Number("perplexity", "perplexity", 30.0, 2.0, 200.0, 1.0),
        Number("early_exaggeration", "exaggeration", 12.0, 1.0, 50.0, 1.0),
        Number("learning_rate", "learning_rate", 0.0, 0.0, 100_000.0, 50.0),
        Number("max_iter", "max_iter", 1000, 250, 2000, 50),
    ),
}
"""The parameters of each method."""
SEED = Number("seed", "seed", 0, 0, 2**31)
METRIC = Field("umap_metric", METRICS[0], METRICS)


def _choose_parameters(method: str) -> Settings:
    """Draw the parameters of a method; PCA has none but the metric by which it is measured."""
    chosen: dict[str, Any] = {number.name: _choose(number) for number in NUMBERS[method]}
    chosen["metric"] = st.selectbox(
        "metric",
        METRICS,
        key=METRIC.key(),
        help="Distance between vectors; the faithfulness of the map is measured by it too.",
    )
    chosen["seed"] = _choose(SEED)
    return TsneSettings(**chosen) if method == "tsne" else UmapSettings(**chosen)


def _choose(number: Number) -> Any:
    default, low, high = number.default, number.low, number.high
    key = Field(f"umap_{number.url}", default).key(low=low, high=high)
    is_whole_step = isinstance(default, float) and number.step is not None
    draw = st.slider if high <= MOST_BY_SLIDER else st.number_input
    value = draw(
        number.name,
        low,
        high,
        step=number.step,
        key=key,
        format="%g" if is_whole_step else None,
        help=HELP.get(number.url),
    )
    return type(default)(value)


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
        settings = _choose_parameters(method)
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


SOURCES = {
    "sentence": "This sentence",
    "senses": "Senses",
    **my_sentences.OFFERED,
    "file": "Upload",
}
SOURCE = Field("map_source", "sentence", tuple(SOURCES))
SENSES_OF = Field("map_set", next(iter(SETS)), tuple(SETS))
NO_FILE = "Upload a text or CSV file above. The first 2,000 sentences and 2,000 tokens are drawn."
LONGEST_LABEL = 200
"""Characters of a label that are shown."""


def sentences_of(source: str, text_a: str, text_b: str | None) -> Chosen | None:
    """Draw the input of a source and return its sentences; None while there are none.

    Raises:
        ValueError: If the list or the uploaded file contains no sentence or cannot be read.
    """
    if source == "sentence":
        return Chosen((Sentence(text_a, text_b),))
    if source == "senses":
        return Chosen(SETS[_sense_word()])
    if source == my_sentences.MINE:
        return _mine()
    texts = _uploaded()
    if texts is None:
        st.info(NO_FILE)
        return None
    for note in texts.notes:
        st.caption(plain(note))
    return Chosen(_with_short_labels(texts.sentences))


def _mine() -> Chosen | None:
    mine = my_sentences.choose()
    if mine is None:
        return None
    marks = mine.found.marks
    if marks:
        words = "1 word is" if len(marks) == 1 else f"{len(marks)} words are"
        st.caption(
            f"{words} marked. To draw them alone, choose *{UNITS['word']}* as the points, and type "
            "no word."
        )
    return Chosen(_with_short_labels(mine.found.sentences), marks, is_list=True)


def _with_short_labels(sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    return tuple(sentence._replace(label=sentence.label[:LONGEST_LABEL]) for sentence in sentences)


def suit_to_source() -> None:
    """Choose points and colours that suit the source just picked."""
    if SOURCE.value == "senses":
        UNIT.put("word")
        COLOUR.put("label")
        WORD.put(SENSES_OF.value)
    elif UNIT.value == "word" and COLOUR.value == "label":
        UNIT.put("tokens")
        COLOUR.put("word")
        WORD.put("")


def _sense_word() -> str:
    st.pills(
        "Word",
        list(SETS),
        key=SENSES_OF.key(),
        on_change=suit_to_source,
        required=True,
        label_visibility="collapsed",
    )
    return SENSES_OF.value


@dataclass(frozen=True, slots=True)
class _Uploaded:
    """A file, and its sentences by the columns that are usual, and by those that were chosen."""

    copy: Copy
    usual: Texts
    chosen: Texts


def _read(copy: Copy, **columns: Any) -> Texts:
    return copy.apart(read_upload, copy.inner, **columns)


def _first(copies: Sequence[Copy]) -> _Uploaded:
    (copy,) = copies
    texts = _read(copy)
    return _Uploaded(copy, texts, texts)


_FILE = UploadSource(
    key="map_upload",
    label="A text with one sentence per line, or a table (CSV, JSON, Parquet, ...)",
    read=_first,
    about=lambda uploaded: f"{len(uploaded.chosen.sentences):,} sentences",
)


def _uploaded() -> Texts | None:
    """Return the uploaded sentences; they survive a change of page, until the next upload."""
    uploaded = _FILE.choose()
    if uploaded is None:
        return None
    if not uploaded.usual.columns:
        return uploaded.usual
    row = st.container(horizontal=True)
    usual, absent = uploaded.usual, ""
    columns = list(usual.columns)

    def choose(label: str, value: str, options: list[str]) -> str:
        chosen: str = row.selectbox(
            label,
            options,
            index=options.index(value),
            format_func=lambda column: column or "none",
            key=f"map_column_{label}_{uploaded.copy.digest}",
            width=200,
        )
        return chosen

    wanted = {
        "text_column": choose("Column of the sentences", usual.text_column, columns),
        "pair_column": choose("Column of sentence B", usual.pair_column, [absent, *columns]),
        "label_column": choose("Column of the labels", usual.label_column, [absent, *columns]),
    }
    texts = uploaded.chosen
    if wanted != {name: getattr(texts, name) for name in wanted}:
        texts = _read(uploaded.copy, **wanted)
        _FILE.replace(replace(uploaded, chosen=texts))
    return texts
