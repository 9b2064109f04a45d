"""The files of a tokenizer folder, as Hugging Face's libraries write and read them."""

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bertcore.base.links import read_file
from bertcore.tokenizer.bounds import MOST_ADDED, MOST_PIECES, check_number
from bertcore.tokenizer.encoding import AddedToken
from bertcore.tokenizer.training import PREFIX, SPECIAL_TOKENS

_log = logging.getLogger(__name__)

VOCAB_FILE = "vocab.txt"
TOKENIZER_FILE = "tokenizer.json"
CONFIG_FILE = "tokenizer_config.json"
SPECIAL_TOKENS_FILE = "special_tokens_map.json"
ADDED_TOKENS_FILE = "added_tokens.json"
VOCAB_JSON_FILE = "vocab.json"
MERGES_FILE = "merges.txt"
MODEL_CONFIG_FILE = "config.json"

MAX_BYTES = 200_000_000
"""Maximum size of a file: a tokenizer.json of a million pieces has half of that."""
DEFAULT_MAX_LENGTH = 512
"""Positions of every published BERT; the default if no file states it."""

_SETTINGS = (
    ("do_lower_case", "lowercase", True),
    ("strip_accents", "strip_accents", None),
    ("tokenize_chinese_chars", "handle_chinese_chars", True),
)
"""Their names in tokenizer_config.json and in tokenizer.json, and BERT's defaults."""

_PLAIN_CLASSES = {"PreTrainedTokenizer", "TokenizersBackend"}
"""The classes that follow tokenizer.json; others build their own rules around its pieces."""

_CLASSES = {
    f"{family}Tokenizer"
    for family in ("Bert", "DistilBert", "Electra", "MobileBert", "ConvBert", "SqueezeBert")
} | _PLAIN_CLASSES
"""The classes that split text as BERT does, or that follow tokenizer.json."""

_BERTS_TEMPLATE = "[CLS]:0 A:0 [SEP]:0, [CLS]:0 A:0 [SEP]:0 B:1 [SEP]:1"
"""The special tokens around one text and around a pair, with their segments."""

MALFORMED = (
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    ValueError,
    OverflowError,
    RecursionError,
)
"""Errors raised by JSON of an unexpected form, such as a list instead of names."""

ROLES = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenizerFiles:
    """The content of a folder's files, checked to be a BERT WordPiece tokenizer."""

    source: Path
    """The file with the vocabulary."""
    vocab: list[str]
    do_lower_case: bool
    strip_accents: bool | None
    tokenize_chinese_chars: bool
    model_max_length: int
    added_tokens: list[AddedToken]


def read_tokenizer_files(folder: Path) -> TokenizerFiles:
    """Read vocab.txt or tokenizer.json and the settings beside it.

    As in transformers, the vocabulary of tokenizer.json wins if both exist, and the settings of
    tokenizer_config.json win unless its class follows tokenizer.json. Differs: a setting that only
    tokenizer.json states is used; transformers then uses its default, and lower-cases for a cased
    model. [CLS] and [SEP] are added even if tokenizer.json of a plain class has no post-processor.

    Raises:
        FileNotFoundError: If the folder, or both vocabulary files, are missing.
        RuntimeError: If a file is damaged or belongs to another kind of tokenizer.
    """
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder. Pass the folder of a checkpoint.")
    config = read_json(folder / CONFIG_FILE)
    _check_class(config, folder / CONFIG_FILE)
    special = read_json(folder / SPECIAL_TOKENS_FILE)
    _check_special_tokens(config, folder / CONFIG_FILE)
    _check_special_tokens(special, folder / SPECIAL_TOKENS_FILE)
    added = _added_tokens(folder, config, special)
    named = named_special_tokens(config, special)
    options: dict[str, Any] = {}
    if (folder / TOKENIZER_FILE).is_file():
        source = folder / TOKENIZER_FILE
        content = read_json(source)
        _check_kind(content, config, source)
        if _follows_json(config) and not content.get("post_processor"):
            _log.warning(
                "%s has no post_processor, so transformers adds no special tokens for its class; "
                "here [CLS] and [SEP] are added, as BERT expects",
                source,
            )
        vocab = _pieces(content, source)
        listed = content.get("added_tokens") or []
        check_number("added tokens", len(listed), MOST_ADDED)
        added |= {int(entry["id"]): _added_token(entry, source) for entry in listed}
        options = content["normalizer"]
    elif (folder / VOCAB_FILE).is_file():
        source = folder / VOCAB_FILE
        vocab = _read_vocab(source)
    else:
        raise FileNotFoundError(_no_vocabulary(folder))
    _add_named(named, vocab, added, folder)
    _check_ids(vocab, added, source)
    told = {name: config[name] for name, _, _ in _SETTINGS if name in config}
    built = {name: options[fast_name] for name, fast_name, _ in _SETTINGS if fast_name in options}
    settings: dict[str, Any] = {name: default for name, _, default in _SETTINGS}
    settings |= told | built if _follows_json(config) else built | told
    _warn_of_settings(config, options, source)
    return TokenizerFiles(
        source=source,
        vocab=vocab,
        model_max_length=max_length_of(config, read_json(folder / MODEL_CONFIG_FILE)),
        added_tokens=[added[id] for id in sorted(added)],
        **settings,
    )


