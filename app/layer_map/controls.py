"""The controls of the layer map: sentences, points, method, parameters, colours."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.shared.collect import VectorTable
from bertcore.analysis.space.points import collect_points
from bertcore.analysis.space.projection import METHODS, Settings
from bertcore.analysis.space.sense_sets import SETS
from bertcore.configs.maps import METRICS, TsneSettings, UmapSettings
from bertcore.data.texts import Sentence, Span, Texts, read_upload

from ..plots import plain
from ..shell import Field, Progress, UploadSource, cache, one_of
from ..shell.uploads import Copy
from ..sources import my_sentences
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
METHOD = Field("map_method", "umap", tuple(METHODS))
SPACE = Field("map_space", "joint", tuple(SPACE_NAMES))
HIDE_SPECIAL = Field("map_hide", True)
LEVEL_LAYERS = Field("map_level", True)
METRIC = Field("umap_metric", METRICS[0], METRICS)
SEED = Field("umap_seed", 0)
NEIGHBORS = Field("umap_neighbors", 15)
MIN_DIST = Field("umap_min_dist", 0.1)
PERPLEXITY = Field("umap_perplexity", 30.0)
FEW = 60
"""Most sentences that the Python shown repeats; more are read from a file there."""


# ---- sentences ----


class Chosen(NamedTuple):
    """The sentences of a source."""

    sentences: tuple[Sentence, ...]
    marks: tuple[tuple[int, Span], ...] = ()
    """Marked words: the number of the sentence, from 0, and characters of its text."""
    is_list: bool = False
    """Whether it is the visitor's list."""

    @property
    def shown(self) -> tuple[Sentence | str, ...]:
        """The sentences, each as its text if it is no more than that."""
        return tuple(s if s.text_pair is not None or s.label else s.text for s in self.sentences)

    @property
    def setup(self) -> str:
        """Python that reads the sentences, where they are too many to be repeated; else ""."""
        if len(self.sentences) <= FEW:
            return ""
        count = f"{len(self.sentences):,} sentences"
        if self.is_list:
            return (
                "\nfrom pathlib import Path\n\nfrom bertcore.data import read_sentence_list\n\n"
                f"# Your {count}, saved one per line.\n"
                'text = Path("sentences.txt").read_text(encoding="utf-8")\n'
                "sentences = read_sentence_list(text).sentences\n"
            )
        return (
            "\nfrom pathlib import Path\n\nfrom bertcore.data import read_upload\n\n"
            f"# {count}: save them as one sentence per line, or CSV.\n"
            'sentences = read_upload(Path("texts.txt").read_bytes(), "texts.txt").sentences\n'
        )


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
        st.pills(
            "Word",
            list(SETS),
            key=SENSES_OF.key(),
            on_change=suit_to_source,
            required=True,
            label_visibility="collapsed",
        )
        return Chosen(SETS[SENSES_OF.value])
    if source == my_sentences.MINE:
        return _mine()
    texts = _uploaded()
    if texts is None:
        st.info(NO_FILE)
        return None
    for note in texts.notes:
        st.caption(plain(note))
    return Chosen(_with_short_labels(texts.sentences))


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


@dataclass(frozen=True, slots=True)
class _Uploaded:
    """A file, and its sentences by the columns that are usual, and by those that were chosen."""

    copy: Copy
    usual: Texts
    chosen: Texts


def _first(copies: Sequence[Copy]) -> _Uploaded:
    (copy,) = copies
    texts = copy.apart(read_upload, copy.inner)
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
    if uploaded is None or not uploaded.usual.columns:
        return None if uploaded is None else uploaded.usual
    row, usual = st.container(horizontal=True), uploaded.usual
    columns = list(usual.columns)
    wanted: dict[str, Any] = {
        name: row.selectbox(
            f"Column of {what}",
            options,
            index=options.index(getattr(usual, name)),
            format_func=lambda column: column or "none",
            key=f"map_column_{name}_{uploaded.copy.digest}",
            width=200,
        )
        for name, what, options in (
            ("text_column", "the sentences", columns),
            ("pair_column", "sentence B", ["", *columns]),
            ("label_column", "the labels", ["", *columns]),
        )
    }
    texts = uploaded.chosen
    if wanted != {name: getattr(texts, name) for name in wanted}:
        texts = uploaded.copy.apart(read_upload, uploaded.copy.inner, **wanted)
        _FILE.replace(replace(uploaded, chosen=texts))
    return texts


# ---- points ----


class Points(NamedTuple):
    """Which points are drawn; hashable, as part of a cache key."""

    key: cache.BertKey
    sentences: tuple[Sentence | str, ...]
    unit: str = "tokens"
    word: str = ""
    """The word, if the unit is "word"."""
    marks: tuple[tuple[int, Span], ...] = ()
    hide_special: bool = True

    @property
    @cache.once
    def stands_for(self) -> VectorTable:
        """The points and their vectors; errors as of `collect_points`."""
        key, sentences, unit, word, marks, hide_special = self
        return collect_points(
            cache.opened(key),
            sentences,
            unit=unit,
            word=word,
            marks=marks,
            hide_special=hide_special,
        )


class Layout(NamedTuple):
    """How the points are mapped, as `map_points` takes it."""

    dims: int
    method: str
    space: str
    level_layers: bool
    settings: Settings


MANY_SENTENCES = 50


def is_read(table: VectorTable, *, progress: Progress) -> bool:
    """Return True: a job whose points are collected for it, and are then at hand."""
    progress(1.0, "Done")
    return bool(table)


def choose_points(key: cache.BertKey, chosen: Chosen) -> Points:
    """Draw the choice of points for the cosines; return it."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    unit = _select(row, "Points", UNIT, UNITS, 150)
    word = _word(row, unit) if unit == "word" else ""
    hide = row.toggle("Hide special tokens", key=HIDE_SPECIAL.key())
    return _points(key, chosen, unit, word, is_hidden=hide)


def choose_map(key: cache.BertKey, chosen: Chosen) -> tuple[Points, Layout, str]:
    """Draw the row of controls; return which points are drawn, how, and what colours them."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    unit = _select(row, "Points", UNIT, UNITS, 135)
    word = _word(row, unit)
    dims = int(one_of("View", {"2": "2-D", "3": "3-D"}, DIMS, where=row, with_label=True))
    method = one_of("Method", METHODS, METHOD, where=row, with_label=True)
    has_labels = any(sentence.label for sentence in chosen.sentences)
    colours = {name: name for name in COLOUR_BY if has_labels or name != "label"}
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
        settings = _settings(method)
    points = _points(key, chosen, unit, word, is_hidden=hide)
    return points, Layout(dims, method, space, level, settings), colour


def _points(key: cache.BertKey, chosen: Chosen, unit: str, word: str, *, is_hidden: bool) -> Points:
    word = word if unit == "word" else ""
    marks = chosen.marks if unit == "word" and not word else ()
    return Points(key, chosen.shown, unit, word, marks, is_hidden)


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


def _word(row: DeltaGenerator, unit: str) -> str:
    typed: str = row.text_input(
        "The word" if unit == "word" else "Find a word",
        key=WORD.key(),
        width=110,
        placeholder="bank",
    )
    return typed.strip()


def _select(
    row: DeltaGenerator, label: str, field: Field[str], options: dict[str, str], width: int
) -> str:
    key = field.key(options=list(options))
    chosen: str = row.selectbox(
        label, list(options), format_func=options.__getitem__, key=key, width=width
    )
    return chosen
