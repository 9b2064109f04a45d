"""Validate, read and divide corpus files; train the tokenizer."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bertcore.configs.data import RowKind
from bertcore.pretraining.data.corpus import PackedCorpus, read_documents, read_sentences
from bertcore.tokenizer import Tokenizer, train_vocabulary

TEXTS = {"train": "training text", "valid": "held-out text"}
"""Names of a run's two corpora, as folders and in words."""

OnStage = Callable[[str, float | None], None]
"""Called with the current stage and the fraction done, 0 to 1; None if it is unknown."""


def silent(what: str, fraction: float | None) -> None:
    """Ignore the report."""


def check_text(name: str, paths: Sequence[Path], *, rows: RowKind = "pairs") -> None:
    """Reject a text that cannot be used for training; read no further than needed.

    Args:
        name: A key of `TEXTS`.
        paths: As for `read_documents`.
        rows: The rows to make of it; for packed rows, any text will do.

    ValueError as `check_counts`, or if a file cannot be read. OSError if a file cannot be opened.
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
    """Reject a text that is empty, or has no sentence pairs of the required kinds.

    Args:
        name: A key of `TEXTS`. A single held-out document suffices: nothing is learned from it, and
            its random halves come from other places in it.
        most_sentences: Largest number of sentences in a document.
        rows: The rows to make of it.

    ValueError if there are too few.
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
    """Learn a WordPiece vocabulary from text files.

    Args:
        vocab_size, do_lower_case, strip_accents, tokenize_chinese_chars, alphabet: As for
            `train_vocabulary`.
        on_stage: Called with the current stage and the fraction done.

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
    """Write every n-th document of a text to `valid` and the others to `train`.

    Args:
        paths: Text files as for `read_documents`; read twice.
        train, valid: Files to write, plain UTF-8, in folders that exist.
        fraction: Fraction of the documents, 0 < fraction <= 0.5; at least one is held out.

    Returns:
        Number of documents in `train` and in `valid`.

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
