"""The files of a tokenizer folder, as Hugging Face's libraries write and read them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertcore.tokenizer.training import PREFIX, SPECIAL_TOKENS

VOCAB_FILE = "vocab.txt"
TOKENIZER_FILE = "tokenizer.json"
CONFIG_FILE = "tokenizer_config.json"
SPECIAL_TOKENS_FILE = "special_tokens_map.json"
ADDED_TOKENS_FILE = "added_tokens.json"
MODEL_CONFIG_FILE = "config.json"

DEFAULT_MAX_LENGTH = 512
"""Positions of every published BERT; used where no file says otherwise."""

_ROLES = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenizerFiles:
    """What the files of a folder say, checked to be a BERT WordPiece tokenizer."""

    source: Path
    """The file that gave the vocabulary."""
    vocab: list[str]
    do_lower_case: bool
    strip_accents: bool | None
    tokenize_chinese_chars: bool
    model_max_length: int
    added_tokens: list[str]


def read_tokenizer_files(folder: Path) -> TokenizerFiles:
    """Read vocab.txt or tokenizer.json with the settings beside it.

    tokenizer.json wins where both are there, as in transformers; a setting that it lacks is
    taken from tokenizer_config.json.

    Raises:
        FileNotFoundError: If the folder, or both vocabulary files, are missing.
        RuntimeError: If a file is damaged or belongs to another kind of tokenizer.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder. Pass the folder of a checkpoint.")
    config = _read_json(folder / CONFIG_FILE)
    _check_class(config, folder / CONFIG_FILE)
    _check_special_tokens(config, folder / CONFIG_FILE)
    _check_special_tokens(_read_json(folder / SPECIAL_TOKENS_FILE), folder / SPECIAL_TOKENS_FILE)
    if (folder / TOKENIZER_FILE).is_file():
        source = folder / TOKENIZER_FILE
        vocab, added, options = _parse_tokenizer_json(_read_json(source), source)
    elif (folder / VOCAB_FILE).is_file():
        source = folder / VOCAB_FILE
        vocab, added, options = _read_vocab(source), {}, {}
    else:
        raise FileNotFoundError(
            f"{folder} holds neither {VOCAB_FILE} nor {TOKENIZER_FILE}. Copy the tokenizer's "
            "files into it (tokenizer.save_pretrained writes them)."
        )
    added = {**_added_tokens(config, folder), **added}
    all_tokens = _with_added(vocab, added, source)
    return TokenizerFiles(
        source=source,
        vocab=all_tokens,
        do_lower_case=options.get("lowercase", config.get("do_lower_case", True)),
        strip_accents=options.get("strip_accents", config.get("strip_accents")),
        tokenize_chinese_chars=options.get(
            "handle_chinese_chars", config.get("tokenize_chinese_chars", True)
        ),
        model_max_length=_max_length(config, _read_json(folder / MODEL_CONFIG_FILE)),
        added_tokens=[
            token for token in sorted(added, key=added.__getitem__) if token not in SPECIAL_TOKENS
        ],
    )


def write_tokenizer_files(
    folder: Path,
    *,
    vocab: Sequence[str],
    tokenizer_json: str,
    do_lower_case: bool,
    strip_accents: bool | None,
    tokenize_chinese_chars: bool,
    model_max_length: int,
    added_tokens: Sequence[str],
) -> None:
    """Write the folder so that `transformers.AutoTokenizer` gives the same ids.

    Raises:
        ValueError: If a vocabulary entry holds a line break, for which vocab.txt has no form.
    """
    broken = [token for token in vocab if "\n" in token or "\r" in token]
    if broken:
        raise ValueError(f"vocabulary entry {broken[0]!r} holds a line break; remove it.")
    folder.mkdir(parents=True, exist_ok=True)
    roles = dict(zip(_ROLES, SPECIAL_TOKENS, strict=True))
    special: dict[str, Any] = dict(roles)
    if added_tokens:
        special["additional_special_tokens"] = list(added_tokens)
    config = {
        **special,
        "do_lower_case": do_lower_case,
        "model_max_length": model_max_length,
        "strip_accents": strip_accents,
        "tokenize_chinese_chars": tokenize_chinese_chars,
        "tokenizer_class": "BertTokenizer",
    }
    text = "".join(f"{token}\n" for token in vocab)
    (folder / VOCAB_FILE).write_text(text, encoding="utf-8", newline="\n")
    (folder / TOKENIZER_FILE).write_text(tokenizer_json, encoding="utf-8")
    for name, content in ((CONFIG_FILE, config), (SPECIAL_TOKENS_FILE, special)):
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _read_json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content: dict[str, Any] = dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise RuntimeError(f"{path} is not a JSON object ({error}). Copy it again.") from error
    return content


