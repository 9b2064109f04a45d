"""Encode a corpus on one machine: read, run, write, part by part."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

import torch

import bertcore
from bertcore.corpus.batch import Encoded, encode_texts
from bertcore.corpus.parts import (
    Manifest,
    Part,
    about,
    check_whole,
    delete_leftovers,
    make_folders,
    read_manifest,
    write_manifest,
    write_part,
)
from bertcore.corpus.precision import SAMPLE_CHARACTERS, Precision, choose_precision
from bertcore.corpus.read import LONGEST_SENTENCE, Corpus, CorpusText, open_corpus, sampled
from bertcore.corpus.settings import DTYPES, EncodeSettings, resolve_layers
from bertcore.corpus.size import check_room, estimate_size
from bertcore.model import Model
from bertcore.tokenizer import Pieces, Tokenizer
from bertcore.training.provenance import (
    check_files,
    check_unchanged,
    record_files,
    record_times,
)
from bertcore.training.run_checkpoints import why_not_written
from bertcore.training.run_lock import LOCK_FILE, lock_run
from bertcore.training.spare_memory import SpareMemory

PART_BYTES = 64 * 2**20
"""Vectors of one part in memory, all layers together; two parts are there at a time."""
FEWEST_ROWS, MOST_ROWS = 1024, 131_072
"""Tokens of a part."""
_CUT_TOGETHER = 512


@dataclass(frozen=True, slots=True)
class EncodeProgress:
    """How far an encoding is."""

    fraction: float
    """Of the corpus, 0 to 1."""
    num_rows: int
    """Of a layer, on the disk."""
    tokens_per_second: float | None
    """Since the first batch of this process; None at that."""
    seconds_left: float | None
    """None at the beginning."""


class _StoppedEarly(Exception):  # noqa: N818 - no error
    """`should_stop` returned True."""


def encode_corpus(
    model: Model,
    paths: str | Path | Sequence[str | Path],
    out: str | Path,
    settings: EncodeSettings | None = None,
    *,
    resume: bool = False,
    part_bytes: int = PART_BYTES,
    on_note: Callable[[str], None] = lambda sentence: None,
    on_progress: Callable[[EncodeProgress], None] = lambda progress: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Manifest:
    """Write the vectors of every token, word or sentence of a corpus to Parquet files.

    Memory does not grow with the corpus. The rows of a layer are in the order of the corpus. A run
    that was stopped or killed goes on behind its last whole part, with no row lost or doubled.

    Args:
        model: Where the vectors come from; stays as it is.
        paths: A file or several, as for `open_corpus`.
        out: New folder; `open_encoded` reads it.
        settings: None: tokens of the last layer.
        resume: Go on with what is in `out`. Everything but `tokens_per_batch` must be as it was.
        part_bytes: Vectors of one part in memory.
        on_note: Called with sentences on size, precision, and what was cut or left out.
        on_progress: Called after each batch.
        should_stop: Asked after each batch; True ends the run behind its last whole part.

    Returns:
        The manifest; `complete` is False if the run was stopped.

    Raises:
        ValueError: If the corpus cannot be read, changed since, or has no text; if `out` is not
            new, or to resume is of another checkpoint, corpus or setting; if it would not fit on
            the disk, or another process writes there.
        RuntimeError: If the disk is full, or a vector is not finite.
        OSError: If `out` cannot be written.
    """
    folder, settings = Path(out), settings or EncodeSettings()
    files = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    layers = resolve_layers(settings.layers, model.config)
    corpus = open_corpus(
        files,
        text_column=settings.text_column,
        split=settings.split,
        skip_bad_rows=settings.skip_bad_rows,
    )
    found = read_manifest(folder) if resume else None
    if found is None:
        _check_new(folder)
    else:
        _check_same(found, folder, model, corpus, layers, settings)
        if found.complete:
            return found
    estimate = estimate_size(corpus, model, layers, settings)
    on_note(estimate.sentence())
    if found is None:
        check_room(estimate, folder, settings.sample)
        precision = choose_precision(model, _sample(estimate.beginning), layers, settings)
        found = _begin(model, precision, corpus, layers, settings)
    else:
        dtype = found.dtype if found.dtype in DTYPES else settings.dtype
        precision = choose_precision(model, (), layers, replace(settings, dtype=dtype))
        if precision.dtype != found.dtype:
            raise ValueError(
                f"{str(folder)!r} was begun in {found.dtype}, but {model.name!r} was opened in "
                f"{precision.dtype}. Open it in {found.dtype}."
            )
    on_note(found.precision)
    make_folders(folder, layers)
    with lock_run(about(folder)):
        if resume:
            found = read_manifest(folder)  # another process may have gone on until now
            check_whole(folder, found)
        delete_leftovers(folder, found)
        write_manifest(folder, found)
        run = _Run(precision.model, corpus, folder, found, part_bytes, on_progress, should_stop)
        if run.go():
            found.notes = _notes(corpus, found)
            found.complete = True
            write_manifest(folder, found)
            for note in found.notes:
                on_note(note)
    return found


class _Run:
    """The loop over parts: one is encoded while the one before it is written."""

    def __init__(
        self,
        model: Model,
        corpus: Corpus,
        folder: Path,
        manifest: Manifest,
        part_bytes: int,
        on_progress: Callable[[EncodeProgress], None],
        should_stop: Callable[[], bool],
    ) -> None:
        self.model, self.corpus, self.folder, self.manifest = model, corpus, folder, manifest
        self.on_progress, self.should_stop = on_progress, should_stop
        number_bytes = 2 if manifest.unit == "token" else 4
        row_bytes = number_bytes * manifest.hidden_size * len(manifest.layers)
        self.rows_per_part = min(MOST_ROWS, max(FEWEST_ROWS, part_bytes // row_bytes))
        self.times = record_times(corpus.paths)
        self.total_bytes = max(1, sum(path.stat().st_size for path in corpus.paths))
        self.read_bytes = 0
        self.written: Future[None] | None = None
        self.part: Part | None = None
        self.num_tokens = 0
        self.first: tuple[float, float, float] | None = None
        """Time, fraction and tokens at the first report: the first batch also builds what later
        ones use again, and what was skipped on resuming is no measure of the speed."""

    def go(self) -> bool:
        """Encode what is left; return whether it came to the end."""
        settings = self.manifest.settings
        stream = sampled(self.corpus.texts(self._on_read), settings.sample, settings.seed)
        left = islice(stream, self.manifest.num_texts, None)
        spare = SpareMemory()
        begin: int | None = None
        with ThreadPoolExecutor(1) as writer:
            try:
                for texts, pieces in parts_of(left, self.model.tokenizer, self.rows_per_part):
                    begin = self.read_bytes if begin is None else begin
                    encoded, kept = self._encode(texts, pieces, (begin, self.read_bytes))
                    self.num_tokens += encoded.num_tokens
                    self._commit()
                    self._write(writer, encoded, kept, len(texts))
                    begin = self.read_bytes
                    spare.give_back()
            except _StoppedEarly:
                self._commit()
                return False
            self._commit()
        return True

    def _encode(
        self,
        texts: Sequence[CorpusText],
        pieces: Sequence[Pieces],
        span: tuple[int, int],
    ) -> tuple[Encoded, list[CorpusText]]:
        """Encode the texts that have a piece; return these, too.

        Args:
            texts, pieces: Of a part.
            span: Bytes of the corpus that were read before and behind them.
        """
        kept = [i for i, each in enumerate(pieces) if each.ids]
        num_tokens = sum(len(each.ids) for each in pieces)

        def on_batch(done: float) -> None:
            self._report(done, span, self.num_tokens + done * num_tokens)
            if self.should_stop():
                raise _StoppedEarly

        encoded = encode_texts(
            self.model,
            [texts[i].text for i in kept],
            self.manifest.layers,
            self.manifest.settings,
            pieces=[pieces[i] for i in kept],
            on_batch=on_batch,
        )
        return encoded, [texts[i] for i in kept]

    def _write(
        self, writer: ThreadPoolExecutor, encoded: Encoded, kept: list[CorpusText], num_texts: int
    ) -> None:
        """Begin to write a part."""
        self.part = Part(
            texts=num_texts,
            rows=len(encoded),
            tokens=encoded.num_tokens,
            in_windows=encoded.num_in_windows,
            empty=num_texts - len(kept),
        )
        number = len(self.manifest.parts)
        self.written = writer.submit(
            write_part, self.folder, number, encoded, kept, self.corpus.fields
        )

    def _commit(self) -> None:
        """Wait until the part is on the disk, then name it in the manifest."""
        if self.written is None or self.part is None:
            return
        number = len(self.manifest.parts)
        try:
            self.written.result()
            check_unchanged(self.times)
            self.manifest.parts.append(self.part)
            write_manifest(self.folder, self.manifest)
        except OSError as error:
            del self.manifest.parts[number:]
            raise RuntimeError(
                f"part {number} could not be written: "
                f"{why_not_written(error, self.folder)} The {number} parts before it are whole: go "
                "on from there with --resume."
            ) from error
        finally:
            self.written = self.part = None

    def _on_read(self, num_bytes: int) -> None:
        self.read_bytes += num_bytes

    def _report(self, done: float, span: tuple[int, int], num_tokens: float) -> None:
        begin, end = span
        fraction = min(1.0, (begin + done * (end - begin)) / self.total_bytes)
        now = time.monotonic()
        self.first = self.first or (now, fraction, num_tokens)
        seconds, here, tokens = (
            value - first
            for value, first in zip((now, fraction, num_tokens), self.first, strict=True)
        )
        self.on_progress(
            EncodeProgress(
                fraction=fraction,
                num_rows=self.manifest.num_rows,
                tokens_per_second=tokens / seconds if seconds > 0 else None,
                seconds_left=seconds * (1 - fraction) / here if here > 0.001 else None,
            )
        )


def parts_of(
    texts: Iterable[CorpusText], tokenizer: Tokenizer, num_tokens: int
) -> Iterator[tuple[list[CorpusText], list[Pieces]]]:
    """Yield texts with their pieces, in order, in parts of about `num_tokens` tokens.

    Where a part ends depends on the texts alone, not on where the stream begins in it: a run that
    goes on behind a part makes the same parts.
    """
    stream = iter(texts)
    part: list[CorpusText] = []
    pieces: list[Pieces] = []
    size = 0
    while group := list(islice(stream, _CUT_TOGETHER)):
        for text, each in zip(group, _cut(group, tokenizer), strict=True):
            part.append(text)
            pieces.append(each)
            size += max(1, len(each.ids))
            if size >= num_tokens:
                yield part, pieces
                part, pieces, size = [], [], 0
    if part:
        yield part, pieces


def _cut(texts: Sequence[CorpusText], tokenizer: Tokenizer) -> list[Pieces]:
    try:
        return tokenizer.encode_pieces([text.text for text in texts])
    except ValueError:
        for text in texts:  # which one?
            try:
                tokenizer.encode_pieces([text.text])
            except ValueError as error:
                where = f"sentence {text.sentence} of document {text.document} (both from 0)"
                raise ValueError(f"{where}: {error}") from error
        raise


def fingerprint_of_model(model: Model) -> str:
    """Return the sha256 of a model's weights: as its files have them, or as they are in memory."""
    if model.report is not None:
        return model.report.fingerprint
    digest = hashlib.sha256()
    for name, weight in model.module.named_parameters():
        digest.update(f"{name} {list(weight.shape)} {weight.dtype}\n".encode())
        stored = weight.detach().contiguous().cpu()
        digest.update(memoryview(stored.flatten().view(torch.uint8).numpy().data))
    return digest.hexdigest()


