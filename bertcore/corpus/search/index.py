"""Indexes of an encoded corpus: a comparison of every row, or a graph of neighbours (HNSW).

The graph is made and searched by usearch, and memory-mapped:

    DIR/_about/index-layer-2/graph.usearch   the graph, one point for each distinct vector
    DIR/_about/index-layer-2/rows.npy        the rows of each point, one after the other
    DIR/_about/index-layer-2/starts.npy      where each point's rows begin
    DIR/_about/index-layer-2/about.json      what it was made from

Equal vectors are one point: thousands of them, such as every "the" at one position in layer 0,
would fill each other's neighbour lists and split the graph. The graph stores bfloat16, which is
fast to build; its results are compared again with the vectors themselves, so cosines are exact. The
folder is written under a temporary name and renamed: it is complete or absent.
"""

import hashlib
import importlib.util
import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertcore.corpus.encoded import EncodedCorpus
from bertcore.corpus.parts import about, layer_file
from bertcore.corpus.size import readable_bytes
from bertcore.training.run_lock import lock_run


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The nearest rows to one vector, the nearest first."""

    rows: NDArray[np.int64]
    """[K]; fewer than were asked for where there are no more."""
    cosines: NDArray[np.float32]
    """[K], exact."""


class VectorIndex(ABC):
    """The rows of one layer of an encoded corpus, searchable by cosine.

    Rows without a direction (NaN, infinity, or all zero) are never found.
    """

    num_rows: int
    """Of the layer."""
    num_left_out: int
    """Rows without a direction."""

    @abstractmethod
    def search(self, queries: NDArray[np.floating], k: int) -> list[Found]:
        """Return the nearest rows to each of Q vectors.

        Args:
            queries: [Q, D], of any non-zero length.
            k: Number of rows, at least 1.

        ValueError if `queries` has another shape or no direction, or `k` is below 1.
        """


def has_direction(vectors: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Return which vectors, [N, D], have a finite length that is not zero, [N]."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(np.asarray(vectors, np.float32), axis=1)
    found: NDArray[np.bool_] = np.isfinite(lengths) & (lengths > 0)
    return found


def unit_queries(queries: NDArray[np.floating], width: int, k: int) -> NDArray[np.float32]:
    """Return queries as float32 of length 1, [Q, D].

    ValueError if they have another shape or no direction, or `k` is below 1.
    """
    given = np.asarray(queries, np.float32)
    if given.ndim != 2 or given.shape[1] != width:
        raise ValueError(f"queries have the shape {list(given.shape)}; expected [Q, {width}].")
    if k < 1:
        raise ValueError(f"k is {k}; expected at least 1.")
    wrong = np.flatnonzero(~has_direction(given))
    if len(wrong):
        raise ValueError(
            f"query {wrong[0]} has no direction: it is zero, or not finite. Give another vector."
        )
    found: NDArray[np.float32] = given / np.linalg.norm(given, axis=1, keepdims=True)
    return found


FORMAT = 1
CONNECTIVITY, EXPANSION = 16, 64
"""Neighbours of a point, and points that are looked at to find them: see `benchmarks search`."""
CANDIDATES, FEWEST_CANDIDATES = 4, 64
"""Points that are compared exactly for each row that is asked for, and at least."""
_GRAPH_ROWS = 8192
_BYTES_OF_LINKS = 360  # of a point, beside its vector of 2 D bytes
_MARGIN = 1.05

OnProgress = Callable[[float, str], None]
"""Called with the fraction done and what is being done; may raise to stop."""


@dataclass(frozen=True, slots=True)
class IndexAbout:
    checkpoint: str
    fingerprint: str
    """Of the checkpoint's weights."""
    encoding: str
    """sha256 of all that decides the layer's vectors."""
    layer: int
    num_rows: int
    num_left_out: int
    """Rows without a direction."""
    num_points: int
    """Distinct vectors."""
    num_bytes: int
    """Of the file of the graph: a shorter one, mapped, would end the process."""
    format: int = FORMAT