def _read_vocab(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RuntimeError(f"{path} is not UTF-8 text ({error}). Copy it again.") from error
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _parse_tokenizer_json(
    content: dict[str, Any], path: Path
) -> tuple[list[str], dict[str, int], dict[str, Any]]:
    """Return the vocabulary, the added tokens with their ids, and the normaliser's options."""
    model = content.get("model") or {}
    normalizer = content.get("normalizer") or {}
    pre_tokenizer = content.get("pre_tokenizer") or {}
    # Very old files do not name the model's type; only WordPiece has these two fields.
    is_wordpiece = "continuing_subword_prefix" in model and "max_input_chars_per_word" in model
    if model.get("type", "WordPiece" if is_wordpiece else "unknown") != "WordPiece":
        raise RuntimeError(
            f"{path} holds a {model.get('type', 'model of unknown kind')}, not a WordPiece "
            "tokenizer. Only BERT's WordPiece tokenizers can be opened here."
        )
    if model.get("continuing_subword_prefix", PREFIX) != PREFIX:
        raise RuntimeError(f"{path}: pieces continue with another mark than {PREFIX!r}.")
    for part, name, expected in (
        (normalizer, "normalizer", "BertNormalizer"),
        (pre_tokenizer, "pre_tokenizer", "BertPreTokenizer"),
    ):
        if part.get("type") != expected:
            raise RuntimeError(
                f"{path}: its {name} is {part.get('type')}, but a BERT tokenizer has a {expected}."
            )
    ids: dict[str, int] = model.get("vocab") or {}
    added = {entry["content"]: entry["id"] for entry in content.get("added_tokens") or []}
    tokens = sorted(ids, key=ids.__getitem__)
    if [ids[token] for token in tokens] != list(range(len(tokens))):
        raise RuntimeError(f"{path}: the ids of its {len(tokens)} tokens have gaps.")
    return tokens, added, normalizer


def _added_tokens(config: dict[str, Any], folder: Path) -> dict[str, int]:
    added: dict[str, int] = dict(_read_json(folder / ADDED_TOKENS_FILE))
    for id, entry in (config.get("added_tokens_decoder") or {}).items():
        added[entry["content"]] = int(id)
    return added


def _with_added(vocab: list[str], added: dict[str, int], source: Path) -> list[str]:
    """The vocabulary with the added tokens that it does not hold yet, at their ids."""
    known = set(vocab)
    tokens = list(vocab)
    for token in sorted(added, key=added.__getitem__):
        if token in known:
            continue
        if added[token] != len(tokens):
            raise RuntimeError(
                f"{source}: added token {token!r} has id {added[token]}, but the next free id "
                f"is {len(tokens)}."
            )
        tokens.append(token)
    return tokens


def _check_class(config: dict[str, Any], path: Path) -> None:
    name = config.get("tokenizer_class")
    if name not in (None, "BertTokenizer", "BertTokenizerFast"):
        raise RuntimeError(
            f"{path} names a {name}, but only BertTokenizer can be opened here. "
            "Open a checkpoint of the BERT family with a WordPiece vocabulary."
        )


def _check_special_tokens(content: dict[str, Any], path: Path) -> None:
    for role, expected in zip(_ROLES, SPECIAL_TOKENS, strict=True):
        entry = content.get(role)
        token = entry.get("content") if isinstance(entry, dict) else entry
        if token not in (None, expected):
            raise RuntimeError(f"{path}: {role} is {token!r}, but BERT's is {expected!r}.")


def _max_length(config: dict[str, Any], model_config: dict[str, Any]) -> int:
    positions = int(model_config.get("max_position_embeddings") or DEFAULT_MAX_LENGTH)
    stated = config.get("model_max_length")
    # transformers writes 1e30 for "not known".
    return min(int(stated), positions) if stated else positions
