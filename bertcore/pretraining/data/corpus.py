"""Pack text files into a corpus: one array of token ids, with sentence and document borders."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bertcore.data.encodings import find_encoding
from bertcore.data.files import lines_of, open_text
from bertcore.data.sentences import split_sentences
from bertcore.tokenizer import Tokenizer


class ArrayFile:
    """A one-dimensional array on disk, written in a `with` block; `numpy.load` reads it.

    The header gets the length at the end: a file that was not closed reads as empty.

    Args:
        path: Path of the file, which is overwritten.
        dtype: Number format of every block.
    """

    def __init__(self, path: Path, dtype: np.dtype[Any]) -> None:
        self.path, self.dtype = path, dtype
        self.length = 0
        self._file: BinaryIO | None = None

    def __enter__(self) -> "ArrayFile":
        self._file = self.path.open("wb")
        self._write_header(self._file)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._file is not None
        try:
            if kind is None:
                self._file.seek(0)
                self._write_header(self._file)
        finally:
            self._file.close()
            self._file = None

    def append(self, block: NDArray[Any]) -> None:
        """Add numbers at the end."""
        assert self._file is not None, "append inside the with block"
        self._file.write(np.ascontiguousarray(block, dtype=self.dtype).data)
        self.length += len(block)

    def _write_header(self, file: BinaryIO) -> None:
        """Write the header with the length so far; numpy's has room for any length."""
        descr = np.lib.format.dtype_to_descr(self.dtype)
        header = {"descr": descr, "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(file, header)


LONGEST_LINE = 2_000_000
"""Maximum characters of a line; tokenising one takes over a hundred times its size in memory."""
_BATCH_SENTENCES = 20_000
_BATCH_CHARACTERS = 4_000_000
_HASHED_AT_ONCE = 1_000_000
_ARRAYS = ("ids", "sentence_starts", "document_starts")

OnRead = Callable[[int], None]
"""Called with the bytes of a file read since the last call; compressed bytes for .xz and .gz."""


def read_documents(
    paths: Sequence[str | Path], *, on_read: OnRead | None = None
) -> Iterator[list[str]]:
    """Yield each document as its list of paragraphs.

    A line is a paragraph (or a sentence); a blank line ends a document, as does the end of a file.

    Args:
        paths: Text files in UTF-8 (or with a byte order mark), plain or compressed.
        on_read: For progress; called at least once per document.

    ValueError if a file is missing, is not UTF-8, is not a complete archive or has a line of more
    than `LONGEST_LINE` characters. OSError if a file cannot be opened.
    """
    for path in map(Path, paths):
        if not path.is_file():
            what = "is a folder, not a file" if path.is_dir() else "does not exist"
            raise ValueError(f"corpus file {str(path)!r} {what}. Check the path.")
        with path.open("rb") as raw:
            reported = 0
            for document in _documents(path, raw):
                yield document
                if on_read is not None:
                    on_read(raw.tell() - reported)
                    reported = raw.tell()


def _documents(path: Path, raw: BinaryIO) -> Iterator[list[str]]:
    paragraphs: list[str] = []
    encoding = find_encoding(path, raw)
    if encoding.is_guessed:
        raise ValueError(
            f"corpus file {str(path)!r} is not UTF-8, but probably "
            f"{encoding.title.partition(',')[0]}. Convert it to UTF-8 first."
        )
    with open_text(path, raw, encoding) as file:
        for line in map(str.strip, lines_of(file, path, longest=LONGEST_LINE)):
            if line:
                paragraphs.append(line)
            elif paragraphs:
                yield paragraphs
                paragraphs = []
    if paragraphs:
        yield paragraphs


def read_sentences(
    paths: Sequence[str | Path], *, on_read: OnRead | None = None
) -> Iterator[list[str]]:
    """Yield each document as its list of sentences; otherwise as `read_documents`."""
    for paragraphs in read_documents(paths, on_read=on_read):
        yield [sentence for line in paragraphs for sentence in split_sentences(line)]


@dataclass(frozen=True, slots=True)
class PackedCorpus:
    """A tokenised corpus in three arrays (memory-mapped when opened from a folder)."""

    ids: NDArray[np.generic]
    """Token ids of all sentences in sequence, without special tokens, uint16 or int32, [N]."""
    sentence_starts: NDArray[np.int64]
    """Start of each sentence in `ids`, and the end of the last: [S + 1]."""
    document_starts: NDArray[np.int64]
    """First sentence of each document, and the end of the last: [documents + 1]."""
    fingerprint: str
    """Hash of the ids and borders."""

    @property
    def num_documents(self) -> int:
        return len(self.document_starts) - 1

    @property
    def num_sentences(self) -> int:
        return len(self.sentence_starts) - 1

    @property
    def most_sentences(self) -> int:
        """Number of sentences in the longest document."""
        return int(np.diff(np.asarray(self.document_starts)).max())

    @property
    def num_tokens(self) -> int:
        """Number of tokens, without special tokens."""
        return len(self.ids)


def pack_corpus(documents: Iterable[list[str]], tokenizer: Tokenizer) -> PackedCorpus:
    """Tokenise documents (lists of sentences) into one PackedCorpus in memory.

    For small texts; `pack_corpus_to` has no limit. ValueError if no token is left.
    """
    with TemporaryDirectory() as folder:
        opened = pack_corpus_to(Path(folder), documents, tokenizer)
        return PackedCorpus(
            np.array(opened.ids),
            np.array(opened.sentence_starts),
            np.array(opened.document_starts),
            opened.fingerprint,
        )


def pack_corpus_to(
    folder: Path, documents: Iterable[list[str]], tokenizer: Tokenizer
) -> PackedCorpus:
    """Tokenise documents (lists of sentences) into a folder, and map it.

    Memory holds some ten thousand sentences at a time, however long the text is. Sentences without
    a token and documents without a sentence are dropped. A special token spelled out in a text
    ("[SEP]") becomes [UNK]: only BERT itself sets special tokens.

    Args:
        folder: Created if missing; the files of an older corpus in it are overwritten.
        documents: Read once.
        tokenizer: Up to 65,536 pieces take two bytes per token, more take four.

    ValueError if no token is left, or the tokenizer lacks a special token.
    """
    folder.mkdir(parents=True, exist_ok=True)
    dtype = np.dtype(np.uint16 if tokenizer.vocab_size <= 2**16 else np.int32)
    replaced = np.arange(tokenizer.vocab_size, dtype=dtype)
    roles = (tokenizer.pad_id, tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id)
    if min(*roles, tokenizer.unk_id) < 0:
        raise ValueError(
            "the tokenizer lacks one of the tokens that a packed corpus needs: for padding, "
            "unknown words, the beginning and end of a text, and masks. Choose one that has them."
        )
    replaced[list(roles)] = tokenizer.unk_id
    start = np.zeros(1, dtype=np.int64)
    with (
        ArrayFile(folder / "ids.npy", dtype) as ids,
        ArrayFile(folder / "sentence_starts.npy", np.dtype(np.int64)) as sentence_starts,
        ArrayFile(folder / "document_starts.npy", np.dtype(np.int64)) as document_starts,
    ):
        sentence_starts.append(start)
        document_starts.append(start)
        for group in _groups(documents):
            encoded = iter(tokenizer.encode_ids([s for document in group for s in document]))
            kept = [[ids for ids in (next(encoded) for _ in document) if ids] for document in group]
            kept = [document for document in kept if document]
            sentences = [sentence for document in kept for sentence in document]
            # Borders of this group continue from the end of the files.
            ends = np.cumsum([len(sentence) for sentence in sentences], dtype=np.int64)
            document_ends = np.cumsum([len(document) for document in kept], dtype=np.int64)
            first_sentence = sentence_starts.length - 1
            sentence_starts.append(ids.length + ends)
            document_starts.append(first_sentence + document_ends)
            ids.append(replaced[np.fromiter((i for s in sentences for i in s), dtype=dtype)])
        num_tokens = ids.length
    if not num_tokens:
        raise ValueError("the corpus has no text. Give at least one file with sentences in it.")
    # Written last: a folder without it is incomplete.
    (folder / "fingerprint").write_text(hash_corpus(folder), encoding="utf-8")
    return open_corpus(folder)


def hash_corpus(folder: Path) -> str:
    """Return the fingerprint of the arrays in a folder, from their content.

    RuntimeError if one of them cannot be read.
    """
    digest = hashlib.sha256()
    for array in _map_arrays(folder):
        for start in range(0, len(array), _HASHED_AT_ONCE):
            digest.update(np.ascontiguousarray(array[start : start + _HASHED_AT_ONCE]).data)
    return digest.hexdigest()[:16]


def record_corpus(folder: Path, fingerprint: str) -> dict[str, Any]:
    """Return a packed corpus's fingerprint with sizes and times, for `check_corpus`."""
    return {"fingerprint": fingerprint, "files": _corpus_files(folder)}


def check_corpus(folder: Path, recorded: dict[str, Any]) -> None:
    """Reject a packed corpus that is not the one a run was started with.

    It is read only if a size or a time differs. ValueError if its content changed.
    """
    if _corpus_files(folder) == recorded["files"]:
        return
    fingerprint = hash_corpus(folder)
    if fingerprint != recorded["fingerprint"]:
        raise ValueError(
            f"the packed corpus {str(folder)!r} changed since the run was started (fingerprint "
            f"{fingerprint}, expected {recorded['fingerprint']}). "
            "Restore that folder to resume, or start a new run."
        )


def _corpus_files(folder: Path) -> dict[str, list[int]]:
    """Return size and time of each array of a packed corpus."""
    stats = {path.name: path.stat() for path in sorted(folder.glob("*.npy"))}
    return {name: [file.st_size, file.st_mtime_ns] for name, file in stats.items()}


def _groups(documents: Iterable[list[str]]) -> Iterator[list[list[str]]]:
    """Collect documents for one call of the tokenizer, which uses all cores."""
    group: list[list[str]] = []
    num_sentences = num_characters = 0
    for document in documents:
        group.append(document)
        num_sentences += len(document)
        num_characters += sum(map(len, document))
        if num_sentences >= _BATCH_SENTENCES or num_characters >= _BATCH_CHARACTERS:
            yield group
            group, num_sentences, num_characters = [], 0, 0
    yield group


def open_corpus(folder: Path) -> PackedCorpus:
    """Map a folder written by `pack_corpus_to`; RuntimeError if one of its files is missing."""
    ids, sentence_starts, document_starts = _map_arrays(folder)
    try:
        fingerprint = (folder / "fingerprint").read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _unreadable(folder, error) from error
    return PackedCorpus(ids, sentence_starts, document_starts, fingerprint)


def _map_arrays(folder: Path) -> list[NDArray[Any]]:
    try:
        return [np.load(folder / f"{name}.npy", mmap_mode="r") for name in _ARRAYS]
    except (OSError, ValueError) as error:
        raise _unreadable(folder, error) from error


def _unreadable(folder: Path, error: Exception) -> RuntimeError:
    return RuntimeError(
        f"packed corpus {str(folder)!r} cannot be read ({error}). "
        "Delete that folder and start again."
    )
