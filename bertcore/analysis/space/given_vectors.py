"""A map of vectors of one's own: arrays or files, with labels beside them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bertcore.analysis.shared.collect import Progress, VectorTable
from bertcore.analysis.space.points import PointMap, map_points
from bertcore.analysis.space.projection import Settings
from bertcore.data.cells import as_text
from bertcore.data.columns import LABELS, normal
from bertcore.data.exports import open_rows
from bertcore.data.files import BadRows
from bertcore.data.texts import Sentence

MOST_VECTORS = 5000
"""Most vectors that are mapped; of more, evenly spaced ones are taken."""


def map_vectors(
    vectors: str | Path | NDArray[np.floating],
    labels: str | Path | Sequence[str] | None = None,
    *,
    dims: int = 2,
    method: str = "pca",
    space: str = "joint",
    level_layers: bool = True,
    settings: Settings | None = None,
    axes: Sequence[str] = (),
    progress: Progress | None = None,
) -> PointMap:
    """Return a map of vectors from anywhere; no checkpoint is needed.

    Args:
        vectors: [N, D], or [L, N, D] of several layers; or a .npy file of them, or a .parquet file
            with a column of lists of numbers, whose other columns are labels and names.
        labels: N; or a table (.csv, .tsv, ...) with a row for each vector. The label is the column
            with a usual name ("label", "class", ...), else the first whose values repeat; the first
            other column names the points.

    The others, and errors, are those of `map_points`; ValueError too if shapes do not fit.
    """
    return map_points(
        None,
        vector_table(vectors, labels),
        dims=dims,
        method=method,
        space=space,
        level_layers=level_layers,
        settings=settings,
        axes=axes,
        progress=progress,
    )


def vector_table(
    vectors: str | Path | NDArray[np.floating], labels: str | Path | Sequence[str] | None = None
) -> VectorTable:
    """Return vectors as points; arguments and errors as of `map_vectors`."""
    given: NDArray[np.floating] | list[Any]
    if isinstance(vectors, str | Path):
        given, columns = _read_vectors(Path(vectors))
    else:
        given, columns = vectors, {}
    try:
        layers = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the vectors are no numbers of one shape ({error}).") from error
    layers = layers[None] if layers.ndim == 2 else layers
    if layers.ndim != 3 or 0 in layers.shape:
        raise ValueError(
            f"the vectors have the shape {list(layers.shape)}; expected [points, numbers], or "
            "[layers, points, numbers]."
        )
    if isinstance(labels, str | Path):
        columns = _read_columns(Path(labels))
    elif labels is not None:
        columns = {"label": [str(label) for label in labels]}
    num = layers.shape[1]
    if odd := [len(values) for values in columns.values() if len(values) != num]:
        raise ValueError(
            f"there are {num:,} vectors, but {odd[0]:,} labels; expected one for each, in order."
        )
    usual = [name for name in columns if normal(name) in LABELS]
    repeated = [name for name, values in columns.items() if 2 * len({*values}) <= num]
    of_points = columns.pop(next(iter([*usual, *repeated]), ""), [""] * num)
    names = next(iter(columns.values()), [f"row {place + 1}" for place in range(num)])
    kept = np.unique(np.linspace(0, num - 1, min(num, MOST_VECTORS)).astype(int))
    note = f"There are {num:,} vectors: {MOST_VECTORS:,} of them, evenly spaced, are drawn."
    shown, zeros = tuple(names[place] for place in kept), np.zeros(len(kept), dtype=np.int64)
    return VectorTable(
        vectors=layers[:, kept],
        tokens=shown,
        words=shown,
        sentence_ids=np.arange(len(kept)),
        positions=kept,
        word_ids=zeros - 1,
        segment_ids=zeros,
        is_special=zeros > 0,
        spans=((0, 0),) * len(kept),
        sentences=tuple(Sentence(names[place], None, of_points[place]) for place in kept),
        notes=(note,) if num > MOST_VECTORS else (),
    )


def _read_vectors(path: Path) -> tuple[NDArray[np.floating] | list[Any], dict[str, list[str]]]:
    """Return the vectors of a file, and its other columns by name."""
    if path.suffix.lower() == ".parquet":
        columns: dict[str, list[Any]] = pq.read_table(path).to_pydict()
        lists = [name for name, cells in columns.items() if isinstance(next(iter(cells), 0), list)]
        if lists:
            vectors = columns.pop(lists[0])
            return vectors, {name: [*map(as_text, cells)] for name, cells in columns.items()}
    else:
        try:
            return np.load(path, allow_pickle=False), {}
        except (ValueError, EOFError):
            pass
    raise ValueError(
        f"{str(path)!r} has no vectors; expected an array of numbers (.npy), or a column of lists "
        "of numbers (.parquet)."
    )


def _read_columns(path: Path) -> dict[str, list[str]]:
    """Return the cells of a table by column; one column has a header if its name is usual."""

    def has_header(cells: Sequence[str]) -> bool:
        return len(cells) > 1 or normal(cells[0]) in {*LABELS, "word", "token", "name"}

    with open_rows(path, BadRows(), has_header=has_header) as table:
        rows = [[as_text(cell) for cell in row.cells] for row in table.rows]
        return {name: [row[place] for row in rows] for place, name in enumerate(table.columns)}
