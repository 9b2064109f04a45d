"""Text files to a packed corpus: all token ids in one array, with sentence and document borders."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO, cast

import numpy as np
from numpy.typing import NDArray

from bertcore.pretraining.sentences import split_sentences
from bertcore.tokenizer import Tokenizer

_BATCH_SENTENCES = 20_000

OnRead = Callable[[int], None]
"""Told how many bytes of a file were read since the last time; packed bytes for .xz and .gz."""


def read_documents(
    paths: Sequence[str | Path], *, on_read: OnRead | None = None
) -> Iterator[list[str]]:
    """Yield each document as its list of paragraphs.

    A line is a paragraph (or a sentence); a blank line ends a document, as does the end of a file.

    Args:
        paths: UTF-8 text files, plain or packed as .xz or .gz.
        on_read: For progress; called at least once a document.

    Raises:
        ValueError: If a file is missing, is not UTF-8 or is not a whole archive.
        OSError: If a file cannot be opened.
    """
    for path in map(Path, paths):
        if not path.is_file():
            raise ValueError(f"corpus file {str(path)!r} does not exist. Check the path.")
        with path.open("rb") as raw:
            told = 0
            for document in _documents(path, raw):
                yield document
                if on_read is not None:
                    on_read(raw.tell() - told)
                    told = raw.tell()


def _documents(path: Path, raw: BinaryIO) -> Iterator[list[str]]:
    paragraphs: list[str] = []
    num_lines = 0
    try:
        with _open_text(raw, path.suffix.lower()) as lines:
            for line in lines:
                num_lines += 1
                if line := line.strip():
                    paragraphs.append(line)
                elif paragraphs:
                    yield paragraphs
                    paragraphs = []
            if paragraphs:
                yield paragraphs
    except UnicodeDecodeError as error:
        raise ValueError(
            f"corpus file {str(path)!r} is not UTF-8: some lines after line {num_lines} there is "
            f"a byte 0x{error.object[error.start]:02X}. Convert it to UTF-8 first."
        ) from error
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"corpus file {str(path)!r} is not a whole archive ({error}). Copy it again."
        ) from error


def _open_text(raw: BinaryIO, suffix: str) -> TextIO:
    # utf-8-sig: some editors begin a file with a byte order mark, which is no text.
    if suffix == ".xz":
        return cast(TextIO, lzma.open(raw, "rt", encoding="utf-8-sig"))
    if suffix == ".gz":
        return cast(TextIO, gzip.open(raw, "rt", encoding="utf-8-sig"))
    return io.TextIOWrapper(raw, encoding="utf-8-sig")


def read_sentences(
    paths: Sequence[str | Path], *, on_read: OnRead | None = None
) -> Iterator[list[str]]:
    """Yield each document as its list of sentences; otherwise as `read_documents`."""
    for paragraphs in read_documents(paths, on_read=on_read):
        yield [sentence for line in paragraphs for sentence in split_sentences(line)]


@dataclass(frozen=True, slots=True)
class PackedCorpus:
    """A tokenised corpus, held in three arrays (memory-mapped when opened from a folder)."""

    ids: NDArray[np.generic]
    """Token ids of all sentences in a row, without special tokens, uint16 or int32, [N]."""
    sentence_starts: NDArray[np.int64]
    """Where each sentence starts in `ids`, and the end of the last: [S + 1]."""
    document_starts: NDArray[np.int64]
    """Which sentence each document starts with, and the end of the last: [documents + 1]."""
    fingerprint: str
    """Hash of the ids and borders."""

    @property
    def num_documents(self) -> int:
        """Number of documents."""
        return len(self.document_starts) - 1

    @property
    def num_sentences(self) -> int:
        """Number of sentences."""
        return len(self.sentence_starts) - 1

    @property
    def num_tokens(self) -> int:
        """Number of tokens, special tokens not counted."""
        return len(self.ids)


def pack_corpus(documents: Iterable[list[str]], tokenizer: Tokenizer) -> PackedCorpus:
    """Tokenise documents (lists of sentences) into one PackedCorpus.

    Sentences without a token and documents without a sentence are dropped. A text that spells out
    a special token ("[SEP]") gets [UNK] there: only BERT itself sets special tokens.

    Raises:
        ValueError: If no token is left.
    """
    dtype = np.uint16 if tokenizer.vocab_size <= 2**16 else np.int32
    blocks: list[NDArray[np.generic]] = []
    sentence_lengths: list[int] = []
    document_lengths: list[int] = []
    for group in _groups(documents):
        encoded = iter(tokenizer.encode_ids([s for document in group for s in document]))
        for document in group:
            kept = [ids for ids in (next(encoded) for _ in document) if ids]
            if kept:
                sentence_lengths.extend(map(len, kept))
                document_lengths.append(len(kept))
                blocks.append(np.fromiter((i for ids in kept for i in ids), dtype=dtype))
    if not blocks:
        raise ValueError("the corpus has no text. Give at least one file with sentences in it.")
    replaced = np.arange(tokenizer.vocab_size, dtype=dtype)
    replaced[[tokenizer.pad_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id]] = (
        tokenizer.unk_id
    )
    ids = replaced[np.concatenate(blocks)]
    sentence_starts = np.concatenate([[0], np.cumsum(sentence_lengths)]).astype(np.int64)
    document_starts = np.concatenate([[0], np.cumsum(document_lengths)]).astype(np.int64)
    digest = hashlib.sha256()
    for array in (ids, sentence_starts, document_starts):
        digest.update(np.ascontiguousarray(array).data)
    return PackedCorpus(ids, sentence_starts, document_starts, digest.hexdigest()[:16])


def _groups(documents: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    """Collect documents until they are worth a call of the tokenizer, which uses all cores."""
    group: list[list[str]] = []
    num_sentences = 0
    for document in documents:
        group.append(document)
        num_sentences += len(document)
        if num_sentences >= _BATCH_SENTENCES:
            yield group
            group, num_sentences = [], 0
    yield group


def save_corpus(corpus: PackedCorpus, folder: Path) -> None:
    """Write the arrays as .npy files; `open_corpus` maps them back."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("ids", "sentence_starts", "document_starts"):
        np.save(folder / f"{name}.npy", getattr(corpus, name))
    # Written last: a folder without it was not finished.
    (folder / "fingerprint").write_text(corpus.fingerprint, encoding="utf-8")


def open_corpus(folder: Path) -> PackedCorpus:
    """Map a folder that `save_corpus` wrote.

    Raises:
        RuntimeError: If a file of it is missing.
    """
    try:
        arrays = [
            np.load(folder / f"{name}.npy", mmap_mode="r")
            for name in ("ids", "sentence_starts", "document_starts")
        ]
        fingerprint = (folder / "fingerprint").read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise RuntimeError(
            f"packed corpus {str(folder)!r} cannot be read ({error}). "
            "Delete that folder and start again."
        ) from error
    ids, sentence_starts, document_starts = arrays
    return PackedCorpus(ids, sentence_starts, document_starts, fingerprint)