def write_tokenizer_files(
    folder: Path,
    *,
    vocab: Sequence[str],
    num_pieces: int,
    tokenizer_json: str,
    do_lower_case: bool,
    strip_accents: bool | None,
    tokenize_chinese_chars: bool,
    model_max_length: int,
    added_tokens: Sequence[AddedToken],
) -> None:
    """Write the folder so that `transformers.AutoTokenizer` gives the same ids.

    Raises:
        ValueError: If a vocabulary entry contains a line break, which vocab.txt cannot represent.
    """
    broken = [token for token in vocab if "\n" in token or "\r" in token]
    if broken:
        raise ValueError(f"vocabulary entry {broken[0]!r} contains a line break; remove it.")
    folder.mkdir(parents=True, exist_ok=True)
    roles = dict(zip(ROLES, SPECIAL_TOKENS, strict=True))
    flags = {"lstrip": False, "rstrip": False, "single_word": False}
    ids = {token: id for id, token in enumerate(vocab)}
    config = {
        "added_tokens_decoder": {
            str(ids[token.content]): asdict(token) | flags for token in added_tokens
        },
        **roles,
        "do_lower_case": do_lower_case,
        "model_max_length": model_max_length,
        "strip_accents": strip_accents,
        "tokenize_chinese_chars": tokenize_chinese_chars,
        "tokenizer_class": "BertTokenizer",
    }
    text = "".join(f"{token}\n" for token in vocab[:num_pieces])
    (folder / VOCAB_FILE).write_text(text, encoding="utf-8", newline="\n")
    (folder / TOKENIZER_FILE).write_text(tokenizer_json, encoding="utf-8")
    for name, content in ((CONFIG_FILE, config), (SPECIAL_TOKENS_FILE, roles)):
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if there is no file.

    Raises:
        RuntimeError: If it is not a JSON object, cannot be read, is too large, or is a link to a
            file outside its folder.
    """
    try:
        if not path.is_file():
            return {}
        content: dict[str, Any] = dict(json.loads(read_file(path, MAX_BYTES).decode()))
    except OSError as error:
        raise RuntimeError(f"{path} cannot be read ({error.strerror}).") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise RuntimeError(f"{path} is not a JSON object ({error}). Copy it again.") from error
    return content


def malformed(folder: str | Path, error: BaseException) -> RuntimeError:
    """Return the error for a folder whose files raised one of MALFORMED."""
    return RuntimeError(
        f"the tokenizer's files in {folder} have an unexpected form "
        f"({type(error).__name__}: {error}). Copy them again."
    )


def _no_vocabulary(folder: Path) -> str:
    return (
        f"{folder} contains neither {VOCAB_FILE} nor {TOKENIZER_FILE} (nor {VOCAB_JSON_FILE} with "
        f"{MERGES_FILE}). Copy the tokenizer's files into it (tokenizer.save_pretrained writes "
        "them)."
    )


def _read_vocab(path: Path) -> list[str]:
    try:
        text = read_file(path, MAX_BYTES).decode()
    except OSError as error:
        raise RuntimeError(f"{path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise RuntimeError(f"{path} is not UTF-8 text ({error}). Copy it again.") from error
    check_number("lines", text.count("\n") + text.count("\r"), MOST_PIECES)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def is_wordpiece(content: dict[str, Any], config: dict[str, Any] | None = None) -> bool:
    """Return whether a tokenizer.json splits text as BERT does, so that it can be explained.

    Args:
        content: The content of tokenizer.json.
        config: The content of tokenizer_config.json, whose class may follow all of it.
    """
    return all(actual == expected for _, actual, expected in _traits(content, config or {}))


def _follows_json(config: dict[str, Any]) -> bool:
    """Return whether transformers follows all of tokenizer.json for the class in `config`."""
    return str(config.get("tokenizer_class")).removesuffix("Fast") in _PLAIN_CLASSES


def _traits(
    content: dict[str, Any], config: dict[str, Any]
) -> tuple[tuple[str, object, object], ...]:
    """Return name, value and BERT's value of each trait of a BERT tokenizer.json."""
    model = content.get("model") or {}
    # Very old files do not name the model's type; only WordPiece has this field.
    kind = model.get("type") or ("WordPiece" if "max_input_chars_per_word" in model else None)
    normalizer = content.get("normalizer") or {}
    obeyed: tuple[tuple[str, object, object], ...] = ()
    if _follows_json(config):
        obeyed = (
            ("clean_text", normalizer.get("clean_text", True), True),
            ("unk_token", model.get("unk_token", "[UNK]"), "[UNK]"),
            ("post_processor", _template(content.get("post_processor")), _BERTS_TEMPLATE),
        )
    return (
        ("model", kind, "WordPiece"),
        ("normalizer", normalizer.get("type"), "BertNormalizer"),
        ("pre_tokenizer", (content.get("pre_tokenizer") or {}).get("type"), "BertPreTokenizer"),
        ("prefix of continuing pieces", model.get("continuing_subword_prefix", PREFIX), PREFIX),
        ("longest word", model.get("max_input_chars_per_word", 100), 100),
        *obeyed,
    )


