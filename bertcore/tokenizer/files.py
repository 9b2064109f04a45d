"""The files of a tokenizer folder, as Hugging Face's libraries write and read them."""

import json
import logging
from functools import cached_property
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as FastTokenizer

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

    rules = _content_of(TOKENIZER_FILE)
    config = _content_of(CONFIG_FILE)
    special = _content_of(SPECIAL_TOKENS_FILE)
    added = _content_of(ADDED_TOKENS_FILE)
    model_config = _content_of(MODEL_CONFIG_FILE)

    @property
    def follows_rules(self) -> bool:
        """Whether transformers follows all of tokenizer.json for its class."""
        return str(self.config.get("tokenizer_class")).removesuffix("Fast") in _PLAIN_CLASSES

    @property
    def roles(self) -> dict[str, str]:
        """The special tokens by role; those of special_tokens_map.json come first."""
        roles: dict[str, str] = {}
        for content in (self.special, self.config):
            for role in ROLES:
                token = token_text(content.get(role))
                if isinstance(token, str) and token:
                    roles.setdefault(role, token)
        return roles

    @property
    def named_special_tokens(self) -> dict[str, dict[str, Any]]:
        """The special tokens that the files name besides those of ROLES, with their flags.

        As in transformers, special_tokens_map.json is ignored if tokenizer_config.json has the
        added tokens.

        Raises:
            TypeError: If one is not a string.
        """
        has_all = "added_tokens_decoder" in self.config
        named: dict[str, dict[str, Any]] = {}
        for source in (self.config,) if has_all else (self.config, self.special):
            entries = source.get("extra_special_tokens") or source.get("additional_special_tokens")
            if isinstance(entries, dict):  # by the name of a role of this model only
                entries = list(entries.values())
            if not isinstance(entries or [], list):
                raise TypeError(f"the additional special tokens are {entries!r}; expected a list")
            check_number("additional special tokens", len(entries or ()), MOST_ADDED)
            for entry in entries or []:
                flags = entry if isinstance(entry, dict) else {"content": entry}
                if not isinstance(flags["content"], str):
                    raise TypeError(
                        f"an additional special token is {flags['content']!r}, not a text"
                    )
                named.setdefault(flags["content"], {"normalized": False, **flags, "special": True})
        return named

    @property
    def max_length(self) -> int:
        """The longest input that tokenizer_config.json and config.json allow, in tokens."""
        names = ("max_position_embeddings", "n_positions")
        counts = (self.model_config.get(name) for name in names)
        positions = int(next((number for number in counts if number), DEFAULT_MAX_LENGTH))
        stated = self.config.get("model_max_length")
        if not stated:
            return positions
        if not float(stated) >= 1:  # nor NaN
            raise ValueError(f"model_max_length is {stated!r}; expected at least 1")
        # transformers writes 1e30 for "not known".
        return int(min(float(stated), positions))


def read_wordpiece(files: TokenizerFolder) -> tuple[Path, dict[str, Any]]:
    """Read vocab.txt or tokenizer.json and the settings beside it, and check that they are BERT's.

    As in transformers, the vocabulary of tokenizer.json wins if both exist, and the settings of
    tokenizer_config.json win unless its class follows tokenizer.json. Differs: a setting that only
    tokenizer.json states is used; transformers then uses its default, and lower-cases for a cased
    model. [CLS] and [SEP] are added even if tokenizer.json of a plain class has no post-processor.

    Returns:
        The file with the vocabulary, and the arguments of `Tokenizer`.

    Raises:
        FileNotFoundError: If the folder, or both vocabulary files, are missing.
        RuntimeError: If a file is damaged or belongs to another kind of tokenizer.
    """
    if not files.path.is_dir():
        raise FileNotFoundError(f"{files.path} is not a folder. Pass the folder of a checkpoint.")
    _check_class(files)
    for content, file in ((files.config, CONFIG_FILE), (files.special, SPECIAL_TOKENS_FILE)):
        _check_special_tokens(content, files / file)
    added = _added_tokens(files)
    options: dict[str, Any] = {}
    if files.has(TOKENIZER_FILE):
        source = files / TOKENIZER_FILE
        _check_kind(files)
        if files.follows_rules and not files.rules.get("post_processor"):
            _log.warning(
                "%s has no post_processor, so transformers adds no special tokens for its class; "
                "here [CLS] and [SEP] are added, as BERT expects",
                source,
            )
        vocab = _pieces(files.rules, source)
        listed = files.rules.get("added_tokens") or []
        check_number("added tokens", len(listed), MOST_ADDED)
        added |= {int(entry["id"]): _added_token(entry, source) for entry in listed}
        options = files.rules["normalizer"]
    elif files.has(VOCAB_FILE):
        source = files / VOCAB_FILE
        vocab = _read_vocab(source)
    else:
        raise FileNotFoundError(
            f"{files.path} contains neither {VOCAB_FILE} nor {TOKENIZER_FILE} (nor "
            f"{VOCAB_JSON_FILE} with {MERGES_FILE}). Copy the tokenizer's files into it "
            "(tokenizer.save_pretrained writes them)."
        )
    _add_named(files, vocab, added)
    _check_ids(vocab, added, source)
    _warn_of_settings(files, options, source)
    told = {name: files.config[name] for name, _, _ in _SETTINGS if name in files.config}
    built = {name: options[fast_name] for name, fast_name, _ in _SETTINGS if fast_name in options}
    return source, {
        "vocab": vocab,
        "added_tokens": [added[id] for id in sorted(added)],
        "model_max_length": files.max_length,
        **{name: default for name, _, default in _SETTINGS},
        **(told | built if files.follows_rules else built | told),
    }


