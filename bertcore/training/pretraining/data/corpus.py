"""Read, check and divide text files; pack them into a corpus: one array of ids, with borders."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertcore.data.files import find_encoding, lines_of, open_text
from bertcore.data.sentences import split_sentences
from bertcore.model.architecture.objectives import RowKind
from bertcore.model.tokenizer import Tokenizer, train_vocabulary


class ArrayFile:
    """A one-dimensional array on disk that grows by blocks; `numpy.load` reads it.

    The header gets the length in `finish`: an unfinished file reads as empty.
    """

    def __init__(self, path: Path, dtype: np.dtype[Any]) -> None:
        self._file = path.open("wb")
        self.dtype, self.length = dtype, 0
        self._write_header()

    def append(self, block: NDArray[Any]) -> None:
        """Add numbers at the end."""
        self._file.write(np.ascontiguousarray(block, dtype=self.dtype).data)
        self.length += len(block)

    def finish(self) -> None:
        self._file.seek(0)
        self._write_header()

    def close(self) -> None:
        self._file.close()

    def _write_header(self) -> None:
        """Write the header with the length so far; numpy's has room for any length."""
        descr = np.lib.format.dtype_to_descr(self.dtype)
        header = {"descr": descr, "fortran_order": False, "shape": (self.length,)}
        np.lib.format.write_array_header_1_0(self._file, header)


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
    """Yield each document of text files, plain or compressed, as its list of paragraphs.

    A line is a paragraph (or a sentence); a blank line ends a document, as does the end of a file.
    `on_read` is called at least once per document.

    ValueError if a file is missing, is not UTF-8 (with or without a byte order mark), is not a
    complete archive or has a line of more than `LONGEST_LINE` characters. OSError if a file cannot
    be opened.
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
    ("[SEP]") becomes [UNK]: only BERT itself sets special tokens. Up to 65,536 pieces take two
    bytes per token, more take four. An older corpus in the folder is overwritten.

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
    start, border = np.zeros(1, dtype=np.int64), np.dtype(np.int64)
    with ExitStack() as stack:
        ids, sentence_starts, document_starts = (
            stack.enter_context(closing(ArrayFile(folder / f"{name}.npy", kind)))
            for name, kind in zip(_ARRAYS, (dtype, border, border), strict=True)
        )
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
        for array in (ids, sentence_starts, document_starts):
            array.finish()
    if not ids.length:
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


TEXTS = {"train": "training text", "valid": "held-out text"}
"""Names of a run's two corpora, as folders and in words."""

OnStage = Callable[[str, float | None], None]
"""Called with the current stage and the fraction done, 0 to 1; None if it is unknown."""


def silent(what: str, fraction: float | None) -> None:
    """Ignore the report."""


def check_text(name: str, paths: Sequence[Path], *, rows: RowKind = "pairs") -> None:
    """Reject a text, named by a key of `TEXTS`, that cannot be used; read no further than needed.

    For packed rows, any text will do. ValueError as `check_counts`, or if a file cannot be read.
    OSError if a file cannot be opened.
    """
    num_documents = most_sentences = 0
    for document in read_sentences(paths):
        num_documents += 1
        most_sentences = max(most_sentences, len(document))
        has_enough = num_documents > 1 or rows != "pairs"
        if rows == "packed" or (has_enough and most_sentences > 1):
            break
    check_counts(name, num_documents, most_sentences, rows=rows)


def check_counts(
    name: str, num_documents: int, most_sentences: int, *, rows: RowKind = "pairs"
) -> None:
    """Reject a text that is empty, or has no sentence pairs of the required kinds; ValueError.

    `name` is a key of `TEXTS`. A single held-out document suffices: nothing is learned from it, and
    its random halves come from other places in it. `most_sentences` is the largest number in a
    document.
    """
    if num_documents == 0:
        raise ValueError(
            f"the {TEXTS[name]} has no text. Give at least one file with sentences in it."
        )
    if rows == "packed":
        return
    if num_documents == 1 and name == "train" and rows == "pairs":
        raise ValueError(
            f"the {TEXTS[name]} is a single document, but a next-sentence pair takes its random "
            "half from another one. Put a blank line between documents, give more files, or train "
            "on masked words alone (--objective mlm)."
        )
    if most_sentences < 2:
        raise ValueError(
            f"no document of the {TEXTS[name]} has two sentences, so no sentence has a next one. "
            "Put blank lines only between documents, not between their sentences, or use masked "
            "words alone (--objective mlm)."
        )


