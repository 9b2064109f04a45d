"""The loop over the parts of a corpus: read, encode, write, add to the manifest, in order."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa

from bertcore.analysis.corpus.batch import Encoded, encode_texts
from bertcore.analysis.corpus.parts import Manifest, PartContent, write_manifest, write_part
from bertcore.analysis.corpus.texts import Corpus, CorpusText
from bertcore.base.spare_memory import trim
from bertcore.configs.encode import EncodeSettings
from bertcore.model.model import Model
from bertcore.model.tokenizer import Pieces, Tokenizer
from bertcore.training.engine.provenance import check_unchanged, record_times
from bertcore.training.engine.run_folder import why_not_written

PART_BYTES = 64 * 2**20
"""Vectors of one part in memory, all layers together; two parts are there at a time."""
FEWEST_ROWS, MOST_ROWS = 1024, 131_072
"""Tokens of a part."""
_CUT_TOGETHER = 512


@dataclass(frozen=True, slots=True)
class EncodeProgress:
    """The progress of an encoding."""

    fraction: float
    """Of the corpus, 0 to 1."""
    num_rows: int
    """Of a layer, on the disk."""
    tokens_per_second: float | None
    """Since the first batch of this process; None at that."""
    seconds_left: float | None
    """None at the beginning."""


class StoppedEarly(Exception):  # noqa: N818 - no error
    """`should_stop` returned True."""


@dataclass(frozen=True, slots=True)
class Watch:
    """The callbacks that watch and stop a run."""

    on_progress: Callable[[EncodeProgress], None] = lambda progress: None
    should_stop: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class PartTexts:
    """The texts of one part, in order, and their place in the corpus."""

    number: int
    """Of the part, from 0."""
    texts: list[CorpusText]
    pieces: list[Pieces]
    span: tuple[int, int]
    """Bytes of the corpus that were read before and behind them."""


class PartRun(ABC):
    """The loop over parts; the subclass determines who encodes them.

    `folder` is locked; new parts, of `part_bytes` in memory, are added to those of the manifest.
    """

    def __init__(
        self,
        model: Model,
        corpus: Corpus,
        folder: Path,
        manifest: Manifest,
        part_bytes: int,
        watch: Watch,
    ) -> None:
        self.model, self.corpus, self.folder = model, corpus, folder
        self.manifest, self.watch = manifest, watch
        self.num_tokens = 0
        number_bytes = 2 if manifest.unit == "token" else 4
        row_bytes = number_bytes * manifest.hidden_size * len(manifest.layers)
        self.rows_per_part = min(MOST_ROWS, max(FEWEST_ROWS, part_bytes // row_bytes))
        self.times = record_times(corpus.paths)
        self.total_bytes = max(1, sum(path.stat().st_size for path in corpus.paths))
        self.read_bytes = 0
        self.first: tuple[float, float, float] | None = None
        """Time, fraction and tokens at the first report: the first batch also builds what later
        ones reuse, and what was skipped on resuming does not count for the speed."""

    @abstractmethod
    def go(self) -> bool:
        """Encode what is left; return whether it came to the end."""

    def shares(self) -> Iterator[PartTexts]:
        """Yield the rest of the corpus."""
        left = islice(self.corpus.texts(self._on_read), self.manifest.num_texts, None)
        begin: int | None = None
        parts = parts_of(left, self.model.tokenizer, self.rows_per_part)
        for number, (texts, pieces) in enumerate(parts, start=len(self.manifest.parts)):
            begin = self.read_bytes if begin is None else begin
            yield PartTexts(number, texts, pieces, (begin, self.read_bytes))
            begin = self.read_bytes

    def commit(self, part: PartContent) -> None:
        """Add the next part, which is on the disk, to the manifest.

        ValueError if the corpus changed meanwhile. RuntimeError if the disk is full.
        """
        check_unchanged(self.times)
        number = len(self.manifest.parts)
        self.manifest.parts.append(part)
        try:
            write_manifest(self.folder, self.manifest)
        except OSError as error:
            del self.manifest.parts[number:]
            raise not_written(number, self.folder, error) from error

    def report(self, fraction: float, num_tokens: float) -> None:
        """Report a fraction of the corpus, and the tokens run in this process or for it."""
        now = time.monotonic()
        self.first = self.first or (now, fraction, num_tokens)
        seconds, here, tokens = (
            value - first
            for value, first in zip((now, fraction, num_tokens), self.first, strict=True)
        )
        self.watch.on_progress(
            EncodeProgress(
                fraction=fraction,
                num_rows=self.manifest.num_rows,
                tokens_per_second=tokens / seconds if seconds > 0 else None,
                seconds_left=seconds * (1 - fraction) / here if here > 0.001 else None,
            )
        )

    def fraction(self, span: tuple[int, int], done: float) -> float:
        """Return the fraction of the corpus at a place within a part."""
        begin, end = span
        return min(1.0, (begin + done * (end - begin)) / self.total_bytes)

    def _on_read(self, num_bytes: int) -> None:
        self.read_bytes += num_bytes


class LocalRun(PartRun):
    """This process encodes; a thread writes a part while the next one is encoded."""

    written: Future[PartContent] | None = None

    def go(self) -> bool:
        with ThreadPoolExecutor(1) as writer:
            try:
                for share in self.shares():
                    job = self._encode(share)
                    self.num_tokens += job.encoded.num_tokens
                    self._await()
                    self.written = writer.submit(job.write, self.folder, self.corpus.fields)
                    trim()
            except StoppedEarly:
                self._await()
                return False
            self._await()
        return True

    def _encode(self, share: PartTexts) -> "EncodedShare":
        num_tokens = sum(len(piece.ids) for piece in share.pieces)

        def on_batch(done: float) -> None:
            self.report(self.fraction(share.span, done), self.num_tokens + done * num_tokens)
            if self.watch.should_stop():
                raise StoppedEarly

        return encode_share(
            self.model, share, self.manifest.layers, self.manifest.settings, on_batch
        )

    def _await(self) -> None:
        """Wait until the last part is on the disk, then add it to the manifest."""
        if self.written is None:
            return
        written, self.written = self.written, None
        try:
            part = written.result()
        except OSError as error:
            raise not_written(len(self.manifest.parts), self.folder, error) from error
        self.commit(part)


@dataclass(frozen=True, slots=True)
class EncodedShare:
    """A part that is encoded but not yet written."""

    share: PartTexts
    kept: list[CorpusText]
    """The texts that have a row."""
    encoded: Encoded

    def write(self, folder: Path, fields: Sequence[pa.Field]) -> PartContent:
        """Write it; return its entry for the manifest."""
        write_part(folder, self.share.number, self.encoded, self.kept, fields)
        return PartContent(
            texts=len(self.share.texts),
            rows=len(self.encoded),
            tokens=self.encoded.num_tokens,
            in_windows=self.encoded.num_in_windows,
            empty=len(self.share.texts) - len(self.kept),
        )


def encode_share(
    model: Model,
    share: PartTexts,
    layers: Sequence[int],
    settings: EncodeSettings,
    on_batch: Callable[[float], None] = lambda fraction: None,
) -> EncodedShare:
    """Encode the texts of a part that have a piece."""
    with_pieces = [i for i, piece in enumerate(share.pieces) if piece.ids]
    encoded = encode_texts(
        model,
        [share.texts[i].text for i in with_pieces],
        layers,
        settings,
        pieces=[share.pieces[i] for i in with_pieces],
        on_batch=on_batch,
    )
    return EncodedShare(share, [share.texts[i] for i in with_pieces], encoded)


def not_written(number: int, folder: Path, error: OSError) -> RuntimeError:
    """Return the error for a part that could not be written, with how to continue."""
    return RuntimeError(
        f"part {number} could not be written: {why_not_written(error, folder)} The {number} parts "
        "before it are complete: continue from there with --resume."
    )


def parts_of(
    texts: Iterable[CorpusText], tokenizer: Tokenizer, num_tokens: int
) -> Iterator[tuple[list[CorpusText], list[Pieces]]]:
    """Yield texts with their pieces, in order, in parts of about `num_tokens` tokens.

    The end of a part depends only on the texts, not on where the stream begins: a run that resumes
    after a part makes the same parts.
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