def write_rules(
    folder: Path, fast: FastTokenizer, config: dict[str, Any], special: dict[str, str]
) -> None:
    """Write tokenizer.json, tokenizer_config.json and special_tokens_map.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / TOKENIZER_FILE).write_text(fast.to_str(pretty=True), encoding="utf-8")
    for name, content in ((CONFIG_FILE, config), (SPECIAL_TOKENS_FILE, special)):
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


def is_wordpiece(content: dict[str, Any], *, follows_rules: bool = False) -> bool:
    """Return whether a tokenizer.json splits text as BERT does, so that it can be explained.

    Args:
        content: The content of tokenizer.json.
        follows_rules: As in `TokenizerFolder`.
    """
    return all(actual == expected for _, actual, expected in _traits(content, follows_rules))


def _traits(content: dict[str, Any], follows_rules: bool) -> tuple[tuple[str, object, object], ...]:
    """Return name, value and BERT's value of each trait of a BERT tokenizer.json."""
    model = content.get("model") or {}
    # Very old files do not name the model's type; only WordPiece has this field.
    kind = model.get("type") or ("WordPiece" if "max_input_chars_per_word" in model else None)
    normalizer = content.get("normalizer") or {}
    obeyed: tuple[tuple[str, object, object], ...] = ()
    if follows_rules:
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


def _check_kind(files: TokenizerFolder) -> None:
    """Raise RuntimeError unless tokenizer.json splits text as BERT does."""
    for name, actual, expected in _traits(files.rules, files.follows_rules):
        if actual != expected:
            raise RuntimeError(
                f"{files / TOKENIZER_FILE}: its {name} is {actual}, but in a BERT tokenizer it is "
                f"{expected}. Only BERT's WordPiece tokenizers can be opened here."
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


def _added_tokens(files: TokenizerFolder) -> dict[int, AddedToken]:
    """Return the added tokens of all files except tokenizer.json, by id."""
    names = {*files.named_special_tokens, *SPECIAL_TOKENS}
    decoder = files.config.get("added_tokens_decoder") or {}
    check_number("added tokens", len(files.added) + len(decoder), MOST_ADDED)
    added = {
        int(id): AddedToken(token, normalized=token not in names, special=token in names)
        for token, id in files.added.items()
    }
    for id, entry in decoder.items():
        added[int(id)] = _added_token(entry, files / CONFIG_FILE)
    return added


def _add_named(files: TokenizerFolder, vocab: list[str], added: dict[int, AddedToken]) -> None:
    """Add the named special tokens that no file gives an id, after all others."""
    ids = {token: id for id, token in enumerate(vocab)}
    known = {token.content for token in added.values()} | set(SPECIAL_TOKENS)
    for name, entry in files.named_special_tokens.items():
        if name not in known:
            id = ids.get(name, max(len(vocab) - 1, *added, 0) + 1)
            added[id] = _added_token(entry, files / CONFIG_FILE)


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
            raise misplaced(path, token.content, id, expected)


def misplaced(path: Path, token: str, id: int, expected: int | None) -> RuntimeError:
    """Return the error for an added token with another id than the next one."""
    return RuntimeError(
        f"{path}: added token {token!r} has id {id}, but {expected} was expected. The files of "
        "the folder do not belong together, or ids were left out."
    )


def _check_class(files: TokenizerFolder) -> None:
    name = files.config.get("tokenizer_class")
    if name is not None and name.removesuffix("Fast") not in _CLASSES:
        raise RuntimeError(
            f"{files / CONFIG_FILE} names a {name}, but only BertTokenizer and similar ones can be "
            "opened here. Open a checkpoint of the BERT family with a WordPiece vocabulary."
        )


def _check_special_tokens(content: dict[str, Any], path: Path) -> None:
    for role, expected in zip(ROLES, SPECIAL_TOKENS, strict=True):
        token = token_text(content.get(role))
        if token not in (None, expected):
            raise RuntimeError(f"{path}: {role} is {token!r}, but BERT's is {expected!r}.")


def token_text(entry: object) -> object:
    """Return the text of a special token, which may have flags beside it."""
    return entry.get("content") if isinstance(entry, dict) else entry


def _warn_of_settings(files: TokenizerFolder, options: dict[str, Any], source: Path) -> None:
    config = files.config
    for name, fast_name, default in _SETTINGS:
        if name in config and fast_name in options and config[name] != options[fast_name]:
            used = "latter" if files.follows_rules else "former"
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
        return TokenizerFolder(folder).max_length
    except MALFORMED as error:
        raise malformed(folder, error) from error
