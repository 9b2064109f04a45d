"""Which files of a folder a tokenizer is read from, and by which class."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from bertcore.tokenizer.files import (
    MALFORMED,
    MERGES_FILE,
    ROLES,
    TOKENIZER_FILE,
    VOCAB_FILE,
    VOCAB_JSON_FILE,
    TokenizerFolder,
    is_wordpiece,
    malformed,
)
from bertcore.tokenizer.library import LibraryTokenizer
from bertcore.tokenizer.older_files import SENTENCEPIECE_FILES
from bertcore.tokenizer.tokenizer import Tokenizer
from bertcore.tokenizer.training import SPECIAL_TOKENS

WORDPIECE, LIBRARY, CONVERTED = "WordPiece", "library", "converted"
"""Readers: `Tokenizer.open`, `LibraryTokenizer.open` and `LibraryTokenizer.convert`."""
Readers: TypeAlias = Mapping[tuple[str, ...], tuple[str, str]]
"""Files -> the reader if they split text as BERT does, and otherwise; the first files that are all
there decide."""
_SENTENCEPIECE: Readers = {(name,): (CONVERTED, CONVERTED) for name in SENTENCEPIECE_FILES}
BERT_FAMILY: Readers = {
    (TOKENIZER_FILE,): (WORDPIECE, LIBRARY),
    (VOCAB_JSON_FILE, MERGES_FILE): (LIBRARY, LIBRARY),
    (VOCAB_FILE,): (WORDPIECE, WORDPIECE),
    **_SENTENCEPIECE,
}
OTHERS: Readers = {
    (TOKENIZER_FILE,): (WORDPIECE, LIBRARY),
    (VOCAB_FILE,): (WORDPIECE, CONVERTED),
    (VOCAB_JSON_FILE, MERGES_FILE): (CONVERTED, CONVERTED),
    **_SENTENCEPIECE,
}


def open_tokenizer(folder: str | Path) -> Tokenizer:
    """Return the tokenizer of a checkpoint of the BERT family, of any kind.

    Raises:
        FileNotFoundError: If the folder lacks the tokenizer's files.
        RuntimeError: If they are damaged.
    """
    files = TokenizerFolder(folder)
    try:
        # The WordPiece reader rejects a file that is not a tokenizer at all, with its message.
        is_other = isinstance(files.rules.get("model"), dict) and not _is_wordpiece(files)
        if not files.has(TOKENIZER_FILE):
            _check_both(files)
        reader = choose_reader(files, BERT_FAMILY, is_berts=not is_other) or WORDPIECE
        return _read(files, reader, None)
    except MALFORMED as error:
        raise malformed(folder, error) from error


def open_other_tokenizer(folder: str | Path, tokens: Mapping[str, str]) -> Tokenizer:
    """Return the tokenizer of an architecture other than BERT; it may lack special tokens.

    Args:
        folder: The checkpoint's folder.
        tokens: Special tokens by role, used if the files do not name them.

    Raises:
        FileNotFoundError: If the folder lacks the tokenizer's files.
        RuntimeError: If they are damaged.
    """
    files = TokenizerFolder(folder)
    try:
        berts = dict(zip(ROLES, SPECIAL_TOKENS, strict=True))
        has_berts_names = {**berts, **tokens, **files.roles} == berts
        is_berts = has_berts_names and (not files.has(TOKENIZER_FILE) or _is_wordpiece(files))
        reader = choose_reader(files, OTHERS, is_berts=is_berts)
        if reader is not None:
            return _read(files, reader, tokens)
    except MALFORMED as error:
        raise malformed(folder, error) from error
    raise FileNotFoundError(
        f"{folder} contains no tokenizer: neither {TOKENIZER_FILE} nor {VOCAB_JSON_FILE} with "
        f"{MERGES_FILE} nor {SENTENCEPIECE_FILES[0]}. Copy the checkpoint's tokenizer into it."
    )


def choose_reader(files: TokenizerFolder, readers: Readers, *, is_berts: bool) -> str | None:
    """Return the reader of the first files that are all there, or None."""
    found = next((pair for names, pair in readers.items() if files.has(*names)), None)
    return None if found is None else found[0 if is_berts else 1]


def _read(files: TokenizerFolder, reader: str, tokens: Mapping[str, str] | None) -> Tokenizer:
    if reader == WORDPIECE:
        return Tokenizer.open(files)
    if reader == LIBRARY:
        return LibraryTokenizer.open(files, tokens=tokens)
    return LibraryTokenizer.convert(files, tokens=tokens)


def _is_wordpiece(files: TokenizerFolder) -> bool:
    return is_wordpiece(files.rules, follows_rules=files.follows_rules)


def _check_both(files: TokenizerFolder) -> None:
    """Raise FileNotFoundError if one of the two files of a byte-level BPE is missing."""
    names = (VOCAB_JSON_FILE, MERGES_FILE)
    present = [name for name in names if files.has(name)]
    if len(present) == 1:
        lacks = next(name for name in names if name not in present)
        raise FileNotFoundError(
            f"{files.path} has {present[0]} but neither {lacks}, which belongs to it, nor "
            f"{TOKENIZER_FILE}. Copy it from the source of the checkpoint."
        )