def check_checkpoint(manifest: Manifest, model: Model, what: str) -> None:
    """Refuse a model that is not the one whose vectors are stored.

    Args:
        manifest: Of the encoded corpus.
        model: Another one, or the same.
        what: What holds the vectors, for the message.

    Raises:
        ValueError: If weights or vocabulary differ; it has both names.
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


def _check_new(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is a file. Name a new folder.")
    # A kill at the very beginning leaves folders and a lock, which hold nothing.
    names = {path.name for path in folder.rglob("*") if not path.is_dir()}
    if not names - {LOCK_FILE}:
        return
    advice = "Name a new folder."
    if (about(folder) / "manifest.json").is_file():
        whole = read_manifest(folder).complete
        advice = (
            "It holds an encoded corpus, which is whole. Name a new folder."
            if whole
            else "Add --resume to go on with the encoding in it, or name a new folder."
        )
    raise ValueError(f"{str(folder)!r} is not empty. {advice}")


def _check_same(
    found: Manifest,
    folder: Path,
    model: Model,
    corpus: Corpus,
    layers: tuple[int, ...],
    settings: EncodeSettings,
) -> None:
    """Refuse to go on with another checkpoint, corpus or setting."""
    check_checkpoint(found, model, f"{str(folder)!r}")
    old, new = asdict(found.settings), asdict(settings)
    old["layers"], new["layers"] = list(found.layers), list(layers)
    for name in new:
        if name != "tokens_per_batch" and old[name] != new[name]:
            raise ValueError(
                f"{str(folder)!r} was begun with {name} {old[name]}, not {new[name]}. Go on with "
                "what it was, or encode the corpus into another folder."
            )
    paths = [record["path"] for record in found.sources]
    given = [record["path"] for record in record_times(corpus.paths)]
    if paths != given:
        raise ValueError(
            f"{str(folder)!r} was begun with the corpus {', '.join(paths)}, not "
            f"{', '.join(given)}. Go on with that one, or encode this one into another folder."
        )
    check_files(found.sources, "corpus")


def _begin(
    model: Model,
    precision: Precision,
    corpus: Corpus,
    layers: tuple[int, ...],
    settings: EncodeSettings,
) -> Manifest:
    own = {
        "token": ("position", "word_id", "piece", "word"),
        "word": ("position", "word_id", "piece", "word"),
        "sentence": ("position",),
    }[settings.unit]
    others = [field.name for field in corpus.fields]
    return Manifest(
        checkpoint=str(Path(model.name).resolve()) if Path(model.name).is_dir() else model.name,
        fingerprint=fingerprint_of_model(model),
        tokenizer=model.tokenizer.fingerprint,
        family=model.config.family.name,
        hidden_size=model.config.hidden_size,
        max_length=model.max_length,
        layers=layers,
        settings=settings,
        dtype=precision.dtype,
        precision=precision.sentence,
        agreements=[asdict(agreement) for agreement in precision.agreements],
        sources=record_files(corpus.paths),
        columns=("document", "sentence", *own, "start", "end", *others),
        version=bertcore.__version__,
    )


def _sample(texts: Sequence[str]) -> list[str]:
    """Return the first texts, as many as are compared in both number formats."""
    chosen, characters = [], 0
    for text in texts:
        chosen.append(text)
        characters += len(text)
        if characters >= SAMPLE_CHARACTERS:
            break
    return chosen


def _notes(corpus: Corpus, manifest: Manifest) -> list[str]:
    """Return what was cut or left out, in sentences."""
    notes = []
    in_windows = sum(part.in_windows for part in manifest.parts)
    if in_windows:
        texts = "1 sentence" if in_windows == 1 else f"{in_windows:,} sentences"
        notes.append(
            f"{texts} of more than {manifest.max_length:,} tokens ran in windows that overlap; a "
            "token has the vector of the window in which it stands farther from the edge."
        )
    if corpus.num_cut:
        texts = "1 sentence" if corpus.num_cut == 1 else f"{corpus.num_cut:,} sentences"
        notes.append(f"{texts} of more than {LONGEST_SENTENCE:,} characters became several.")
    if corpus.num_blank:
        rows = "1 row" if corpus.num_blank == 1 else f"{corpus.num_blank:,} rows"
        notes.append(f"{rows} without a text left out.")
    empty = sum(part.empty for part in manifest.parts)
    if empty:
        texts = "1 sentence" if empty == 1 else f"{empty:,} sentences"
        notes.append(f"{texts} of signs that the vocabulary leaves out have no row.")
    if bad := corpus.bad_rows.sentence():
        notes.append(bad)
    return notes
