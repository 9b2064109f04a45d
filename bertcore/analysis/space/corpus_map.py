"""A map of an encoded corpus: fitted on a sample, applied to the other rows, and stored beside it.

One map shows all chosen layers, so that a point can be followed from layer to layer: each layer is
brought to mean 0 and mean squared length 1, and the map is fitted to sampled rows of all of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bertcore.analysis.space.map_quality import Faithfulness, faithfulness
from bertcore.analysis.space.projection import METHODS, MIN_EMBEDDED, Settings, fit, pca
from bertcore.base.whole_files import whole_file
from bertcore.configs.maps import PacmapSettings, TsneSettings, UmapSettings
from bertcore.corpus.encoded import EncodedCorpus
from bertcore.corpus.parts import about

if TYPE_CHECKING:
    from bertcore.analysis.shared.collect import Progress


FORMAT = 1
"""Format of the stored files; one with another format is recomputed."""
MAX_POINTS = 200_000
"""Maximum number of points of a map; if there are more rows, a random sample."""
MIN_POINTS = 4
"""Minimum number of distinct rows for a map."""
CELLS = 28
"""Squares on a side of the grid in which dense regions are counted."""
_ROWS_TOGETHER = 8192


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusMapSettings:
    """What is mapped, and how; ValueError if a value is out of range."""

    layers: tuple[int, ...]
    """Hidden states to map, from those in the corpus."""
    method: str = "pca"
    """One of METHODS."""
    num_points: int = MAX_POINTS
    """Maximum number of rows drawn."""
    num_fitted: int = 10_000
    """Number of rows, over all layers, to which the map is fitted."""
    umap: UmapSettings = field(default_factory=UmapSettings)
    tsne: TsneSettings = field(default_factory=TsneSettings)
    pacmap: PacmapSettings = field(default_factory=PacmapSettings)
    seed: int = 0
    """Draws the rows."""

    def __post_init__(self) -> None:
        if not self.layers:
            raise ValueError("no layer was chosen. Choose at least one.")
        if self.method not in METHODS:
            raise ValueError(f"method is {self.method!r}; expected one of {', '.join(METHODS)}.")
        if not MIN_POINTS <= self.num_points <= MAX_POINTS:
            raise ValueError(
                f"num_points is {self.num_points}; expected {MIN_POINTS} to {MAX_POINTS:,}."
            )
        if self.num_fitted < MIN_POINTS:
            raise ValueError(f"num_fitted is {self.num_fitted}; expected at least {MIN_POINTS}.")

    @property
    def parameters(self) -> Settings | None:
        """Parameters of the method; None for PCA, which has none."""
        of_methods: dict[str, Settings] = {
            "umap": self.umap,
            "tsne": self.tsne,
            "pacmap": self.pacmap,
        }
        return of_methods.get(self.method)

    @property
    def metric(self) -> str:
        """Distance between vectors, also used to measure the map; for PCA, that of `umap`."""
        return (self.parameters or self.umap).metric


@dataclass(frozen=True, slots=True, eq=False)
class CorpusMap:
    """The places of N rows of an encoded corpus at each of L layers."""

    layers: tuple[int, ...]
    rows: NDArray[np.int64]
    """Their numbers in the corpus, rising, [N]."""
    coordinates: NDArray[np.float32]
    """[L, N, 2]"""
    explained: NDArray[np.float64]
    """Fraction of a layer's variance that PCA shows along each axis, [L, 2]; NaN for the others."""
    quality: Faithfulness
    """Quality on a sample of the rows, by layer."""
    num_fitted: int
    """Number of rows of each layer to which the map was fitted."""
    num_left_out: int
    """Number of rows whose vectors contain NaN or infinity."""