def _template(post_processor: dict[str, Any] | None) -> str:
    """Return the template of a post-processor; BERT's if it has none."""
    if not post_processor or post_processor["type"] != "TemplateProcessing":
        return _BERTS_TEMPLATE
    return ", ".join(
        " ".join(f"{value['id']}:{value['type_id']}" for part in parts for value in part.values())
        for parts in (post_processor["single"], post_processor["pair"])
    )


def _check_kind(content: dict[str, Any], config: dict[str, Any], path: Path) -> None:
    """Raise RuntimeError unless this tokenizer.json splits text as BERT does."""
    for name, actual, expected in _traits(content, config):
        if actual != expected:
            raise RuntimeError(
                f"{path}: its {name} is {actual}, but in a BERT tokenizer it is {expected}. Only "
                "BERT's WordPiece tokenizers can be opened here."
            )


def _pieces(content: dict[str, Any], path: Path) -> list[str]:
    ids: dict[str, int] = content["model"].get("vocab") or {}
    check_number("pieces", len(ids), MOST_PIECES)
    tokens = sorted(ids, key=ids.__getitem__)
    if [ids[token] for token in tokens] != list(range(len(tokens))):
        raise RuntimeError(
            f"{path}: the ids of its {len(tokens)} pieces are not 0 to {len(tokens) - 1}, each "
            "once. Save the tokenizer again."
        )
    return tokens


def _added_tokens(
    folder: Path, config: dict[str, Any], special: dict[str, Any]
) -> dict[int, AddedToken]:
    """Return the added tokens of all files except tokenizer.json, by id."""
    names = {*named_special_tokens(config, special), *SPECIAL_TOKENS}
    told = read_json(folder / ADDED_TOKENS_FILE)
    decoder = config.get("added_tokens_decoder") or {}
    check_number("added tokens", len(told) + len(decoder), MOST_ADDED)
    added = {
        int(id): AddedToken(token, normalized=token not in names, special=token in names)
        for token, id in told.items()
    }
    for id, entry in decoder.items():
        added[int(id)] = _added_token(entry, folder / CONFIG_FILE)
    return added


