"""Convert older vocabulary files with `transformers`, which is handed nothing that is not listed.

The classes of `transformers` take any key of tokenizer_config.json as an argument: "vocab" there,
or "vocab_file" in special_tokens_map.json, is opened as a path, wherever it leads. So a class never
sees the checkpoint's folder: it opens a new one, with the vocabulary files that it reads by
default, checked and copied, and with JSON files that contain its listed settings only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bertcore.base.links import read_file
from bertcore.tokenizer.bounds import (
    MOST_ADDED,
    MOST_PIECES,
    check_number,
    check_sentencepiece,
    check_text,
    check_vocabulary,
)
from bertcore.tokenizer.files import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    MAX_BYTES,
    MERGES_FILE,
    SPECIAL_TOKENS_FILE,
    VOCAB_FILE,
    VOCAB_JSON_FILE,
    TokenizerFolder,
)

SENTENCEPIECE_FILES = (
    "spiece.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
    "spm.model",
)
OLDER_FILES = (*SENTENCEPIECE_FILES, VOCAB_JSON_FILE, MERGES_FILE, VOCAB_FILE)
"""Vocabularies beside or instead of tokenizer.json."""

_WORDPIECE = ("do_lower_case", "strip_accents", "tokenize_chinese_chars")
_ALBERT = ("add_prefix_space", "do_lower_case", "keep_accents", "remove_space", "trim_offsets")
_BYTES = ("add_prefix_space", "trim_offsets")
_CLASSES: Mapping[str, tuple[str, ...]] = {
    "AlbertTokenizer": _ALBERT,
    "BarthezTokenizer": ("add_prefix_space",),
    "BartTokenizer": _BYTES,
    "BertTokenizer": _WORDPIECE,
    "BigBirdTokenizer": ("add_prefix_space",),
    "CamembertTokenizer": ("add_prefix_space",),
    "DebertaTokenizer": _BYTES,
    "DebertaV2Tokenizer": ("add_prefix_space", "do_lower_case", "split_by_punct"),
    "DistilBertTokenizer": _WORDPIECE,
    "ElectraTokenizer": _WORDPIECE,
    "FNetTokenizer": _ALBERT,
    "FunnelTokenizer": (*_WORDPIECE, "clean_text"),
    "GPT2Tokenizer": ("add_bos_token", "add_prefix_space"),
    "LEDTokenizer": _BYTES,
    "LlamaTokenizer": ("add_bos_token", "add_eos_token", "add_prefix_space", "legacy"),
    "LongformerTokenizer": _BYTES,
    "MobileBertTokenizer": _WORDPIECE,
    "MPNetTokenizer": _WORDPIECE,
    "RobertaTokenizer": _BYTES,
    "SplinterTokenizer": _WORDPIECE,
    "T5Tokenizer": ("extra_ids", "legacy"),
    "TokenizersBackend": ("add_bos_token", "add_eos_token", "add_prefix_space"),
    "XLMRobertaTokenizer": ("add_prefix_space",),
    "XLNetTokenizer": ("do_lower_case", "keep_accents", "remove_space"),
}
"""The classes of `transformers` that convert, with their settings."""
_PLAIN = ("PreTrainedTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend")
"""Names of the class without rules of its own."""
_NUMBERS = ("extra_ids",)
"""The settings that are no switches."""
_FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")
_LISTS = ("additional_special_tokens", "extra_special_tokens")


def convert_older_files(files: TokenizerFolder) -> Any:
    """Return the tokenizer of `transformers` for a folder without tokenizer.json.

    Raises:
        ValueError: If its class or a setting is not listed, or the vocabulary is impossible.
        RuntimeError, OSError: As `read_file`.
        Exception: Of many other kinds, from three libraries.
    """
    import transformers

    config = files.config
    name = _class_name(config, files.model_config)
    tokenizer_class = getattr(transformers, name)
    settings = {key: _setting(key, config[key]) for key in _CLASSES[name] if key in config}
    settings |= _tokens(config)
    if "added_tokens_decoder" in config:
        added = config["added_tokens_decoder"] or {}
        check_number("added tokens", len(added), MOST_ADDED)
        settings["added_tokens_decoder"] = {
            _id(number): _token("added token", token) for number, token in added.items()
        }
    check_number("added tokens", len(files.added), MOST_ADDED)
    copies = {
        CONFIG_FILE: settings,
        SPECIAL_TOKENS_FILE: _tokens(files.special),
        ADDED_TOKENS_FILE: {check_text("token", t): _id(id) for t, id in files.added.items()},
    }
    with TemporaryDirectory() as place:
        for role in ("vocab_file", "merges_file"):
            if file := tokenizer_class.vocab_files_names.get(role):
                (Path(place) / file).write_bytes(read_vocabulary(files / file))
        for file, content in copies.items():
            if content:
                (Path(place) / file).write_text(json.dumps(content), encoding="utf-8")
        return tokenizer_class.from_pretrained(place, local_files_only=True)


def _class_name(config: Mapping[str, Any], model_config: Mapping[str, Any]) -> str:
    """Return the class that AutoTokenizer would choose.

    Raises:
        ValueError: If it is not listed.
    """
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

    model_type = model_config.get("model_type")
    usual = TOKENIZER_MAPPING_NAMES.get(model_type) if isinstance(model_type, str) else None
    named = config.get("tokenizer_class") or model_config.get("tokenizer_class") or usual
    name = str(named).removesuffix("Fast")
    if name in _PLAIN or usual in _PLAIN:
        name = "TokenizersBackend"
    if name not in _CLASSES:
        raise ValueError(
            f"its tokenizer_class is {str(named)[:100]!r}, which is not among those converted here"
        )
    return name


def read_vocabulary(file: Path) -> bytes:
    """Return the content of an older vocabulary file, checked.

    Raises:
        ValueError: If it is no such file, or has too many or too long pieces.
        RuntimeError, OSError: As `read_file`.
    """
    if not file.is_file():
        raise ValueError(f"its class reads {file.name}, which is not there")
    content = read_file(file, MAX_BYTES)
    if file.name in SENTENCEPIECE_FILES:
        check_sentencepiece(content)
    else:
        check_vocabulary(content, file.name)
    return content


def _setting(name: str, value: object) -> object:
    """Return a setting of the listed type, or None; raise ValueError for another."""
    if name in _NUMBERS and isinstance(value, int):
        check_number(name, value, MOST_ADDED)
    elif value is not None and not isinstance(value, bool):
        raise ValueError(f"its {name} is {str(value)[:100]!r}; expected true or false")
    return value


def _tokens(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the special tokens in a file, by role, and the lists of further ones."""
    tokens = {
        role: _token(role, token)
        for role, token in content.items()
        if role.endswith("_token") and token is not None and not isinstance(token, bool)
    }
    for name in _LISTS:
        entries = content.get(name)
        check_number(name, len(entries or ()), MOST_ADDED)
        if isinstance(entries, dict):
            tokens[name] = {check_text(name, key): _token(name, entries[key]) for key in entries}
        elif entries is not None:
            tokens[name] = [_token(name, entry) for entry in entries]
    return tokens


def _token(name: str, token: object) -> object:
    """Return a special token, as a text or with its flags."""
    if not isinstance(token, dict):
        return check_text(name, token)
    flags = {flag: bool(token[flag]) for flag in _FLAGS if flag in token}
    kind = {"__type": "AddedToken"} if "__type" in token else {}
    return {**kind, "content": check_text(name, token.get("content")), **flags}


def _id(number: object) -> int:
    """Return the id of an added token."""
    check_number("id of an added token", value := int(str(number)), MOST_PIECES)
    return value
