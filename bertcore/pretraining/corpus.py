"""Text files to a packed corpus: all token ids in one array, with sentence and document borders."""

from __future__ import annotations

import gzip
import hashlib
import lzma
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from bertcore.pretraining.sentences import split_sentences
from bertcore.tokenizer import Tokenizer

_OPENERS: dict[str, Callable[..., TextIO]] = {".xz": lzma.open, ".gz": gzip.open}
_BATCH_SENTENCES = 20_000


def read_documents(paths: Sequence[str | Path]) -> Iterator[list[str]]:
    """Yield each document as its list of paragraphs.

    A line is a paragraph (or a sentence); a blank line ends a document, as does the end of a file.

    Args:
        paths: UTF-8 text files, plain or packed as .xz or .gz.

    Raises:
        ValueError: If a file is missing, is not UTF-8 or is not a whole archive.
    """
    for path in map(Path, paths):
        if not path.is_file():
            raise ValueError(f"corpus file {str(path)!r} does not exist. Check the path.")
        paragraphs: list[str] = []
        try:
            with _OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8") as lines:
                for line in lines:
                    if line := line.strip():
                        paragraphs.append(line)
                    elif paragraphs:
                        yield paragraphs
                        paragraphs = []
        except UnicodeDecodeError as error:
            raise ValueError(
                f"corpus file {str(path)!r} is not UTF-8 (byte {error.start}). "
                "Convert it to UTF-8 first."
            ) from error
        except (EOFError, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise ValueError(
                f"corpus file {str(path)!r} is not a whole archive: {error}."
            ) from error
        if paragraphs:
            yield paragraphs


def read_sentences(paths: Sequence[str | Path]) -> Iterator[list[str]]:
    """Yield each document as its list of sentences."""
    for paragraphs in read_documents(paths):
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
    def num_tokens(self) -> int:
        """Number of tokens, special tokens not counted."""
        return len(self.ids)


def pack_corpus(documents: Iterable[list[str]], tokenizer: Tokenizer) -> PackedCorpus:
    """Tokenise documents (lists of sentences) into one PackedCorpus.

    Sentences without a token and documents without a sentence are dropped.

    Raises:
        ValueError: If no token is left.
    """
    dtype = np.uint16 if tokenizer.vocab_size <= 2**16 else np.int32
    blocks: list[NDArray[np.generic]] = []
    sentence_lengths: list[int] = []
    document_lengths: list[int] = []
    waiting: list[list[str]] = []
    num_waiting = 0

    def flush() -> None:
        encoded = iter(tokenizer.encode_ids([s for document in waiting for s in document]))
        for document in waiting:
            kept = [ids for ids in (next(encoded) for _ in document) if ids]
            if kept:
                sentence_lengths.extend(map(len, kept))
                document_lengths.append(len(kept))
                blocks.append(np.fromiter((i for ids in kept for i in ids), dtype=dtype))
        waiting.clear()

    for document in documents:
        waiting.append(document)
        num_waiting += len(document)
        if num_waiting >= _BATCH_SENTENCES:
            flush()
            num_waiting = 0
    flush()
    if not blocks:
        raise ValueError("the corpus has no text. Give at least one file with sentences in it.")
    ids = np.concatenate(blocks)
    sentence_starts = np.concatenate([[0], np.cumsum(sentence_lengths)]).astype(np.int64)
    document_starts = np.concatenate([[0], np.cumsum(document_lengths)]).astype(np.int64)
    digest = hashlib.sha256()
    for array in (ids, sentence_starts, document_starts):
        digest.update(np.ascontiguousarray(array).data)
    return PackedCorpus(ids, sentence_starts, document_starts, digest.hexdigest()[:16])


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