class GraphIndex(VectorIndex):
    """An opened index written by `build_graph`.

    Args:
        encoded: The corpus it was made from.
        layer: Of `encoded.layers`.

    ValueError if there is none, it is damaged, or it was made by another checkpoint or from another
    corpus; if usearch is not installed.
    """

    def __init__(self, encoded: EncodedCorpus, layer: int) -> None:
        check_usearch()
        from usearch.index import Index

        folder = index_folder(encoded, layer)
        self.about = _read_about(folder)
        _check_same(self.about, encoded, layer)
        self._vectors = encoded.vectors(layer)
        self.num_rows, self.num_left_out = self.about.num_rows, self.about.num_left_out
        if not self.about.num_points:
            return  # an empty file cannot be mapped
        try:
            self._rows = np.load(folder / "rows.npy", mmap_mode="r")
            self._starts = np.load(folder / "starts.npy", mmap_mode="r")
            graph = folder / "graph.usearch"
            if graph.stat().st_size != self.about.num_bytes:
                raise ValueError("its graph is truncated")
            self._graph: Any = Index.restore(str(graph), view=True)
            if self._graph is None or len(self._graph) != self.about.num_points:
                raise ValueError("its graph is not the one that was written")
        except (OSError, ValueError, RuntimeError) as error:
            raise ValueError(
                f"{str(folder)!r} cannot be read ({error}). Build it again: {_rebuild(folder)}."
            ) from error

    def search(self, queries: NDArray[np.floating], k: int) -> list[Found]:
        """Return the rows that are most probably the nearest; see `VectorIndex.search`."""
        given = unit_queries(queries, self._vectors.shape[1], k)
        if not self.about.num_points:
            nothing = Found(np.empty(0, np.int64), np.empty(0, np.float32))
            return [nothing for _ in given]
        count = min(self.about.num_points, max(CANDIDATES * k, FEWEST_CANDIDATES))
        return [
            self._nearest(query, np.asarray(self._graph.search(query, count).keys, np.int64), k)
            for query in given
        ]

    def _nearest(self, query: NDArray[np.float32], points: NDArray[np.int64], k: int) -> Found:
        """Return the nearest rows of some points, compared exactly."""
        firsts = self._rows[self._starts[points]]
        vectors = np.array(self._vectors[firsts], np.float32)
        cosines = vectors @ query / np.linalg.norm(vectors, axis=1)
        order = np.lexsort((firsts, -cosines))
        rows: list[NDArray[np.int64]] = []
        near: list[NDArray[np.float32]] = []
        num = 0
        for place in order:
            point = points[place]
            same = self._rows[self._starts[point] : self._starts[point + 1]][: k - num]
            rows.append(same)
            near.append(np.full(len(same), cosines[place], np.float32))
            num += len(same)
            if num >= k:
                break
        return Found(np.concatenate(rows), np.concatenate(near))


