"""The tokenizer that AutoTokenizer of `transformers` builds from a folder's files.

A file of a checkpoint may name any other file: "vocab" in tokenizer_config.json is opened as a
path, wherever it leads. So AutoTokenizer never sees the checkpoint's folder. It opens a new one,
with copies of the vocabulary files and with the settings that are listed here, and runs no code but
that of `transformers`.
"""

import codecs
import json
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bertcore.base.links import read_file
from bertcore.base.quiet import quiet_transformers
from bertcore.model.tokenizer.encoding import library_errors
from bertcore.model.tokenizer.files import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    MAX_BYTES,
    MODEL_CONFIG_FILE,
    ROLES,
    SPECIAL_TOKENS_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    TokenizerFolder,
)

_SWITCHES = (
    *("add_bos_token", "add_eos_token", "add_prefix_space", "clean_text", "do_lower_case"),
    *("keep_accents", "legacy", "remove_space", "split_by_punct", "split_special_tokens"),
    *("strip_accents", "tokenize_chinese_chars", "trim_offsets"),
)
_NAMES = ("word_tokenizer_type", "subword_tokenizer_type")
_LISTS = ("additional_special_tokens", "extra_special_tokens")
_FLAGS = ("content", "lstrip", "rstrip", "single_word", "normalized", "special", "__type")
_MOST_EXTRA = 1000
"""`extra_ids` of T5 is 100."""

_WAY_OUT = (
    f"If a {TOKENIZER_FILE} of the tokenizers library splits text in the same way, put it there "
    f"and write PreTrainedTokenizerFast into {CONFIG_FILE} (tokenizer_class, without auto_map)."
)
_PROBES = ("The Cat sat, naïve Éva's 2026 cats!", "東京 и Öl", " a  b\tc ")


class Named(NamedTuple):
    """What the files, or their reader, say about the class of the tokenizer."""

    class_name: str | None
    """In tokenizer_config.json, or else in config.json."""
    model_type: str | None
    """In config.json, or else the checkpoint's."""


def read_names(files: TokenizerFolder, model_type: str | None) -> Named:
    """Return the class and the architecture of a tokenizer.

    RuntimeError if the checkpoint's own code splits its texts, or no class can have that name.
    """
    for content, name in ((files.config, CONFIG_FILE), (files.model_config, MODEL_CONFIG_FILE)):
        programs = content.get("auto_map")
        if isinstance(programs, dict):
            programs = programs.get("AutoTokenizer")
        listed = programs if isinstance(programs, list) else [programs]
        if program := next(filter(None, listed), None):
            raise RuntimeError(
                f"{files / name} says that the checkpoint's own code splits its texts (auto_map: "
                f"{str(program)[:80]}), and no code of a checkpoint is run. {_WAY_OUT}"
            )
    class_name = files.config.get("tokenizer_class") or files.model_config.get("tokenizer_class")
    is_name = isinstance(class_name, str) and re.fullmatch(r"\w*Tokenizer\w*", class_name)
    if class_name and (not is_name or class_name == "AutoTokenizer"):
        raise RuntimeError(
            f"{files.path}: tokenizer_class is {str(class_name)[:100]!r}; expected the name of a "
            f"tokenizer of transformers, such as BertTokenizer. Correct it in {CONFIG_FILE}."
        )
    stated = files.model_config.get("model_type") or model_type
    model_type = stated if isinstance(stated, str) else None
    if not class_name and model_type is None and files.has(VOCAB_FILE) and not files.rules:
        model_type = "bert"  # the vocabulary alone
    return Named(class_name or None, model_type)


def build(files: TokenizerFolder, named: Named) -> tuple[Any, dict[str, Any]]:
    """Let AutoTokenizer build the tokenizer from copies of its files.

    Return the tokenizer of `transformers`, and the settings that tokenizer.json does not contain,
    with the special tokens by role.

    FileNotFoundError if files that the class reads are missing; RuntimeError if a file is damaged
    or a link out of the folder, or the tokenizers library alone does not split text as the class
    does; ValueError or TypeError if a setting is not of its type.
    """
    settings = _settings(files.config)
    contents: dict[str, object] = {
        MODEL_CONFIG_FILE: {"model_type": named.model_type} if named.model_type else {},
        CONFIG_FILE: {**settings, "tokenizer_class": named.class_name},
        SPECIAL_TOKENS_FILE: _tokens(files.special),
        ADDED_TOKENS_FILE: {str(token): int(id) for token, id in files.added.items()},
        **{name: read_vocabulary(files / name) for name in files.vocabularies},
    }
    with quiet_transformers(), TemporaryDirectory() as place:
        from transformers import AutoTokenizer

        for name, content in contents.items():
            if content or name == MODEL_CONFIG_FILE:
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                (Path(place) / name).write_bytes(data)
        made: Any = None
        try:
            with library_errors("{}"):
                made = AutoTokenizer.from_pretrained(
                    place, trust_remote_code=False, local_files_only=True
                )
                is_alike = all(_splits_alike(made, text) for text in _PROBES)
        except Exception as error:
            raise _refused(files, named, made, error, place) from error
    if not is_alike or (not files.has(TOKENIZER_FILE) and not files.has(*_reads(type(made)))):
        raise _refused(files, named, made, None, place)
    told = {role: getattr(made, role, None) for role in (*ROLES, "bos_token", "eos_token")}
    settings.pop("added_tokens_decoder", None)
    return made, settings | {role: str(token) for role, token in told.items() if token}


