"""The files of a tokenizer folder, as Hugging Face's libraries write and read them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as FastTokenizer

from bertcore.base.links import read_file

VOCAB_FILE = "vocab.txt"
TOKENIZER_FILE = "tokenizer.json"
CONFIG_FILE = "tokenizer_config.json"
SPECIAL_TOKENS_FILE = "special_tokens_map.json"
ADDED_TOKENS_FILE = "added_tokens.json"
VOCAB_JSON_FILE = "vocab.json"
MERGES_FILE = "merges.txt"
MODEL_CONFIG_FILE = "config.json"
SENTENCEPIECE_FILES = tuple(
    f"{name}.model" for name in ("spiece", "sentencepiece.bpe", "tokenizer", "spm", "sentencepiece")
)
VOCABULARIES = (*SENTENCEPIECE_FILES, VOCAB_JSON_FILE, MERGES_FILE, VOCAB_FILE)
"""Vocabularies beside or instead of tokenizer.json."""

MAX_BYTES = 200_000_000
"""Maximum size of a file: a tokenizer.json of a million pieces has half of that."""
DEFAULT_MAX_LENGTH = 512
"""Positions of every published BERT; the default if no file states it."""

_MALFORMED = (LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError)
"""Errors raised by JSON of an unexpected form, such as a list instead of names."""

ROLES = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")


def _content_of(name: str) -> cached_property[dict[str, Any]]:
    return cached_property(lambda folder: read_json(folder / name))


class TokenizerFolder:
    """The files of a tokenizer's folder; each JSON file is read once, an absent one is {}.

    Its properties raise RuntimeError if a file is no JSON object, cannot be read, is too large, or
    is a link to a file outside the folder.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def has(self, *names: str) -> bool:
        """Return whether it contains all of some files."""
        return all((self.path / name).is_file() for name in names)

    @property
    def vocabularies(self) -> list[str]:
        """The names of its vocabulary files: tokenizer.json, or those that are there instead."""
        if self.has(TOKENIZER_FILE):
            return [TOKENIZER_FILE]
        return [name for name in VOCABULARIES if self.has(name)]

    rules = _content_of(TOKENIZER_FILE)
    config = _content_of(CONFIG_FILE)
    special = _content_of(SPECIAL_TOKENS_FILE)
    added = _content_of(ADDED_TOKENS_FILE)
    model_config = _content_of(MODEL_CONFIG_FILE)

    @property
    def max_length(self) -> int:
        """The longest input that tokenizer_config.json and config.json allow, in tokens."""
        positions = self.model_config.get("max_position_embeddings")
        positions = int(positions or self.model_config.get("n_positions") or DEFAULT_MAX_LENGTH)
        stated = self.config.get("model_max_length")
        if not stated:
            return positions
        if not isinstance(stated, int | float) or not stated >= 1:  # nor NaN
            raise ValueError(
                f"model_max_length is {str(stated)[:100]!r}; expected a number, at least 1"
            )
        # transformers writes 1e30 for "not known".
        return int(min(stated, positions))


def write_rules(
    folder: Path,
    fast: FastTokenizer,
    config: dict[str, Any],
    special: dict[str, str],
    **parts: dict[str, Any] | None,
) -> None:
    """Write tokenizer.json, tokenizer_config.json and special_tokens_map.json.

    `parts` are parts of tokenizer.json that replace those of `fast`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rules, pieces = fast.to_str(pretty=True), fast.get_vocab(with_added_tokens=False)
    repeats = len(set(pieces.values())) < len(pieces)  # the library writes one piece of each id
    if parts or repeats:
        content = {**json.loads(rules), **parts}
        if repeats:
            content["model"]["vocab"] = pieces
        rules = json.dumps(content, indent=2, ensure_ascii=False)
    (folder / TOKENIZER_FILE).write_text(rules, encoding="utf-8")
    for name, settings in ((CONFIG_FILE, config), (SPECIAL_TOKENS_FILE, special)):
        (folder / name).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if there is no file.

    RuntimeError if it is not a JSON object, cannot be read, is too large, or is a link to a file
    outside its folder.
    """
    try:
        if not path.is_file():
            return {}
        content: dict[str, Any] = dict(json.loads(read_file(path, MAX_BYTES).decode("utf-8-sig")))
    except OSError as error:
        raise RuntimeError(f"{path} cannot be read ({error.strerror}).") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise RuntimeError(f"{path} is not a JSON object ({error}). Copy it again.") from error
    return content


@contextmanager
def well_formed(folder: str | Path) -> Iterator[None]:
    """Turn errors that JSON of an unexpected form causes into RuntimeError with the folder."""
    try:
        yield
    except _MALFORMED as error:
        raise RuntimeError(
            f"the tokenizer's files in {folder} have an unexpected form "
            f"({type(error).__name__}: {str(error)[:300]}). Copy them again."
        ) from error


def read_max_length(folder: Path) -> int:
    """Return the longest input that the files of a tokenizer's folder allow, in tokens.

    RuntimeError if they are damaged.
    """
    with well_formed(folder):
        return TokenizerFolder(folder).max_length
