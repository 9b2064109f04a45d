"""The controls of the layer map: sentences, points, method, parameters, colours."""

from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.shared.collect import VectorTable
from bertcore.analysis.space.points import PointChoice, collect_points
from bertcore.analysis.space.projection import AXES, METHODS, Settings
from bertcore.analysis.space.sense_sets import SETS
from bertcore.configs.maps import METRICS, TsneSettings, UmapSettings
from bertcore.data.texts import Sentence, Span

from ...shell import Field, Progress, cache, one_of
from ...sources import my_sentences
from .map_figures import COLOUR_BY

UNITS = {
    "tokens": "tokens",
    "words": "whole words",
    "word": "one word",
    "mean": "sentences (mean)",
    "cls": "sentences (first token)",
}
"""What a point stands for, and its label."""
SPACE_NAMES = {"joint": "one map for all", "separate": "each by itself"}
UNIT = Field("map_unit", "tokens")
WORD = Field("map_word", "")
COLOUR = Field("map_colour", "word")
DIMS = Field("map_dims", "2")
OFFERED = {**METHODS, AXES: "My axes"}
METHOD = Field("map_method", "umap", tuple(OFFERED))
ENDS = {name: Field(f"map_{name.lower()}", "") for name in ("Left", "Right", "Below", "Above")}
"""Words at the ends of one's own axes."""
SPACE = Field("map_space", "joint", tuple(SPACE_NAMES))
HIDE_SPECIAL = Field("map_hide", True)
LEVEL_LAYERS = Field("map_level", True)
METRIC = Field("umap_metric", METRICS[0], METRICS)
SEED = Field("umap_seed", 0)
NEIGHBORS = Field("umap_neighbors", 15)
MIN_DIST = Field("umap_min_dist", 0.1)
PERPLEXITY = Field("umap_perplexity", 30.0)


# ---- sentences ----


class Chosen(NamedTuple):
    """The sentences of a source."""

    sentences: tuple[Sentence, ...]
    marks: tuple[tuple[int, Span], ...] = ()
    """Marked words: the number of the sentence, from 0, and characters of its text."""
    setup: str = ""
    """Python that reads the visitor's list as `mine`; "" for other sources."""

    @property
    def shown(self) -> tuple[Sentence | str, ...]:
        """The sentences, each as its text if it is no more than that."""
        return tuple(s if s.text_pair is not None or s.label else s.text for s in self.sentences)


SOURCES = {"sentence": "This sentence", "senses": "Senses", **my_sentences.OFFERED}
SOURCE = Field("map_source", "sentence", tuple(SOURCES))
SENSES_OF = Field("map_set", next(iter(SETS)), tuple(SETS))
LONGEST_LABEL = 200
"""Characters of a label that are shown."""


def sentences_of(source: str, text_a: str, text_b: str | None) -> Chosen | None:
    """Draw the input of a source and return its sentences; None while there are none.

    ValueError if the list cannot be read.
    """
    if source == "sentence":
        return Chosen((Sentence(text_a, text_b),))
    if source == "senses":
        st.pills(
            "Word",
            list(SETS),
            key=SENSES_OF.key(),
            on_change=suit_to_source,
            required=True,
            label_visibility="collapsed",
        )
        return Chosen(SETS[SENSES_OF.value])
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
    short = (each._replace(label=each.label[:LONGEST_LABEL]) for each in mine.found.sentences)
    return Chosen(tuple(short), marks, f"\n{mine.code}")


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


# ---- points ----


class Points(NamedTuple):
    """Which points are drawn; hashable, as part of a cache key."""

    key: cache.BertKey
    sentences: tuple[Sentence | str, ...]
    choice: PointChoice

    @property
    @cache.once
    def stands_for(self) -> VectorTable:
        """The points and their vectors; errors as of `collect_points`."""
        return collect_points(cache.opened(self.key), self.sentences, self.choice)


