"""The files of an encoded corpus: Parquet parts by layer, the manifest that counts them; reading.

    DIR/layer=2/part-00000.parquet      rows of a layer, with their vectors
    DIR/_about/sentences-00000.parquet  the texts of the rows
    DIR/_about/manifest.json            checkpoint, settings, sources, and the complete parts

A part is written under a temporary name, flushed to the disk and renamed; then it is added to the
manifest. Files not in the manifest were cut off when a run was killed and are deleted on resuming.
Parquet readers skip folders that begin with an underscore, so `pyarrow.dataset.dataset(DIR,
partitioning="hive")` reads all layers.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bertcore.analysis.corpus.batch import Encoded
from bertcore.analysis.corpus.texts import CorpusText
from bertcore.base.whole_files import to_disk, whole_file
from bertcore.configs.encode import EncodeSettings, Unit
from bertcore.model.model import Model
from bertcore.training.engine.provenance import hash_weights

FORMAT = 1
"""Format of the manifest; others are rejected."""
_COMPRESSION = "ZSTD"
_ROWS_PER_GROUP = 16_384

_TYPES = {
    "document": pa.int64(),
    "sentence": pa.int64(),
    "position": pa.int32(),
    "word_id": pa.int32(),
    "piece": pa.string(),
    "word": pa.string(),
    "start": pa.int32(),
    "end": pa.int32(),
}


@dataclass(frozen=True, slots=True)
class PartContent:
    """The content of one part; equal in all layers."""

    texts: int
    """Sentences that were taken from the corpus for it."""
    rows: int
    tokens: int
    """Number of tokens run, including special tokens and the overlap of windows."""
    in_windows: int
    """Number of texts longer than the checkpoint reads at once."""
    empty: int
    """Texts without a piece, which have no row."""


@dataclass(slots=True)
class Manifest:
    """The description of an encoded corpus, and how much of it is complete."""

    checkpoint: str
    """The opened checkpoint: "default", the path of a folder, or a hub id."""
    fingerprint: str
    """sha256 of its weights."""
    tokenizer: str
    """Fingerprint of its tokenizer."""
    family: str
    hidden_size: int
    max_length: int
    """Tokens of a window."""
    layers: tuple[int, ...]
    settings: EncodeSettings
    dtype: str
    """The number format in which the network runs."""
    precision: str
    """How it was chosen, as a sentence."""
    sources: list[dict[str, Any]]
    """Path, bytes, time and sha256 of each file of the corpus."""
    columns: tuple[str, ...]
    """Columns of the rows but the vector."""
    version: str
    parts: list[PartContent] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Sentences on what was cut or left out; written at the end."""
    complete: bool = False
    format: int = FORMAT

    @property
    def unit(self) -> Unit:
        return self.settings.unit

    @property
    def num_rows(self) -> int:
        """Number of rows of a layer so far."""
        return sum(part.rows for part in self.parts)

    @property
    def num_texts(self) -> int:
        """Number of sentences of the corpus so far, including those without a row."""
        return sum(part.texts for part in self.parts)

    @property
    def num_tokens(self) -> int:
        """Number of tokens run so far."""
        return sum(part.tokens for part in self.parts)


def about(folder: Path) -> Path:
    """Return the folder of the manifest, the lock and the texts."""
    return folder / "_about"


def layer_file(folder: Path, layer: int, part: int) -> Path:
    return folder / f"layer={layer}" / f"part-{part:05d}.parquet"