def _splits_alike(made: Any, text: str) -> bool:
    """Return whether a class gives the ids of its part that the tokenizers library runs."""
    fast = getattr(made, "backend_tokenizer", None)
    if fast is None:
        return False
    fast.no_truncation()
    fast.no_padding()
    try:
        with library_errors():
            ids = fast.encode(text).ids
    except ValueError:  # a vocabulary without [UNK] may lack these letters
        return True
    return bool(made(text).input_ids == ids)


def read_vocabulary(file: Path) -> bytes:
    """Return the content of a vocabulary file, without a byte order mark.

    RuntimeError if it cannot be read, is no vocabulary, or as `read_file`.
    """
    try:
        content = read_file(file, MAX_BYTES).removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise RuntimeError(f"{file} cannot be read ({error.strerror}).") from error
    if file.name == VOCAB_FILE and re.match(rb'\s*\{\s*"', content):
        raise RuntimeError(
            f"{file} is JSON, as tokenizer.save(FILE) of the tokenizers library writes it. Rename "
            f"it to {TOKENIZER_FILE}."
        )
    return content


def _reads(value: Any) -> list[str]:
    """Return the vocabulary files that a class of `transformers` reads."""
    names: Mapping[str, str] = value.vocab_files_names
    return [names[role] for role in ("vocab_file", "merges_file") if role in names]


def _refused(
    files: TokenizerFolder, named: Named, made: Any, error: Exception | None, place: str
) -> Exception:
    """Return the error for a tokenizer that AutoTokenizer does not build as its files say."""
    from transformers.models.auto import tokenization_auto as auto
    from transformers.tokenization_utils_tokenizers import TokenizersBackend

    usual = auto.TOKENIZER_MAPPING_NAMES.get(named.model_type)
    name = named.class_name or usual or TokenizersBackend.__name__
    known = auto.tokenizer_class_from_name(name) if made is None else type(made)
    is_backend = isinstance(known, type) and issubclass(known, TokenizersBackend)
    is_program = known is not None and not is_backend
    reason = " ".join(str(error or "its ids differ").split()).replace(place, str(files.path))[:300]
    needs_more = made is not None or isinstance(getattr(error, "__cause__", None), ImportError)
    start = f"the tokenizer of {files.path} is of the class {name[:100]}, which"
    there, has_rules = " and ".join(files.vocabularies), files.has(TOKENIZER_FILE)
    reads = _reads(known or TokenizersBackend)
    if not is_program and not has_rules and (known is None or not files.has(*reads)):
        what = f"reads {TOKENIZER_FILE} or {' with '.join(reads)}, but"
        what = what if known else "transformers does not have, and"
        return FileNotFoundError(
            f"{start} {what} there is only {there}. Copy {TOKENIZER_FILE} from the source of "
            f"the checkpoint, or write the class that made these files into {CONFIG_FILE} "
            "(tokenizer_class)."
        )
    if is_program or needs_more:
        return RuntimeError(
            f"{start} does more than the tokenizers library{f' ({reason})' * needs_more} and "
            f"cannot be run here: a plain reading would give other tokens. {_WAY_OUT}"
        )
    return RuntimeError(
        f"{files / files.vocabularies[0]} cannot be read ({reason}) by {name[:100]} of "
        f"transformers. Copy it again, with {CONFIG_FILE}, or save a {TOKENIZER_FILE} there with "
        "transformers."
    )


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what AutoTokenizer may be handed of tokenizer_config.json."""
    kinds: dict[str, type] = {"extra_ids": int}
    kinds |= {**dict.fromkeys(_SWITCHES, bool), **dict.fromkeys(_NAMES, str)}
    settings: dict[str, Any] = {
        name: config[name] for name in kinds if config.get(name) is not None
    }
    for name, value in settings.items():
        is_too_many = isinstance(value, int) and name == "extra_ids" and value > _MOST_EXTRA
        if is_too_many or not isinstance(value, kinds[name]):
            kind = kinds[name].__name__
            raise ValueError(f"its {name} is {str(value)[:100]!r}; expected {kind}")
    settings |= _tokens(config)
    if "added_tokens_decoder" in config:
        added = config["added_tokens_decoder"] or {}
        settings["added_tokens_decoder"] = {str(int(id)): _token(t) for id, t in added.items()}
    return settings


def _tokens(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the special tokens in a file, by role, and the lists of further ones."""
    tokens = {
        role: _token(token)
        for role, token in content.items()
        if role.endswith("_token") and token is not None and not isinstance(token, bool)
    }
    for name in _LISTS:
        entries = content.get(name) or []
        is_named = isinstance(entries, dict)
        if not is_named and not isinstance(entries, list):
            raise ValueError(f"its {name} is {str(entries)[:100]!r}; expected a list")
        if entries:
            named = {str(key): _token(entries[key]) for key in entries} if is_named else {}
            tokens[name] = named or [_token(entry) for entry in entries]
    return tokens


def _token(token: object) -> object:
    """Return a special token, as a text or with its flags; TypeError if it is something else."""
    flags = token if isinstance(token, dict) else {"content": token}
    if not isinstance(flags.get("content"), str):
        raise TypeError(f"a special token is {str(token)[:100]!r}; expected a text")
    return token if token is not flags else {name: flags[name] for name in _FLAGS if name in flags}