def corpus_map(
    corpus: EncodedCorpus,
    settings: CorpusMapSettings,
    *,
    progress: Progress | None = None,
    keep: bool = True,
) -> CorpusMap:
    """Return the map of an encoded corpus; the stored one if it was computed before.

    Args:
        progress: Called with the fraction done and the stage; may raise to stop.
        keep: Store the map beside the corpus, as _about/map-....npz, for later use. That file may
            be deleted at any time.

    ValueError if a layer is not stored, the package of the method is not installed, or there are
    too few distinct rows for it. OSError if the map cannot be written.
    """
    report = progress or (lambda fraction, stage: None)
    corpus.check_layers(*settings.layers)
    path = kept_map(corpus, settings)
    if path.is_file():
        found = _read(path, settings)
        if found is not None:
            return found
    found = _compute(corpus, settings, report)
    if keep:
        _write(path, found)
    report(1.0, "Done")
    return found


def kept_map(corpus: EncodedCorpus, settings: CorpusMapSettings) -> Path:
    """Return the path of the stored map; its name depends on the settings and the corpus."""
    manifest = corpus.manifest
    chosen = asdict(settings)
    for method in ("tsne", "pacmap"):  # UMAP's parameters have always been in the name
        if method != settings.method:
            del chosen[method]
    content = {
        "format": FORMAT,
        "fingerprint": manifest.fingerprint,
        "sources": [source.get("sha256") for source in manifest.sources],
        "encoding": asdict(manifest.settings),
        "rows": len(corpus),
        "map": chosen,
    }
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return about(corpus.folder) / f"map-{digest[:16]}.npz"