class Layout(NamedTuple):
    """How the points are mapped, as `map_points` takes it."""

    dims: int
    method: str
    space: str
    level_layers: bool
    settings: Settings
    axes: tuple[str, ...] = ()


MANY_SENTENCES = 50


def is_read(table: VectorTable, *, progress: Progress) -> bool:
    """Return True: a job whose points are collected for it, and are then at hand."""
    progress(1.0, "Done")
    return bool(table)


def choose_map(
    bert_key: cache.BertKey, chosen: Chosen, found: DeltaGenerator, menu: DeltaGenerator
) -> tuple[Points, Layout, str]:
    """Draw the controls; return which points are drawn, how, and what colours them.

    Args:
        found: Place of the word that is looked for.
        menu: That of all others.
    """
    with menu:
        key = UNIT.key(options=list(UNITS))
        unit = st.selectbox("Points", list(UNITS), format_func=UNITS.__getitem__, key=key)
        has_labels = any(sentence.label for sentence in chosen.sentences)
        colours = [name for name in COLOUR_BY if has_labels or name != "label"]
        colour = st.selectbox("Colour by", colours, key=COLOUR.key(options=colours))
        method = one_of("Method", OFFERED, METHOD, with_label=True)
        axes = tuple(_end(*end) for end in ENDS.items()) if method == AXES else ()
        dims = int(one_of("View", {"2": "2-D", "3": "3-D"}, DIMS, with_label=True))
        space = one_of("Layers", SPACE_NAMES, SPACE, with_label=True)
        hide = st.toggle("Hide special tokens", key=HIDE_SPECIAL.key())
        level = st.toggle(
            "Align centre and size of the layers",
            key=LEVEL_LAYERS.key(),
            disabled=space != "joint",
            help="If off, one map for all also shows how mean and size change from layer to layer.",
        )
        settings = _settings(method)
    is_word = unit == "word"
    label = "The word" if is_word else "Find a word"
    typed = found.text_input(
        label, key=WORD.key(), width=150, placeholder=label, label_visibility="collapsed"
    )
    word = typed.strip() if is_word else ""
    marks = chosen.marks if is_word and not word else ()
    choice = PointChoice(unit=unit, word=word, marks=marks, hide_special=hide)
    layout = Layout(dims, method, space, level, settings, axes)
    return Points(bert_key, chosen.shown, choice), layout, colour


def _end(name: str, field: Field[str]) -> str:
    """Draw the words at an end of an axis."""
    about = "A word among the points, or a label; several with commas between: their mean."
    default = "" if name in ("Left", "Right") else "left to the points"
    typed: str = st.text_input(name, key=field.key(), placeholder=default, help=about)
    return typed.strip()


def _settings(method: str) -> Settings:
    """Draw the parameters of a method; PCA has none but the metric by which it is measured."""
    made: dict[str, Any] = {}
    if method == "umap":
        made["n_neighbors"] = st.slider(
            "n_neighbors",
            2,
            100,
            key=NEIGHBORS.key(low=2, high=100),
            help="Points of a neighbourhood: few show detail, many the whole.",
        )
        key = MIN_DIST.key(low=0.0, high=1.0)
        help_of = "How close points may be in the map."
        made["min_dist"] = st.slider("min_dist", 0.0, 1.0, key=key, help=help_of)
    elif method == "tsne":
        made["perplexity"] = st.slider(
            "perplexity",
            2.0,
            200.0,
            step=1.0,
            key=PERPLEXITY.key(low=2.0, high=200.0),
            format="%g",
            help="Effective number of a point's neighbours; less than the number of points.",
        )
    made["metric"] = st.selectbox(
        "metric",
        METRICS,
        key=METRIC.key(),
        help="Distance between vectors; the faithfulness of the map is measured by it too.",
    )
    made["seed"] = st.number_input("seed", 0, 2**31, key=SEED.key(low=0, high=2**31))
    return TsneSettings(**made) if method == "tsne" else UmapSettings(**made)
