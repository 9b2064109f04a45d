"""Open an encoded corpus: its layers, its rows, its vectors as memory-mapped arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bertcore.base.whole_files import whole_file
from bertcore.configs.encode import Unit
from bertcore.corpus.parts import (
    Manifest,
    about,
    check_checkpoint,
    check_whole,
    layer_file,
    read_manifest,
    sentence_file,
)
from bertcore.model import Model


@dataclass(frozen=True, slots=True)
class EncodedCorpus:
    """An encoded corpus of R rows, the same in each of its layers, in the order of the corpus."""

    folder: Path
    manifest: Manifest

    def __len__(self) -> int:
        return self.manifest.num_rows

    @property
    def layers(self) -> tuple[int, ...]:
        """The stored hidden states; 0 is the embeddings' output."""
        return self.manifest.layers

    @property
    def unit(self) -> Unit:
        return self.manifest.unit

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the rows besides the vector."""
        return self.manifest.columns

    def rows(self, columns: Sequence[str] | None = None) -> pa.Table:
        """Return columns of all rows, in memory.

        Args:
            columns: Of `columns`; None: all of them.

        ValueError if a column does not exist.
        """
        wanted = self._checked(columns)
        files = [layer_file(self.folder, self.layers[0], i) for i in self._parts]
        return pa.concat_tables([pq.ParquetFile(path).read(columns=wanted) for path in files])

    def batches(
        self, layer: int, columns: Sequence[str] | None = None, *, num_rows: int = 4096
    ) -> Iterator[tuple[pa.RecordBatch, NDArray[np.float16]]]:
        """Yield the rows of a layer part by part: their columns, and their vectors [N, D].

        Args:
            layer: Of `layers`.
            columns: Of `columns`; None: all of them.
            num_rows: Maximum number of rows at a time.

        ValueError if the layer or a column does not exist.
        """
        self.check_layers(layer)
        wanted = self._checked(columns)
        for part in self._parts:
            file = pq.ParquetFile(layer_file(self.folder, layer, part))
            for batch in file.iter_batches(num_rows, columns=[*wanted, "vector"]):
                yield batch.select(wanted), _as_array(batch.column("vector"))

    def vectors(self, layer: int) -> NDArray[np.float16]:
        """Return the vectors of a layer, memory-mapped, float16 [R, D].

        Parquet cannot be memory-mapped, so the first call writes a copy, as
        _about/vectors-layer-N.npy; that file may be deleted at any time. ValueError if the layer
        does not exist. OSError if the file cannot be written.
        """
        self.check_layers(layer)
        path = about(self.folder) / f"vectors-layer-{layer}.npy"
        shape = (len(self), self.manifest.hidden_size)
        if not shape[0]:
            return np.empty(shape, np.float16)
        if not path.is_file():
            self._write_vectors(path, layer, shape)
        mapped: NDArray[np.float16] = np.load(path, mmap_mode="r")
        return mapped

    def sentences(self) -> pa.Table:
        """Return the texts that have rows, in memory: document, sentence, text, own columns."""
        files = [sentence_file(self.folder, i) for i in self._parts]
        return pa.concat_tables([pq.read_table(path) for path in files])

    def check_model(self, model: Model) -> None:
        """Check that a model is the one whose vectors are stored.

        ValueError if it is a different one; the message has both names.
        """
        check_checkpoint(self.manifest, model, f"{str(self.folder)!r}")

    def check_layers(self, *layers: int) -> None:
        """Make sure that layers are stored; ValueError if one is not."""
        for layer in layers:
            if layer not in self.layers:
                raise ValueError(
                    f"layer {layer} is not stored in {str(self.folder)!r}; expected one of "
                    f"{', '.join(map(str, self.layers))}."
                )

    @property
    def _parts(self) -> range:
        return range(len(self.manifest.parts))

    def _write_vectors(self, path: Path, layer: int, shape: tuple[int, int]) -> None:
        with whole_file(path) as partial:
            array = np.lib.format.open_memmap(partial, "w+", np.dtype(np.float16), shape)
            start = 0
            for _, vectors in self.batches(layer, ()):
                array[start : start + len(vectors)] = vectors
                start += len(vectors)
            array.flush()
            del array

    def _checked(self, columns: Sequence[str] | None) -> list[str]:
        wanted = list(self.columns if columns is None else columns)
        unknown = [name for name in wanted if name not in self.columns]
        if unknown:
            raise ValueError(
                f"there is no column {unknown[0]!r}; expected one of {', '.join(self.columns)}."
            )
        return wanted


def open_encoded(folder: str | Path, *, incomplete: bool = False) -> EncodedCorpus:
    """Open a folder written by `encode_corpus`.

    Args:
        incomplete: Open the finished parts of an incomplete one.

    ValueError if there is none, it is incomplete or has no row, or one of its files is missing or
    damaged.
    """
    place = Path(folder)
    manifest = read_manifest(place)
    if not manifest.complete and not incomplete:
        raise ValueError(
            f"the encoding in {str(place)!r} is not finished ({manifest.num_rows:,} rows so far). "
            "Continue with `bertscope encode --resume`, or open the finished part with "
            "incomplete=True."
        )
    check_whole(place, manifest)
    if not manifest.num_rows:
        raise ValueError(
            f"the encoding in {str(place)!r} has no vector. "
            f"{' '.join(manifest.notes) or 'Encode more text.'}"
        )
    return EncodedCorpus(place, manifest)


def _as_array(column: Any) -> NDArray[np.float16]:
    """Return a column of vectors as [N, D]."""
    width = column.type.list_size
    values: NDArray[np.float16] = column.flatten().to_numpy(zero_copy_only=False)
    return values.reshape(-1, width)