def sentence_file(folder: Path, part: int) -> Path:
    return about(folder) / f"sentences-{part:05d}.parquet"


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of an encoded corpus.

    ValueError if there is none, or it is damaged or of another format.
    """
    path = about(folder) / "manifest.json"
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if values["format"] != FORMAT:
            raise ValueError(f"its format is {values['format']}, expected {FORMAT}")
        settings = {**values["settings"], "layers": tuple(values["settings"]["layers"])}
        for name in ("word_columns", "agreements"):  # up to 0.2.1
            values.pop(name, None)
        settings.pop("seed", None)
        if settings.pop("sample", 1.0) < 1 and not values["complete"]:
            raise ValueError("a sample of the sentences, which is not continued any more")
        return Manifest(
            **{
                **values,
                "layers": tuple(values["layers"]),
                "columns": tuple(values["columns"]),
                "settings": EncodeSettings(**settings),
                "parts": [PartContent(*part[:5]) for part in values["parts"]],
            }
        )
    except FileNotFoundError:
        raise ValueError(
            f"{str(folder)!r} has no encoded corpus (no {path.relative_to(folder)}). Name a "
            "folder that `bertscope encode` wrote."
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{str(path)!r} cannot be read ({error}). Restore it from a copy, or encode the corpus "
            "again into a new folder."
        ) from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest atomically, and flush it to the disk."""
    values = asdict(manifest)
    values["parts"] = [list(part.values()) for part in values["parts"]]  # one short line each
    text = json.dumps(values, indent=1, ensure_ascii=False)
    with _flushed_file(about(folder) / "manifest.json") as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def write_part(
    folder: Path,
    number: int,
    encoded: Encoded,
    texts: Sequence[CorpusText],
    fields: Sequence[pa.Field],
) -> None:
    """Write one part of all layers, and its texts; parts are numbered from 0.

    OSError if the disk is full.
    """
    columns, schema = _columns(encoded, texts, fields)
    for layer, vectors in encoded.vectors.items():
        column = vector_field(vectors.shape[1])
        values = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), type=column.type)
        table = pa.table([*columns, values], schema=schema.append(column))
        _write_table(layer_file(folder, layer, number), table, plain="vector.list.element")
    arrays = [
        pa.array([text.document for text in texts], pa.int64()),
        pa.array([text.sentence for text in texts], pa.int64()),
        pa.array([text.text for text in texts], pa.string()),
        *(pa.array([t.columns[i] for t in texts], f.type) for i, f in enumerate(fields)),
    ]
    names = ["document", "sentence", "text", *(column.name for column in fields)]
    _write_table(sentence_file(folder, number), pa.table(arrays, names=names))


def vector_field(width: int) -> pa.Field:
    """Return the column of the vectors: a list of `width` numbers of float16."""
    number = pa.field("element", pa.float16(), nullable=False)
    return pa.field("vector", pa.list_(number, width), nullable=False)


def delete_leftovers(folder: Path, manifest: Manifest) -> None:
    """Delete the leftovers of a killed run: partial files, and parts not in the manifest."""
    num = len(manifest.parts)
    for path in (*folder.glob("layer=*/*"), *about(folder).iterdir()):
        number = path.name.removesuffix(".parquet").rpartition("-")[2]
        is_part = path.suffix == ".parquet" and number.isdigit()
        if path.name.endswith(".partial") or (is_part and int(number) >= num):
            path.unlink()


def check_whole(folder: Path, manifest: Manifest) -> None:
    """Check that each part in the manifest exists with its rows.

    ValueError if one is missing, damaged or has a different length.
    """
    for number, part in enumerate(manifest.parts):
        files = [(layer_file(folder, layer, number), part.rows) for layer in manifest.layers]
        for path, num_rows in [*files, (sentence_file(folder, number), part.texts - part.empty)]:
            try:
                on_disk = pq.read_metadata(path).num_rows
            except (OSError, pa.ArrowException) as error:
                what = "is missing" if not path.is_file() else "is damaged"
                raise ValueError(
                    f"{str(path)!r} {what}. Restore it from a copy, or encode the corpus again "
                    "into a new folder."
                ) from error
            if on_disk != num_rows:
                raise ValueError(
                    f"{str(path)!r} has {on_disk:,} rows; expected {num_rows:,}. Restore it from a "
                    "copy, or encode the corpus again into a new folder."
                )


