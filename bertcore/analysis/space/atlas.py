"""Maps of an encoded corpus as one Parquet file for embedding-atlas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bertcore.analysis.space.corpus_map import CorpusMapSettings, corpus_map
from bertcore.base.whole_files import whole_file
from bertcore.corpus.encoded import EncodedCorpus

if TYPE_CHECKING:
    from bertcore.analysis.shared.collect import Progress

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