def build_graph(
    encoded: EncodedCorpus,
    layer: int,
    *,
    rebuild: bool = False,
    on_progress: OnProgress = lambda fraction, stage: None,
) -> IndexAbout:
    """Build the index of a layer atomically; an existing one is kept.

    Its graph is in memory until it is written: about 2 D + 360 bytes for each distinct vector.

    Args:
        layer: Of `encoded.layers`.
        rebuild: Replace an existing index, whatever it was made from.

    ValueError if the layer does not exist, usearch is not installed, the disk has no room, or
    another process writes in the folder; if the existing index was made by another checkpoint or
    from another corpus. OSError if it cannot be written.
    """
    check_usearch()
    from usearch.index import Index

    vectors = encoded.vectors(layer)
    target = index_folder(encoded, layer)
    with lock_run(about(encoded.folder)):
        if target.is_dir() and not rebuild:
            found = _read_about(target)
            _check_same(found, encoded, layer)
            return found
        _check_room(encoded)
        building = target.with_name(f".{target.name}.building")
        old = target.with_name(f".{target.name}.old")
        for left in (building, old):  # by a kill
            shutil.rmtree(left, ignore_errors=True)
        building.mkdir()
        try:
            rows, starts = _points(vectors, on_progress)
            graph = Index(
                ndim=encoded.manifest.hidden_size,
                metric="cos",
                dtype="bf16",
                connectivity=CONNECTIVITY,
                expansion_add=EXPANSION,
                expansion_search=EXPANSION,
            )
            firsts = rows[starts[:-1]]
            for start in range(0, len(firsts), _GRAPH_ROWS // 8):
                chosen = firsts[start : start + _GRAPH_ROWS // 8]
                keys = np.arange(start, start + len(chosen), dtype=np.uint64)
                values = np.array(vectors[chosen], np.float32)
                graph.add(keys, values, threads=torch.get_num_threads())
                on_progress(0.1 + 0.9 * (start + len(chosen)) / len(firsts), "building the index")
            graph.save(str(building / "graph.usearch"))
            np.save(building / "rows.npy", rows)
            np.save(building / "starts.npy", starts)
            made = IndexAbout(
                checkpoint=encoded.manifest.checkpoint,
                fingerprint=encoded.manifest.fingerprint,
                encoding=_digest_of(encoded, layer),
                layer=layer,
                num_rows=len(vectors),
                num_left_out=len(vectors) - len(rows),
                num_points=len(firsts),
                num_bytes=(building / "graph.usearch").stat().st_size,
            )
            (building / "about.json").write_text(json.dumps(asdict(made), indent=1) + "\n")
            for path in building.iterdir():
                with path.open("rb") as file:
                    os.fsync(file.fileno())
            if target.is_dir():
                os.replace(target, old)
            os.replace(building, target)
            shutil.rmtree(old, ignore_errors=True)
        finally:
            shutil.rmtree(building, ignore_errors=True)
    return made


def index_folder(encoded: EncodedCorpus, layer: int) -> Path:
    return about(encoded.folder) / f"index-layer-{layer}"


def check_usearch() -> None:
    """Check that usearch is installed; ValueError if it is not."""
    if importlib.util.find_spec("usearch") is None:
        raise ValueError(
            "usearch, which an index needs, is not installed. Install it with: pip install "
            "'bertscope[scale]'; or search exactly, with --exact."
        )


def _points(
    vectors: NDArray[np.float16], on_progress: OnProgress
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of each distinct vector with a direction, and where each one's rows begin.

    Points are in the order of their first rows, and the rows of a point in order.
    """
    digests = np.zeros((len(vectors), 2), np.uint64)
    usable = np.zeros(len(vectors), bool)
    for start in range(0, len(vectors), _GRAPH_ROWS):
        block = np.ascontiguousarray(vectors[start : start + _GRAPH_ROWS])
        usable[start : start + len(block)] = has_direction(block)
        # 128 bits: among a billion vectors, two different ones share them with odds of 1 to 10^20.
        found = b"".join(hashlib.blake2b(row.data, digest_size=16).digest() for row in block)
        digests[start : start + len(block)] = np.frombuffer(found, np.uint64).reshape(-1, 2)
        on_progress(0.1 * (start + len(block)) / len(vectors), "finding equal vectors")
    kept = np.flatnonzero(usable)
    order = kept[np.lexsort((digests[kept, 1], digests[kept, 0]))]
    is_new = np.ones(len(order), bool)
    is_new[1:] = (digests[order[1:]] != digests[order[:-1]]).any(1)
    # Sorted by the first row of its point, and within it by the row: lexsort is stable.
    firsts = order[is_new][np.cumsum(is_new) - 1]
    by_first = np.lexsort((order, firsts))
    rows, firsts = order[by_first], firsts[by_first]
    starts = np.flatnonzero(np.diff(firsts, prepend=-1))
    return rows.astype(np.int64), np.append(starts, len(rows)).astype(np.int64)


def _digest_of(encoded: EncodedCorpus, layer: int) -> str:
    """Return the sha256 of everything that determines the vectors of a layer."""
    manifest = encoded.manifest
    settings = {**asdict(manifest.settings), "layers": layer}
    settings.pop("tokens_per_batch")
    numbers = range(len(manifest.parts))
    values = {
        "fingerprint": manifest.fingerprint,
        "tokenizer": manifest.tokenizer,
        "dtype": manifest.dtype,
        "settings": settings,
        "sources": [source["sha256"] for source in manifest.sources],
        "parts": [layer_file(encoded.folder, layer, i).stat().st_size for i in numbers],
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _read_about(folder: Path) -> IndexAbout:
    path = folder / "about.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values["format"] != FORMAT:
            raise ValueError(f"its format is {values['format']}, expected {FORMAT}")
        return IndexAbout(**values)
    except FileNotFoundError:
        raise ValueError(f"there is no index in {str(folder)!r}. Build it first.") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{str(path)!r} cannot be read ({error}). Build the index again: {_rebuild(folder)}."
        ) from error


def _check_same(found: IndexAbout, encoded: EncodedCorpus, layer: int) -> None:
    """Reject an index made by another checkpoint or from another corpus."""
    folder, manifest = index_folder(encoded, layer), encoded.manifest
    if found.fingerprint != manifest.fingerprint:
        raise ValueError(
            f"the index {str(folder)!r} was made by the checkpoint {found.checkpoint!r} "
            f"({found.fingerprint[:12]}), but the vectors are those of {manifest.checkpoint!r} "
            f"({manifest.fingerprint[:12]}). Build it again: {_rebuild(folder)}."
        )
    if found.encoding != _digest_of(encoded, layer):
        raise ValueError(
            f"the corpus or its encoding has changed since the index {str(folder)!r} was made "
            f"({found.num_rows:,} rows then, {len(encoded):,} now). Build it again: "
            f"{_rebuild(folder)}."
        )


def _rebuild(folder: Path) -> str:
    layer = folder.name.rpartition("-")[2]
    return f"bertscope search {folder.parents[1]} --layer {layer} --rebuild"


def _check_room(encoded: EncodedCorpus) -> None:
    needed = _MARGIN * len(encoded) * (2 * encoded.manifest.hidden_size + _BYTES_OF_LINKS)
    free = shutil.disk_usage(encoded.folder).free
    if needed > free:
        raise ValueError(
            f"the index takes up to {readable_bytes(needed)}, and {readable_bytes(free)} are free "
            f"on the disk of {str(encoded.folder)!r}. Free some space, or search exactly, with "
            "--exact."
        )


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

    ValueError: see `build_graph`. OSError if a file cannot be written.
    """
    if exact is None:
        exact = len(encoded) <= EXACT_ROWS and not rebuild
    if exact:
        return ExactIndex(encoded.vectors(layer))
    build_graph(encoded, layer, rebuild=rebuild, on_progress=on_progress)
    return GraphIndex(encoded, layer)
