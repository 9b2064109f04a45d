"""The class of `transformers` that splits text for a folder, and the tokenizer that it builds.

`transformers` decides by class, not by file: BertTokenizer takes the pieces of a tokenizer.json but
none of its rules. So the class is chosen here as AutoTokenizer chooses it, and builds the
tokenizer, which gives its ids for every text.

The classes take any key of tokenizer_config.json as an argument: "vocab" there, or "vocab_file" in
special_tokens_map.json, is opened as a path, wherever it leads. So a class never sees the
checkpoint's folder: it opens a new one, with the vocabulary files that it reads by default, checked
and copied, and with JSON files that contain listed settings only.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tokenizers import Tokenizer as FastTokenizer

from bertcore.base.links import read_file
from bertcore.base.quiet import quiet_transformers
from bertcore.tokenizer.bounds import (
    MOST_ADDED,
    MOST_PIECES,
    check_number,
    check_sentencepiece,
    check_text,
    check_vocabulary,
    checked_rules,
)
from bertcore.tokenizer.errors import library_errors
from bertcore.tokenizer.files import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    MAX_BYTES,
    MERGES_FILE,
    MODEL_CONFIG_FILE,
    ROLES,
    SENTENCEPIECE_FILES,
    SPECIAL_TOKENS_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    VOCAB_JSON_FILE,
    VOCABULARIES,
    TokenizerFolder,
)
from bertcore.tokenizer.training import SPECIAL_TOKENS

FOLLOWS_RULES = "TokenizersBackend"
"""The class without rules of its own, which follows tokenizer.json."""
BERTS = "BertTokenizer"
PLAIN = ("PreTrainedTokenizer", "PreTrainedTokenizerFast", "PythonBackend", FOLLOWS_RULES)
_READ_AS_BERTS = ("Bert", "Electra", "LayoutLM", "Lxmert", "MobileBert", "SqueezeBert")
"""Families whose tokenizers `transformers` reads with BertTokenizer."""
_OF_BERT = ("bert", "distilbert", "electra")
"""Values of model_type for which `transformers` does so where no class is named."""

_CLASSES = {
    f"{name}Tokenizer"
    for name in (
        *("Albert", "Barthez", "Bert", "BigBird", "Camembert", "ConvBert", "DPRContextEncoder"),
        *("DPRQuestionEncoder", "DPRReader", "Deberta", "DebertaV2", "DistilBert", "FNet"),
        *("Funnel", "GPT2", "GPTNeoX", "Gemma", "Herbert", "Llama", "MBart", "MBart50", "MPNet"),
        *("Qwen2", "Reformer", "RemBert", "Roberta", "Splinter", "T5", "XLMRoberta", "XLNet"),
    )
} | {FOLLOWS_RULES}
"""The classes of `transformers` that are run."""
_PROGRAMS = {
    "BertJapanese": "splits Japanese into words with MeCab, Sudachi or Juman++",
    "Bertweet": "normalises tweets (users, links, emoji) before it splits them",
    "Cpm": "splits Chinese into words with Jieba",
    "Flaubert": "splits French into words with sacremoses",
    "Phobert": "reads Vietnamese that another program has split into words",
    "RoCBert": "also reads the shape and the sound of Chinese characters",
    "RoFormer": "splits Chinese into words with rjieba",
    "XLM": "splits text into words with a program for each language",
}
"""Classes with a part outside the tokenizers library, and what that does."""

_SWITCHES = (
    *("add_bos_token", "add_eos_token", "add_prefix_space", "clean_text", "do_lower_case"),
    *("keep_accents", "legacy", "remove_space", "split_by_punct", "split_special_tokens"),
    *("strip_accents", "tokenize_chinese_chars", "trim_offsets"),
)
_NUMBERS = ("extra_ids",)
_FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")
_LISTS = ("additional_special_tokens", "extra_special_tokens")


@dataclass(frozen=True, slots=True)
class TokenizerClass:
    """The class that reads a folder."""

    name: str
    """A member of _CLASSES."""
    named: str | None
    """The class that the files name, if any."""
    reads: tuple[Path, ...]
    """What it reads: tokenizer.json, or the vocabulary."""
    is_by_files: bool = False
    """Whether the files present decided, since no class that reads them is named."""

    @property
    def file(self) -> Path:
        return self.reads[0]


@dataclass(frozen=True, slots=True)
class Built:
    """A tokenizer as its class builds it."""

    fast: FastTokenizer
    roles: Mapping[str, str]
    """Its special tokens by role, those of ROLES that it has."""
    settings: Mapping[str, Any]
    """The settings that it was handed and that tokenizer.json does not contain."""


def choose_class(files: TokenizerFolder, model_type: str | None) -> TokenizerClass:
    """Return the class that AutoTokenizer would choose.

    Where that one reads none of the files and nothing but the checkpoint's family asks for it, the
    files decide.

    Args:
        files: The tokenizer's folder.
        model_type: Of the checkpoint, if config.json does not state it.

    Raises:
        FileNotFoundError: If the vocabulary is missing.
        RuntimeError: If the class runs a program of its own.
    """
    _refuse_own_code(files)
    names = (files.config.get("tokenizer_class"), files.model_config.get("tokenizer_class"))
    named = next((check_text("tokenizer_class", name) for name in names if name), None)
    stated = files.model_config.get("model_type") or model_type
    model_type = stated if isinstance(stated, str) else None
    if named is None and model_type is None:
        return _by_files(files, None)
    if _is_berts(named, model_type):
        name, reads = BERTS, [VOCAB_FILE]
    else:
        name, reads = _resolved(files, named, model_type)
    if files.has(TOKENIZER_FILE):
        return TokenizerClass(name, named, (files / TOKENIZER_FILE,))
    lacking = [file for file in reads if not files.has(file)]
    if not lacking and reads:
        return TokenizerClass(name, named, tuple(files / file for file in reads))
    if named is None:
        return _by_files(files, name)
    if files.has(VOCAB_FILE) and _is_berts(named, None):
        # The family asks for another class, but the one that is named reads what is there.
        return TokenizerClass(BERTS, named, (files / VOCAB_FILE,))
    there = [file for file in VOCABULARIES if files.has(file)]
    if not there:
        raise _nothing(files)
    raise FileNotFoundError(
        f"{files.path} names a {named}, which reads {TOKENIZER_FILE}"
        f"{' or ' + ' with '.join(reads) if reads else ''}, but has {' and '.join(there)}. Copy "
        "the file from the source of the checkpoint, or write the class that made these files into "
        f"{CONFIG_FILE} (tokenizer_class)."
    )


def _is_berts(named: str | None, model_type: str | None) -> bool:
    """Return whether BertTokenizer is the class, told without importing `transformers`."""
    if named is None:
        return model_type in _OF_BERT
    family = named.removesuffix("Fast").removesuffix("Tokenizer")
    return family in _READ_AS_BERTS and (model_type is None or model_type in _OF_BERT)


def _resolved(
    files: TokenizerFolder, named: str | None, model_type: str | None
) -> tuple[str, list[str]]:
    """Return the name of the class, and the vocabulary files that it reads.

    Source: AutoTokenizer.from_pretrained of `transformers`.

    RuntimeError if it is not among those that are run.
    """
    from transformers.models.auto import tokenization_auto as auto

    usual = (auto.TOKENIZER_MAPPING_NAMES.get(model_type) or "").removesuffix("Fast")
    is_mistaken = model_type in auto.MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS
    plain_named = (named or "").removesuffix("Fast")
    if plain_named == "LlamaTokenizer" and not is_mistaken and _has_bytes(files.rules):
        name = FOLLOWS_RULES
    elif named and usual and usual != plain_named:
        name = usual if is_mistaken else named
        name = FOLLOWS_RULES if usual in (*PLAIN, "MistralCommonBackend") else name
    else:
        name = plain_named or usual or FOLLOWS_RULES
    found = None
    if name not in PLAIN and re.fullmatch(r"\w{1,60}Tokenizer\w{0,9}", name):
        found = auto.tokenizer_class_from_name(name)
    if found is None or getattr(found, "__name__", None) in PLAIN:
        found = auto.tokenizer_class_from_name(FOLLOWS_RULES)
    class_name = str(getattr(found, "__name__", name))
    if class_name.removesuffix("Fast") not in _CLASSES:
        raise _refused(files, class_name)
    roles: Mapping[str, str] = found.vocab_files_names
    reads = [roles[role] for role in ("vocab_file", "merges_file") if role in roles]
    return class_name, reads


def _by_files(files: TokenizerFolder, usual: str | None) -> TokenizerClass:
    """Return the class of the files that are there, where none is named.

    Args:
        usual: The class of the checkpoint's family, which reads none of them.
    """
    if files.has(TOKENIZER_FILE):
        return TokenizerClass(FOLLOWS_RULES, None, (files / TOKENIZER_FILE,), is_by_files=True)
    if files.has(VOCAB_JSON_FILE, MERGES_FILE):
        reads = (files / VOCAB_JSON_FILE, files / MERGES_FILE)
        return TokenizerClass("RobertaTokenizer", None, reads, is_by_files=True)
    if files.has(VOCAB_FILE) and set(SPECIAL_TOKENS[1:4]) <= set(
        read_vocabulary(files / VOCAB_FILE).decode().split()
    ):
        return TokenizerClass(BERTS, None, (files / VOCAB_FILE,), is_by_files=True)
    there = [file for file in VOCABULARIES if files.has(file)]
    pair = [file for file in (VOCAB_JSON_FILE, MERGES_FILE) if file in there]
    if len(pair) == 1:
        lacks = MERGES_FILE if pair[0] == VOCAB_JSON_FILE else VOCAB_JSON_FILE
        raise FileNotFoundError(
            f"{files.path} has {pair[0]} but neither {lacks}, which belongs to it, nor "
            f"{TOKENIZER_FILE}. Copy it from the source of the checkpoint."
        )
    if there:
        family = f", and the one of its family, {usual}, does not read it" if usual else ""
        raise RuntimeError(
            f"{files.path} has {' and '.join(there)}, but no file names the class of the "
            f"tokenizer{family}. Write it into {CONFIG_FILE} (tokenizer_class), or save the fast "
            f"tokenizer there ({TOKENIZER_FILE})."
        )
    raise _nothing(files)


def _nothing(files: TokenizerFolder) -> FileNotFoundError:
    return FileNotFoundError(
        f"{files.path} contains neither {VOCAB_FILE} nor {TOKENIZER_FILE} (nor {VOCAB_JSON_FILE} "
        f"with {MERGES_FILE}, nor a SentencePiece model such as {SENTENCEPIECE_FILES[0]}). Copy "
        "the tokenizer's files into it (tokenizer.save_pretrained writes them)."
    )


def _refuse_own_code(files: TokenizerFolder) -> None:
    """Raise RuntimeError if the tokenizer is a program of the checkpoint."""
    for content, name in ((files.config, CONFIG_FILE), (files.model_config, MODEL_CONFIG_FILE)):
        programs = content.get("auto_map")
        if isinstance(programs, dict):
            programs = programs.get("AutoTokenizer")
        if isinstance(programs, str):
            programs = [programs]
        if isinstance(programs, list) and any(programs):
            program = next(str(program)[:80] for program in programs if program)
            raise RuntimeError(
                f"{files / name} says that the checkpoint's own code splits its texts (auto_map: "
                f"{program}), and no code of a checkpoint is run. {_WAY_OUT}"
            )


_WAY_OUT = (
    f"If a {TOKENIZER_FILE} of the tokenizers library splits text in the same way, put it there "
    f"and write PreTrainedTokenizerFast into {CONFIG_FILE} (tokenizer_class, without auto_map)."
)


_SPLIT_BEFORE = (
    "For texts that the program has split before, with a space between words, write BertTokenizer "
    f"into {CONFIG_FILE} (tokenizer_class), with do_lower_case and tokenize_chinese_chars false."
)


def _refused(files: TokenizerFolder, name: str) -> RuntimeError:
    """Return the error for a class that is not run."""
    family = name.removesuffix("Fast").removesuffix("Tokenizer")
    does = _PROGRAMS.get(family, "has rules of its own")
    kinds = [files.config.get(f"{part}_tokenizer_type") for part in ("word", "subword")]
    told = f" (here {' and '.join(map(str, kinds))[:60]})" if all(kinds) else ""
    has_words = family == "BertJapanese" and kinds[1] in (None, "wordpiece")
    return RuntimeError(
        f"the tokenizer of {files.path} is a {name[:100]}, which {does}{told}, and which cannot be "
        "run here: a plain reading would give other tokens. "
        f"{_SPLIT_BEFORE if has_words else _WAY_OUT}"
    )


def _has_bytes(rules: Mapping[str, Any]) -> bool:
    parts = [rules.get(name) for name in ("normalizer", "pre_tokenizer", "decoder")]
    return '"ByteLevel"' in json.dumps(parts)


def build(files: TokenizerFolder, chosen: TokenizerClass) -> Built:
    """Let a class build the tokenizer from copies of what it reads.

    Raises:
        RuntimeError: If a file is damaged, out of bounds or a link out of the folder, or the class
            cannot build a tokenizer from them.
        ValueError, TypeError: If a setting is not of its type, or has too many entries.
    """
    settings = _settings(files.config)
    check_number("added tokens", len(files.added), MOST_ADDED)
    contents: dict[str, object] = {
        CONFIG_FILE: settings,
        SPECIAL_TOKENS_FILE: _tokens(files.special),
        ADDED_TOKENS_FILE: {check_text("token", t): _id(id) for t, id in files.added.items()},
    }
    file = chosen.file
    try:
        for file in chosen.reads:
            is_rules = file.name == TOKENIZER_FILE
            contents[file.name] = checked_rules(files.rules) if is_rules else read_vocabulary(file)
        with library_errors("{}"), quiet_transformers(), TemporaryDirectory() as place:
            from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

            for name, content in contents.items():
                if content:
                    data = content if isinstance(content, bytes) else json.dumps(content).encode()
                    (Path(place) / name).write_bytes(data)
            found: Any = tokenizer_class_from_name(chosen.name)
            made = found.from_pretrained(place, local_files_only=True)
    except RuntimeError:  # of `read_vocabulary`
        raise
    except Exception as error:  # of many kinds, from three libraries
        advice = "Copy it again, or save the tokenizer again with the program that trained it."
        if isinstance(error, ImportError):
            advice = "Install sentencepiece and protobuf, or save the fast tokenizer there."
        raise RuntimeError(
            f"{file} cannot be read ({' '.join(str(error).split())[:300]}) by {chosen.name} of "
            f"transformers. {advice}"
        ) from error
    told = {role: getattr(made, role, None) for role in (*ROLES, "bos_token", "eos_token")}
    roles = {role: str(token) for role, token in told.items() if token}
    settings.pop("added_tokens_decoder", None)
    return Built(
        made.backend_tokenizer, {r: roles[r] for r in ROLES if r in roles}, settings | roles
    )


def read_vocabulary(file: Path) -> bytes:
    """Return the content of a vocabulary file, checked, without a byte order mark.

    Raises:
        ValueError: If it is no such file, or has too many or too long pieces.
        RuntimeError: If it cannot be read, or as `read_file`.
    """
    try:
        content = read_file(file, MAX_BYTES)
    except OSError as error:
        raise RuntimeError(f"{file} cannot be read ({error.strerror}).") from error
    if file.name in SENTENCEPIECE_FILES:
        check_sentencepiece(content)
        return content
    content = content.removeprefix(codecs.BOM_UTF8)
    if file.name == VOCAB_FILE and re.match(rb'\s*\{\s*"', content):
        raise RuntimeError(
            f"{file} is JSON, as tokenizer.save(FILE) of the tokenizers library writes it. Rename "
            f"it to {TOKENIZER_FILE}."
        )
    try:
        check_vocabulary(content, file.name)
    except UnicodeDecodeError as error:
        raise RuntimeError(
            f"{file} is not UTF-8 text ({error}). Save it as UTF-8, or copy it again."
        ) from error
    return content


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a class may be handed of tokenizer_config.json."""
    settings = {key: _setting(key, config[key]) for key in (*_SWITCHES, *_NUMBERS) if key in config}
    settings |= _tokens(config)
    if "added_tokens_decoder" in config:
        added = config["added_tokens_decoder"] or {}
        check_number("added tokens", len(added), MOST_ADDED)
        settings["added_tokens_decoder"] = {
            str(_id(number)): _token("added token", token) for number, token in added.items()
        }
    return settings


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
        elif isinstance(entries, list):
            tokens[name] = [_token(name, entry) for entry in entries]
        elif entries is not None:
            raise ValueError(f"its {name} is {str(entries)[:100]!r}; expected a list")
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
