"""The source "Corpus" of the page Layer map: its map, its geometry."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.space.corpus_map import (
    CorpusMap,
    CorpusMapSettings,
    corpus_map,
    sentences_of,
)
from bertcore.analysis.space.geometry import without_rogue
from bertcore.analysis.space.projection import METHODS, method_of
from bertcore.corpus import EncodedCorpus, open_encoded

from ...shell import Compute, Field, Picture, Progress, cache, frame, one_of
from ...sources import encoded_corpus as source
from ...sources.encoded_corpus import Opened
from ..controls import choose_parameters, rogue_off
from ..geometry import QUALITY as FAITHFUL
from ..geometry import Quality, note_copies, show_geometry
from ..view import MeasuredGeometry, measure
from . import point_map
from .points import Drawn, colour_columns, colours_of, drawn

NUM_POINTS = (20_000, 50_000, 100_000, 200_000)

METHOD = Field("corpus_method", "pca", tuple(METHODS))
POINTS = Field("corpus_points", NUM_POINTS[-1], NUM_POINTS)
COLOUR = Field("corpus_colour", "")
FITTED = Field("corpus_fitted", 10_000)
PARAMETERS = "corpus"  # begins the names of a method's parameters


MEASURED_ROWS = 2000  # rows that the geometry is measured on
_KEY = "corpus_point_map"
_CHOSEN = "_corpus_chosen"


def _arrays(found: CorpusMap) -> dict[str, NDArray[Any]]:
    return {
        "layers": np.array(found.layers),
        "rows": found.rows,
        "coordinates": found.coordinates,
    }


_CODE = """
from bertcore.analysis.space.corpus_map import CorpusMapSettings, corpus_map
from bertcore.configs import PacmapSettings, TsneSettings, UmapSettings
from bertcore.corpus import open_encoded

corpus = open_encoded({folder!r})
settings = {settings}
found = corpus_map(corpus, settings)
"""
MAP = Picture(
    name="corpus-map",
    table=_arrays,
    how=(
        "Each point is a {unit} of the corpus; nearby points have similar vectors. One map shows "
        "all layers: *Play* moves the points from layer to layer. Dense regions are labelled with "
        "the word that is most typical of them. Drag to pan, turn the wheel to zoom, and draw "
        "around points with *Lasso* (or Shift) to read them below; for up to 60 chosen points, the "
        "path is drawn. The map is fitted to {fitted} points of each layer; the others are placed "
        "in it."
    ),
    code=_CODE + "found.rows, found.coordinates               # [N], [L, N, 2]\n",
)
QUALITY = Picture(
    name="corpus-map-truth",
    chart=FAITHFUL,
    how=(
        "Measured on {measured} points that the map was fitted to. Trustworthiness 1: points that "
        "are close in the map are close in the full space; continuity 1: points that are close in "
        "the full space are close in the map; 0.5 is chance. Shared neighbours: the fraction of "
        "nearest points that stay nearest."
    ),
    code=_CODE + "found.quality, found.explained\n",
)


def show_corpus(page: frame.Page, shown: str) -> None:
    """Draw the choice of the corpus, then its view "map" or "geometry"."""
    with frame.guard():
        corpus = source.choose(page, is_searched=False)
        if corpus is None:
            return
        if shown == "geometry":
            _show_geometry(page, corpus)
        else:
            _show_map(page, corpus)


def _show_map(page: frame.Page, opened: Opened) -> None:
    corpus = opened.encoded
    settings, column = _choose(corpus)
    made = Compute(name="corpus-map")(_mapped, source.hashable(opened), settings)
    colours = cache.of_file(colours_of, opened.manifest, settings, column)
    name = f"{source.shown_folder(opened)} {len(corpus)} {settings!r}"
    if made.map.num_left_out:
        st.caption(f"{made.map.num_left_out:,} rows are not drawn: their vectors contain NaN.")
    point_map.COMPONENT(point_map.message(made, colours, name), key=_KEY, selection=_choose_points)
    values: dict[str, Any] = {"folder": source.shown_folder(opened), "settings": repr(settings)}
    _show_chosen(opened, made, name)
    MAP.offer(
        page, made.map, setup="", unit=corpus.unit, fitted=f"{made.map.num_fitted:,}", **values
    )
    found = made.map.quality
    quality = Quality(made.map.layers, found, made.map.explained)
    measured, drawn = f"{found.num_points:,}", {"k": found.k}
    QUALITY.show(page, quality, drawn=drawn, setup="", measured=measured, **values)
    note_copies(found, made.map.layers)


def _mapped(
    stamp: tuple[str, int, int], settings: CorpusMapSettings, *, progress: Progress
) -> Drawn:
    """Return the map of the corpus of a stamp; see `source.hashable`."""
    corpus = source.at(Path(stamp[0])).encoded
    found = corpus_map(corpus, settings, progress=progress)
    progress(0.99, "Naming the dense regions")
    return drawn(corpus, found)


def _choose(corpus: EncodedCorpus) -> tuple[CorpusMapSettings, str]:
    """Draw the row of controls; return the settings of the map and the column of the colours."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="corpus_controls")
    method = one_of("Method", METHODS, METHOD, where=row, with_label=True)
    num_points = row.selectbox(
        "Points, at most",
        NUM_POINTS,
        format_func="{:,}".format,
        key=POINTS.key(),
        width=130,
    )
    columns = colour_columns(corpus)
    column = row.selectbox(
        "Colour by", columns, key=COLOUR.key(default=columns[0], options=columns), width=160
    )
    with row.popover("More", icon=":material/tune:"):
        settings = _more(st, corpus, method, int(num_points))
    return settings, column