def named_special_tokens(
    config: dict[str, Any], special: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the special tokens that the files name besides those of ROLES, with their flags.

    As in transformers, special_tokens_map.json is ignored if tokenizer_config.json has the added
    tokens.

    Raises:
        TypeError: If one is not a string.
    """
    named: dict[str, dict[str, Any]] = {}
    for source in (config,) if "added_tokens_decoder" in config else (config, special):
        entries = source.get("extra_special_tokens") or source.get("additional_special_tokens")
        if isinstance(entries, dict):  # by the name of a role of this model only
            entries = list(entries.values())
        if not isinstance(entries or [], list):
            raise TypeError(f"the additional special tokens are {entries!r}; expected a list")
        check_number("additional special tokens", len(entries or ()), MOST_ADDED)
        for entry in entries or []:
            flags = entry if isinstance(entry, dict) else {"content": entry}
            if not isinstance(flags["content"], str):
                raise TypeError(f"an additional special token is {flags['content']!r}, not a text")
            named.setdefault(flags["content"], {"normalized": False, **flags, "special": True})
    return named


def _add_named(
    named: dict[str, dict[str, Any]], vocab: list[str], added: dict[int, AddedToken], folder: Path
) -> None:
    """Add the named special tokens that no file gives an id, after all others."""
    ids = {token: id for id, token in enumerate(vocab)}
    known = {token.content for token in added.values()} | set(SPECIAL_TOKENS)
    for name, entry in named.items():
        if name not in known:
            id = ids.get(name, max(len(vocab) - 1, *added, 0) + 1)
            added[id] = _added_token(entry, folder / CONFIG_FILE)


def _added_token(entry: dict[str, Any], path: Path) -> AddedToken:
    unsupported = [flag for flag in ("lstrip", "rstrip", "single_word") if entry.get(flag)]
    if unsupported:
        raise RuntimeError(
            f"{path}: added token {entry['content']!r} has {', '.join(unsupported)} set, which "
            "cannot be opened here. Add it without them, and save the tokenizer again."
        )
    return AddedToken(
        entry["content"],
        normalized=bool(entry.get("normalized", not entry.get("special"))),
        special=bool(entry.get("special")),
    )


def _check_ids(vocab: list[str], added: dict[int, AddedToken], path: Path) -> None:
    """Raise RuntimeError unless the ids of the added tokens fit those of the pieces."""
    ids = {token: id for id, token in enumerate(vocab)}
    for id, token in sorted(added.items()):
        expected = ids.setdefault(token.content, len(ids))
        if id != expected:
            raise RuntimeError(
                f"{path}: added token {token.content!r} has id {id}, but {expected} was "
                "expected. The files of the folder do not belong together, or ids were left out."
            )


def _check_class(config: dict[str, Any], path: Path) -> None:
    name = config.get("tokenizer_class")
    if name is not None and name.removesuffix("Fast") not in _CLASSES:
        raise RuntimeError(
            f"{path} names a {name}, but only BertTokenizer and similar ones can be opened here. "
            "Open a checkpoint of the BERT family with a WordPiece vocabulary."
        )


def _check_special_tokens(content: dict[str, Any], path: Path) -> None:
    for role, expected in zip(ROLES, SPECIAL_TOKENS, strict=True):
        entry = content.get(role)
        token = entry.get("content") if isinstance(entry, dict) else entry
        if token not in (None, expected):
            raise RuntimeError(f"{path}: {role} is {token!r}, but BERT's is {expected!r}.")


def _warn_of_settings(config: dict[str, Any], options: dict[str, Any], source: Path) -> None:
    for name, fast_name, default in _SETTINGS:
        if name in config and fast_name in options and config[name] != options[fast_name]:
            used = "latter" if _follows_json(config) else "former"
            _log.warning(
                "%s has %s=%s, but %s has %s=%s: the %s is used, as in transformers",
                CONFIG_FILE, name, config[name], source, fast_name, options[fast_name], used,
            )  # fmt: skip
        if name == "do_lower_case" and name not in config and fast_name not in options:
            _log.warning("no file besides %s states %s; assuming %s", source, name, default)


def read_max_length(folder: Path) -> int:
    """Return the longest input that the files of a tokenizer's folder allow, in tokens.

    Raises:
        RuntimeError: If they are damaged.
    """
    try:
        return max_length_of(read_json(folder / CONFIG_FILE), read_json(folder / MODEL_CONFIG_FILE))
    except MALFORMED as error:
        raise malformed(folder, error) from error


def max_length_of(config: dict[str, Any], model_config: dict[str, Any]) -> int:
    """Return the longest input that tokenizer_config.json and config.json allow, in tokens."""
    named = (model_config.get(name) for name in ("max_position_embeddings", "n_positions"))
    positions = int(next((number for number in named if number), DEFAULT_MAX_LENGTH))
    stated = config.get("model_max_length")
    if not stated:
        return positions
    if not float(stated) >= 1:  # nor NaN
        raise ValueError(f"model_max_length is {stated!r}; expected at least 1")
    # transformers writes 1e30 for "not known".
    return int(min(float(stated), positions))