def _compute(corpus: EncodedCorpus, settings: CorpusMapSettings, report: Progress) -> CorpusMap:
    rng = np.random.default_rng(settings.seed)
    rows = _drawn(rng, np.arange(len(corpus)), settings.num_points)
    layers, stored = settings.layers, []
    for number, layer in enumerate(layers):
        report(0.1 * number / len(layers), f"Opening layer {layer}")
        stored.append(corpus.vectors(layer))
    each = max(MIN_POINTS, settings.num_fitted // len(layers))
    fitted = _drawn(rng, rows, each)
    samples = [stored[i][fitted].astype(np.float32) for i in range(len(layers))]
    finite = np.isfinite(samples).all((0, 2))
    fitted, samples = fitted[finite], [sample[finite] for sample in samples]
    distinct = min(len(np.unique(sample, axis=0)) for sample in samples) if len(fitted) else 0
    if distinct < MIN_POINTS:
        raise ValueError(
            f"{str(corpus.folder)!r} has {distinct} different vectors in a layer; a map needs at "
            f"least {MIN_POINTS}. Encode more text."
        )
    levels = [_Level.of(sample) for sample in samples]
    stack = np.concatenate(
        [level.apply(sample) for level, sample in zip(levels, samples, strict=True)]
    )
    transform = _fitted(stack, settings, report)
    coordinates = np.empty((len(layers), len(rows), 2), dtype=np.float32)
    done, total = 0, len(layers) * len(rows)
    for number, (layer, level) in enumerate(zip(layers, levels, strict=True)):
        for start in range(0, len(rows), _ROWS_TOGETHER):
            share = 0.5 + 0.5 * done / total
            report(share, f"Placing {done:,} of {total:,} points (layer {layer})")
            part = rows[start : start + _ROWS_TOGETHER]
            vectors = level.apply(stored[number][part].astype(np.float32))
            whole = np.isfinite(vectors).all(1)
            placed = coordinates[number, start : start + len(part)]
            placed[:] = np.nan
            if whole.any():
                placed[whole] = transform(vectors[whole])
            done += len(part)
    whole = np.isfinite(coordinates).all((0, 2))
    num_left_out = int((~whole).sum())
    rows, coordinates = rows[whole], coordinates[:, whole]
    places = np.searchsorted(rows, fitted)
    levelled = stack.reshape(len(layers), len(fitted), -1)
    quality = faithfulness(levelled, coordinates[:, places], metric=settings.metric)
    explained = np.full((len(layers), 2), np.nan)
    if settings.method == "pca":
        spread = levelled.var(1).sum(-1)[:, None]
        along = coordinates[:, places].var(1)
        explained = np.divide(along, spread, out=np.zeros_like(along), where=spread > 0)
    of_layers = explained.astype(np.float64)
    return CorpusMap(layers, rows, coordinates, of_layers, quality, len(fitted), num_left_out)


def _drawn(rng: np.random.Generator, rows: NDArray[np.int64], num: int) -> NDArray[np.int64]:
    """Return at most `num` of the rows, in order."""
    if len(rows) <= num:
        return rows
    return np.sort(rng.choice(rows, num, replace=False))


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """The shift and scale that bring a layer's rows to mean 0 and mean squared length 1."""

    mean: NDArray[np.float32]
    size: float

    @staticmethod
    def of(sample: NDArray[np.float32]) -> _Level:
        mean = sample.mean(0, dtype=np.float64)
        size = float(np.sqrt(((sample - mean) ** 2).sum(1).mean()))
        largest = float(np.abs(sample).max(initial=0.0))
        return _Level(mean.astype(np.float32), size if size > largest * 1e-6 else 1.0)

    def apply(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        level: NDArray[np.float32] = (vectors - self.mean) / np.float32(self.size)
        return level


def _fitted(
    stack: NDArray[np.float32], settings: CorpusMapSettings, report: Progress
) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    """Fit the map to the sample; return the function that places vectors [N, D] in it, [N, 2]."""
    parameters = settings.parameters
    if parameters is None:
        report(0.2, "Fitting PCA")
        return pca(stack, 2).transform

    distinct = np.unique(stack, axis=0)
    if len(distinct) < MIN_EMBEDDED:
        raise ValueError(
            f"the sample has {len(distinct)} different vectors; {METHODS[settings.method]} needs "
            f"{MIN_EMBEDDED}. Use PCA, or encode more text."
        )

    def within(fraction: float, stage: str) -> None:
        report(0.1 + 0.4 * fraction, stage)

    return fit(distinct, 2, parameters, progress=within).transform


def _read(path: Path, settings: CorpusMapSettings) -> CorpusMap | None:
    """Return a stored map; None if it is damaged, so that it is computed again."""
    try:
        with np.load(path) as file:
            quality = Faithfulness(
                file["trustworthiness"],
                file["continuity"],
                file["overlap"],
                int(file["k"]),
                int(file["num_measured"]),
                file["num_copies"],
            )
            return CorpusMap(
                settings.layers,
                file["rows"],
                file["coordinates"],
                file["explained"],
                quality,
                int(file["num_fitted"]),
                int(file["num_left_out"]),
            )
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None


def _write(path: Path, made: CorpusMap) -> None:
    arrays: dict[str, Any] = {
        "rows": made.rows,
        "coordinates": made.coordinates,
        "explained": made.explained,
        "trustworthiness": made.quality.trustworthiness,
        "continuity": made.quality.continuity,
        "overlap": made.quality.overlap,
        "k": made.quality.k,
        "num_measured": made.quality.num_points,
        "num_copies": made.quality.num_copies,
        "num_fitted": made.num_fitted,
        "num_left_out": made.num_left_out,
    }
    with whole_file(path) as partial, partial.open("wb") as file:
        np.savez(file, **arrays)


@dataclass(frozen=True, slots=True)
class Region:
    """A dense region of a map and its content."""

    x: float
    y: float
    name: str
    """The word that is most over-represented there."""
    num_points: int


def dense_regions(
    places: NDArray[np.floating], names: Sequence[str], *, most: int = 14
) -> tuple[Region, ...]:
    """Return the densest regions of a map, each named after its most characteristic word.

    The map is divided into CELLS x CELLS squares. A region is a cell that no neighbour exceeds,
    with its neighbours; its name is the word with the largest n log(n / expected), where n counts
    the word in the region and `expected` is the number that its share of the whole map would give.

    Args:
        places: [N, 2].
        names: The word of each point.
        most: Regions at most; each name stands once.

    Source: ours; the score is the word's part of the log-likelihood ratio (Dunning 1993).
    """
    if not len(places):
        return ()
    cells = CELLS
    low, high = places.min(0), places.max(0)
    size = np.where(high > low, high - low, 1.0)
    at = np.minimum(((places - low) / size * cells).astype(np.int64), cells - 1)
    cell = at[:, 0] * cells + at[:, 1]
    counts = np.bincount(cell, minlength=cells * cells).reshape(cells, cells)
    padded = np.pad(counts, 1)
    around = np.stack(
        [
            padded[i : i + cells, j : j + cells]
            for i in range(3)
            for j in range(3)
            if (i, j) != (1, 1)
        ]
    )
    peaks = np.argwhere((counts > 0) & (counts >= around.max(0)))
    order = np.argsort(-counts[peaks[:, 0], peaks[:, 1]], kind="stable")
    words, codes = np.unique(np.asarray(names, dtype=str), return_inverse=True)
    share = np.bincount(codes, minlength=len(words)) / len(codes)
    by_cell = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[by_cell], np.arange(cells * cells + 1))
    found: list[Region] = []
    taken: set[int] = set()
    for i, j in peaks[order]:
        inside = np.concatenate(
            [
                by_cell[starts[a * cells + b] : starts[a * cells + b + 1]]
                for a in range(max(0, i - 1), min(cells, i + 2))
                for b in range(max(0, j - 1), min(cells, j + 2))
            ]
        )
        own = np.bincount(codes[inside], minlength=len(words))
        present = np.flatnonzero(own)
        scores = own[present] * np.log(own[present] / (len(inside) * share[present]))
        best = int(present[scores.argmax()])
        if best in taken:
            continue
        taken.add(best)
        middle = np.median(places[inside[codes[inside] == best]], axis=0)
        found.append(Region(float(middle[0]), float(middle[1]), str(words[best]), len(inside)))
        if len(found) == most:
            break
    return tuple(found)


ID, TEXT = "row", "text"


def atlas_table(
    corpus: EncodedCorpus, settings: CorpusMapSettings, *, progress: Progress | None = None
) -> pa.Table:
    """Return a row for each point of a corpus map.

    Columns: `row` (the number of the row in the corpus), the corpus's own columns, `text` (the
    sentence of the row), and x_N and y_N for each layer N. A column of the corpus with one of these
    names gets the prefix `corpus_`.

    Args:
        settings: What is mapped; `settings.num_points` is the maximum number of rows.
        progress: As of `corpus_map`.

    ValueError or OSError as of `corpus_map`.
    """
    found = corpus_map(corpus, settings, progress=progress)
    rows = corpus.rows().take(pa.array(found.rows))
    columns: dict[str, Any] = {ID: pa.array(found.rows)}
    texts = sentences_of(corpus, corpus.sentences(), found.rows)
    ours = {ID, TEXT, *(f"{axis}_{layer}" for layer in found.layers for axis in "xy")}
    for name in rows.column_names:
        columns[f"corpus_{name}" if name in ours else name] = rows.column(name)
    columns[TEXT] = texts
    for layer, places in zip(found.layers, found.coordinates, strict=True):
        for axis, letter in enumerate("xy"):
            columns[f"{letter}_{layer}"] = pa.array(np.ascontiguousarray(places[:, axis]))
    return pa.table(columns)


def write_atlas(table: pa.Table, path: Path) -> None:
    """Write a table of `atlas_table`, whole or not at all; OSError if it cannot be written."""
    with whole_file(path) as partial:
        pq.write_table(table, partial, compression="ZSTD")


def sentences_of(
    corpus: EncodedCorpus, texts: pa.Table, rows: NDArray[np.int64]
) -> pa.ChunkedArray:
    """Return the sentence of each row.

    Args:
        texts: Its `sentences()`.
    """
    where = corpus.rows(["document", "sentence"]).take(pa.array(rows))
    keys = [_keys(table) for table in (texts, where)]
    order = np.argsort(keys[0], kind="stable")
    places = order[np.searchsorted(keys[0], keys[1], sorter=order)]
    return texts.column("text").take(pa.array(places))


def _keys(table: pa.Table) -> NDArray[np.int64]:
    """Return document and sentence as one number."""
    documents, sentences = (table.column(name).to_numpy() for name in ("document", "sentence"))
    keys: NDArray[np.int64] = (documents << 32) + sentences
    return keys