def _more(where: Any, corpus: EncodedCorpus, method: str, num_points: int) -> CorpusMapSettings:
    fitted = where.number_input(
        "Points that the map is fitted to, over all layers",
        100,
        50_000,
        step=1000,
        key=FITTED.key(low=100, high=50_000),
    )
    parameters = choose_parameters(where, method, PARAMETERS)
    return CorpusMapSettings(
        layers=corpus.layers,
        method=method,
        num_points=num_points,
        num_fitted=int(fitted),
        seed=parameters.seed,
        **{method_of(parameters): parameters},  # type: ignore[arg-type]
    )


def _choose_points(value: Any) -> None:
    points, num = [int(point) for point in value["points"]][:200], int(value["num"])
    st.session_state[_CHOSEN] = (points, num)


def _show_chosen(opened: Opened, made: Drawn, name: str) -> None:
    """Draw the chosen points with their sentences."""
    points, num = st.session_state.get(_CHOSEN, ([], 0))
    here = [point for point in points if 0 <= point < len(made.map.rows)]
    if not here:
        return
    corpus = opened.encoded
    texts: pa.Table = cache.of_file(_texts, opened.manifest)
    rows = made.map.rows[here]
    where = corpus.rows(["document"]).take(pa.array(rows)).column(0).to_pylist()
    table = pd.DataFrame(
        {
            "Point": [made.words[made.word_ids[point]] for point in here],
            "Sentence": sentences_of(corpus, texts, rows).to_pylist(),
            "Document": where,
        }
    )
    if corpus.unit == "sentence":
        table = table.drop(columns="Point")
    config = {
        "Point": st.column_config.TextColumn(width="small"),
        "Sentence": st.column_config.TextColumn(width="large"),
        "Document": st.column_config.NumberColumn(width="small"),
    }
    height = min(38 + 35 * len(table), 320)
    st.dataframe(table, hide_index=True, height=height, column_config=config)
    if num > len(here):
        st.caption(f"The first {len(here):,} of {num:,} chosen points.")


def _texts(manifest: Path) -> pa.Table:
    return open_encoded(manifest.parent.parent).sentences()


def _show_geometry(page: frame.Page, opened: Opened) -> None:
    corpus = opened.encoded
    off = rogue_off(st.container(horizontal=True, key="corpus_geometry_controls"))
    measured = Compute(name="corpus-geometry")(_measured, source.hashable(opened), off)
    num = min(MEASURED_ROWS, len(corpus))
    st.caption(f"Measured on {num:,} {corpus.unit}s of the corpus, drawn at random.")
    show_geometry(
        page,
        measured,
        _GEOMETRY_CODE.format(folder=source.shown_folder(opened), most=MEASURED_ROWS, off=off),
        corpus.manifest.hidden_size,
    )


_GEOMETRY_CODE = """from types import SimpleNamespace

import numpy as np
from bertcore.analysis.space.geometry import without_rogue
from bertcore.corpus import open_encoded

corpus = open_encoded({folder!r})
num = len(corpus)
rows = np.sort(np.random.default_rng(0).choice(num, min({most}, num), replace=False))
named = [name for name in ("word", "piece") if name in corpus.columns]
columns = corpus.rows(named).take(rows).to_pydict()
words = columns.get("word", [str(row) for row in rows])
vectors = np.stack([corpus.vectors(layer)[rows] for layer in corpus.layers]).astype(np.float32)
pieces = columns.get("piece", words)
table = SimpleNamespace(vectors=without_rogue(vectors, words, {off}), words=words, tokens=pieces)
"""


def _measured(stamp: tuple[str, int, int], off: int, *, progress: Progress) -> MeasuredGeometry:
    """Return the geometry of rows drawn at random of the corpus of a stamp."""
    corpus = source.at(Path(stamp[0])).encoded
    num = len(corpus)
    if not num:
        raise ValueError("the corpus has no rows, so there is nothing to measure.")
    rows = np.sort(np.random.default_rng(0).choice(num, min(MEASURED_ROWS, num), replace=False))
    parts = []
    for number, layer in enumerate(corpus.layers):
        progress(0.8 * number / len(corpus.layers), f"Reading layer {layer}")
        parts.append(corpus.vectors(layer)[rows].astype(np.float32))
    named = [name for name in ("word", "piece") if name in corpus.columns]
    columns = corpus.rows(named).take(pa.array(rows)).to_pydict()
    words = columns.get("word", [str(row) for row in rows])
    pieces = columns.get("piece", words)
    vectors = without_rogue(np.stack(parts), words, off)
    same = [f"{word} {piece}" for word, piece in zip(words, pieces, strict=True)]
    return measure(corpus.layers, vectors, same)