def fingerprint_of_model(model: Model) -> str:
    """Return the sha256 of a model's weights: those in its files, or those in memory."""
    return hash_weights(model.module) if model.report is None else model.report.fingerprint


def check_checkpoint(manifest: Manifest, model: Model, what: str) -> None:
    """Reject a model that is not the one whose vectors are stored in `what`.

    ValueError if weights or vocabulary differ; the message has both names.
    """
    fingerprint = fingerprint_of_model(model)
    if fingerprint != manifest.fingerprint:
        raise ValueError(
            f"{what} was encoded with the checkpoint {manifest.checkpoint!r} "
            f"({manifest.fingerprint[:12]}), not with {model.name!r} ({fingerprint[:12]}). Open "
            "that checkpoint, or encode the corpus with this one into another folder."
        )
    if model.tokenizer.fingerprint != manifest.tokenizer:
        raise ValueError(
            f"{what} was encoded with another vocabulary (checkpoint {manifest.checkpoint!r}) than "
            f"that of {model.name!r}, though the weights are the same. Restore its tokenizer's "
            "files, or encode the corpus again into another folder."
        )


def make_folders(folder: Path, layers: Sequence[int]) -> None:
    """Make the folders of an encoded corpus."""
    for place in (about(folder), *(folder / f"layer={layer}" for layer in layers)):
        place.mkdir(parents=True, exist_ok=True)


def _columns(
    encoded: Encoded, texts: Sequence[CorpusText], fields: Sequence[pa.Field]
) -> tuple[list[pa.Array], pa.Schema]:
    """Return the columns of the rows except the vector."""
    owners = np.asarray(encoded.columns["text"])
    places = np.array([(text.document, text.sentence) for text in texts]).reshape(-1, 2)[owners]
    columns: dict[str, Any] = {"document": places[:, 0], "sentence": places[:, 1]}
    columns |= {name: values for name, values in encoded.columns.items() if name != "text"}
    arrays = [pa.array(columns[name], kind) for name, kind in _TYPES.items() if name in columns]
    schema = [pa.field(name, kind, False) for name, kind in _TYPES.items() if name in columns]
    for place, column in enumerate(fields):
        values = pa.array([text.columns[place] for text in texts], column.type)
        arrays.append(values.take(pa.array(owners)))
        schema.append(column)
    return arrays, pa.schema(schema)


def _write_table(path: Path, table: pa.Table, *, plain: str | None = None) -> None:
    """Write a table; the column `plain` is neither compressed nor dictionary-encoded."""
    leaves = [column.name for column in table.schema if column.name != "vector"]
    if plain is None:
        compression: Any = _COMPRESSION
    else:
        compression = {plain: "NONE", **dict.fromkeys(leaves, _COMPRESSION)}

    with _flushed_file(path) as partial:
        pq.write_table(
            table,
            partial,
            compression=compression,
            use_dictionary=leaves if plain else True,
            write_statistics=leaves if plain else True,
            row_group_size=_ROWS_PER_GROUP,
        )


@contextmanager
def _flushed_file(path: Path) -> Iterator[Path]:
    """Do as `whole_file`, and flush the file and its name to the disk."""
    with whole_file(path) as partial:
        yield partial
        to_disk(partial)
    to_disk(path.parent)


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
        """Return columns of all rows, in memory; all of `columns` if none are named.

        ValueError if a column does not exist.
        """
        wanted = self._checked(columns)
        files = [layer_file(self.folder, self.layers[0], i) for i in self._parts]
        return pa.concat_tables([pq.ParquetFile(path).read(columns=wanted) for path in files])

    def batches(
        self, layer: int, columns: Sequence[str] | None = None, *, num_rows: int = 4096
    ) -> Iterator[tuple[pa.RecordBatch, NDArray[np.float16]]]:
        """Yield the rows of a layer, `num_rows` at a time: their columns, and their vectors [N, D].

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
    """Open a folder written by `encode_corpus`, or the finished parts of an incomplete one.

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