def note_on_halves(valid: PackedCorpus, rows: RowKind) -> str | None:
    """Return a sentence if the random halves of held-out pairs come from their own document."""
    if rows != "pairs" or valid.num_documents > 1:
        return None
    return (
        "the held-out text is a single document, from which the random halves of its pairs come "
        "too: next sentences are harder to recognise there than among several documents."
    )


def train_tokenizer(
    corpus: Sequence[Path],
    *,
    vocab_size: int,
    do_lower_case: bool = True,
    strip_accents: bool | None = None,
    tokenize_chinese_chars: bool = True,
    alphabet: int | None = None,
    on_stage: OnStage = silent,
) -> Tokenizer:
    """Learn a WordPiece vocabulary from text files; the settings are those of `train_vocabulary`.

    ValueError if a file cannot be read or the text is too small for that many pieces.
    """
    texts = _Paragraphs(corpus, on_stage)
    rules: dict[str, Any] = {
        "do_lower_case": do_lower_case,
        "strip_accents": strip_accents,
        "tokenize_chinese_chars": tokenize_chinese_chars,
    }
    vocab = train_vocabulary(texts, vocab_size=vocab_size, alphabet=alphabet, **rules)
    return Tokenizer(vocab, **rules)


class ByteCount:
    """Reports the fraction of all files read so far, at most a hundred times."""

    def __init__(
        self, paths: Sequence[Path], what: str, on_stage: OnStage, *, num_passes: int = 1
    ) -> None:
        self._what, self._on_stage = what, on_stage
        self._total = num_passes * max(1, sum(path.stat().st_size for path in paths))
        self._done = 0
        self._reported = 0.0
        on_stage(what, 0.0)

    def __call__(self, num_bytes: int) -> None:
        """Count the bytes read since the last call."""
        self._done += num_bytes
        fraction = min(1.0, self._done / self._total)
        if fraction - self._reported >= 0.01:
            self._reported = fraction
            self._on_stage(self._what, fraction)


class _Paragraphs:
    """The paragraphs of files, reread each time: learning a vocabulary reads its text twice."""

    def __init__(self, paths: Sequence[Path], on_stage: OnStage) -> None:
        self._paths = tuple(paths)
        for path in paths:  # a missing file has no size to count
            next(read_documents([path]), None)
        self._on_read = ByteCount(self._paths, "learning the vocabulary", on_stage, num_passes=2)

    def __iter__(self) -> Iterator[str]:
        for document in read_documents(self._paths, on_read=self._on_read):
            yield from document


HELD_OUT_FRACTION = 0.05


def split_held_out(
    paths: Sequence[Path], train: Path, valid: Path, *, fraction: float = HELD_OUT_FRACTION
) -> tuple[int, int]:
    """Write every n-th document of a text to `valid`, the others to `train`; return how many.

    The files, as for `read_documents`, are read twice; plain UTF-8 is written, into folders that
    exist. 0 < fraction <= 0.5; at least one document is held out.

    ValueError if a file cannot be read, the fraction is out of its range, or there are fewer than
    two documents.
    """
    if not 0 < fraction <= 0.5:
        raise ValueError(f"fraction is {fraction}; expected above 0 and at most 0.5.")
    total = sum(1 for _ in read_documents(paths))
    if total < 2:
        raise ValueError(
            f"the text has {total} document{'' if total == 1 else 's'}; at least 2 are needed, one "
            "of them held out. Put a blank line between documents."
        )
    every = max(2, min(round(1 / fraction), total))
    counts = [0, 0]
    with train.open("w", encoding="utf-8") as to_train, valid.open("w", encoding="utf-8") as rest:
        for index, document in enumerate(read_documents(paths)):
            is_held_out = index % every == every - 1
            out = rest if is_held_out else to_train
            out.write("\n".join(document) + "\n\n")
            counts[is_held_out] += 1
    return counts[0], counts[1]


_FOLDER = Path(__file__).parent / "texts"


class BundledText(NamedTuple):
    """A text in corpus form: one paragraph per line, a blank line between documents."""

    title: str
    train: Path
    valid: Path
    """The held-out part."""


NOVEL = BundledText(
    "Jane Austen, Pride and Prejudice (1813)",
    _FOLDER / "austen_train.txt.xz",
    _FOLDER / "austen_valid.txt.xz",
)
"""56 and 5 chapters of a novel; `texts/README.md` states its source."""

_RECORDED = Path(__file__).parents[1] / "recorded"
RECORDED_RUN = _RECORDED / "from-noise"
"""A small run from noise, to be replayed: settings, scores and probes, without weights; its
`README.md` explains how it was made."""
RECORDED_RUNS = (RECORDED_RUN, _RECORDED / "novel")
"""That, and five minutes on the novel."""
