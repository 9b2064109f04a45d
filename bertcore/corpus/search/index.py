"""The choice of index for searching a corpus."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.corpus.encoded import EncodedCorpus
from bertcore.corpus.search.found import Found, VectorIndex, unit_queries
from bertcore.corpus.search.graph import GraphIndex, OnProgress, build_graph

_ROWS = 16_384  # compared together: 16 MB in float32 at a width of 256


class ExactIndex(VectorIndex):
    """Compares all rows, block by block; only their lengths are kept in memory.

    Args:
        vectors: [R, D], may be memory-mapped.
    """

    def __init__(self, vectors: NDArray[np.float16]) -> None:
        self._vectors = vectors
        lengths = [torch.linalg.vector_norm(block, dim=1) for _, block in self._blocks()]
        self._lengths = torch.cat([torch.empty(0), *lengths])
        self._usable = torch.isfinite(self._lengths) & (self._lengths > 0)
        self.num_rows = len(vectors)
        self.num_left_out = int((~self._usable).sum())

    def search(self, queries: NDArray[np.floating], k: int) -> list[Found]:
        """Return the nearest rows to each vector; see `VectorIndex.search`."""
        given = torch.from_numpy(unit_queries(queries, self._vectors.shape[1], k))
        best = [(torch.empty(0, dtype=torch.long), torch.empty(0)) for _ in given]
        for start, block in self._blocks():
            end = start + len(block)
            usable = self._usable[start:end]
            near = torch.where(usable, given @ block.T / self._lengths[start:end], -torch.inf)
            places = torch.arange(start, end)
            for number, (rows, cosines) in enumerate(best):
                joined = torch.cat([rows, places]), torch.cat([cosines, near[number]])
                best[number] = _highest(*joined, k)
        return [
            Found(rows[cosines > -torch.inf].numpy(), cosines[cosines > -torch.inf].numpy())
            for rows, cosines in best
        ]

    def _blocks(self) -> Iterator[tuple[int, Tensor]]:
        for start in range(0, len(self._vectors), _ROWS):
            block = np.array(self._vectors[start : start + _ROWS])  # off the read-only map
            yield start, torch.from_numpy(block).float()


def _highest(rows: Tensor, cosines: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k rows with the highest cosines, in order; the first ones if tied."""
    least = cosines.topk(min(k, len(cosines))).values[-1]
    kept = (cosines >= least).nonzero()[:, 0]  # with all that equal the last one
    kept = kept[cosines[kept].sort(descending=True, stable=True).indices[:k]]
    return rows[kept], cosines[kept]


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
