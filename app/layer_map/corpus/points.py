"""The points of the map of a corpus: their places, names and colours."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertcore.analysis.space.corpus_map import (
    CorpusMap,
    CorpusMapSettings,
    Region,
    corpus_map,
    dense_regions,
)
from bertcore.corpus import EncodedCorpus, open_encoded

from ...plots import shorten, theme

MAX_GROUPS = 12  # most values of a column that have their own colour; the others share a grey
OTHERS = "#A3A9B8"
LEVELS = 256
_OWN = ("word", "piece", "position", "document", "sentence", "word_id", "start", "end")
_NOT_COLOURS = ("start", "end", "word_id")


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A map with the names of its N points."""

    map: CorpusMap
    places: NDArray[np.uint16]
    """[L, N, 2] over a square that contains all layers."""
    words: tuple[str, ...]
    """Each different name once."""
    word_ids: NDArray[np.uint32]
    """Place of each point's name in `words`, [N]."""
    regions: tuple[tuple[Region, ...], ...]
    """Dense regions of each layer, their places over the square, 0 to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Colours:
    """The colour of each point."""

    title: str
    groups: tuple[str, ...]
    """Name of each colour; for a scale, its two ends."""
    palette: tuple[str, ...]
    """#rrggbb, at most 256."""
    codes: NDArray[np.uint8]
    """Place in the palette of each point, [N]."""
    is_scale: bool


def drawn(corpus: EncodedCorpus, found: CorpusMap) -> Drawn:
    """Return what the canvas draws of a map."""
    low, high = found.coordinates.min((0, 1)), found.coordinates.max((0, 1))
    size = float((high - low).max()) or 1.0
    unit = (found.coordinates - (low + high) / 2) / size + 0.5
    words, word_ids = _names(corpus, found.rows)
    names = np.array(words, dtype=object)[word_ids]
    return Drawn(
        map=found,
        places=np.round(unit * 65535).astype(np.uint16),
        words=words,
        word_ids=word_ids.astype(np.uint32),
        regions=tuple(dense_regions(place, names.tolist()) for place in unit),
    )


def _names(
    corpus: EncodedCorpus, rows: NDArray[np.int64]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the different names of some rows, and which each row has."""
    if "word" in corpus.columns:
        column = corpus.rows(["word"]).column("word").take(pa.array(rows))
    else:  # a row is a sentence
        column = corpus.sentences().column("text").take(pa.array(rows))
        column = pc.utf8_slice_codeunits(column, 0, 200)
    encoded = column.combine_chunks().dictionary_encode()
    return tuple(encoded.dictionary.to_pylist()), encoded.indices.to_numpy()


def colour_columns(corpus: EncodedCorpus) -> list[str]:
    """Return the columns that points may be coloured by: the corpus's own ones first."""
    own = [name for name in corpus.columns if name not in _OWN]
    return own + [name for name in _OWN if name in corpus.columns and name not in _NOT_COLOURS]


def colours_of(manifest: Path, settings: CorpusMapSettings, column: str) -> Colours:
    """Return the colours of a map's points by a column.

    Args:
        manifest: Of the corpus.
        settings: Of a map that is kept already.
        column: One of `colour_columns`.
    """
    corpus = open_encoded(manifest.parent.parent)
    rows = corpus_map(corpus, settings).rows
    values = corpus.rows([column]).column(column).take(pa.array(rows)).combine_chunks()
    return colours(column, values)


def colours(title: str, values: pa.Array) -> Colours:
    """Return the colours of values: a scale for many numbers, else a colour for each of a few.

    Nulls, NaN and rare values share a grey.
    """
    is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    if is_number and pc.count_distinct(values).as_py() > MAX_GROUPS:
        return _scale(title, values.cast(pa.float64()).to_numpy(zero_copy_only=False))
    names = np.array(
        ["none" if value is None else str(value) for value in values.to_pylist()], dtype=object
    )
    kinds, codes, counts = np.unique(names, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    kept = order if len(order) <= MAX_GROUPS else order[: MAX_GROUPS - 1]
    place = np.full(len(kinds), len(kept), dtype=np.uint8)
    place[kept] = np.arange(len(kept))
    groups = [shorten(str(kinds[i]), 60) for i in kept]
    palette = list(theme.CATEGORICAL[: len(kept)])
    if len(kept) < len(kinds):
        groups.append(f"{len(kinds) - len(kept):,} others")
        palette.append(OTHERS)
    return Colours(title, tuple(groups), tuple(palette), place[codes], False)


def _scale(title: str, values: NDArray[np.float64]) -> Colours:
    """Return a scale between the 1st and the 99th percentile; grey if there is no number."""
    finite = np.isfinite(values)
    low, high = np.percentile(values[finite], [1, 99]) if finite.any() else (0.0, 1.0)
    if high <= low:
        low, high = float(values[finite].min()), float(values[finite].max())
    span = high - low if high > low else 1.0
    levels = np.clip((np.where(finite, values, low) - low) / span, 0, 1) * (LEVELS - 2)
    codes = np.where(finite, np.round(levels), LEVELS - 1).astype(np.uint8)
    scale = theme.sampled(theme.SEQUENTIAL, LEVELS - 1)
    palette = ["#{:02x}{:02x}{:02x}".format(*rgb) for rgb in scale.tolist()] + [OTHERS]
    return Colours(title, (f"{low:,.4g}", f"{high:,.4g}"), tuple(palette), codes, True)
