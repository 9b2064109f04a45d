"""The choice of index for searching a corpus."""

from bertcore.corpus.encoded import EncodedCorpus
from bertcore.corpus.search.exact import ExactIndex
from bertcore.corpus.search.found import VectorIndex
from bertcore.corpus.search.graph import GraphIndex, OnProgress, build_graph

EXACT_ROWS = 300_000
"""Rows up to which every one is compared: at a width of 256 this is imperceptibly fast, and there
is nothing to build; `benchmarks search` has the times."""


def open_index(
    encoded: EncodedCorpus,
    layer: int,
    *,
    exact: bool | None = None,
    rebuild: bool = False,
    on_progress: OnProgress = lambda fraction, stage: None,
) -> VectorIndex:
    """Return the index of a layer, built if needed.

    Args:
        layer: Of `encoded.layers`.
        exact: Compare every row, or use a graph; None: a graph above EXACT_ROWS.
        rebuild: Build the graph again.
        on_progress: Called with the progress of the build.

    ValueError: see `build_graph`. OSError if a file cannot be written.
    """
    if exact is None:
        exact = len(encoded) <= EXACT_ROWS and not rebuild
    if exact:
        return ExactIndex(encoded.vectors(layer))
    build_graph(encoded, layer, rebuild=rebuild, on_progress=on_progress)
    return GraphIndex(encoded, layer)
