"""Open the tokenizer of a checkpoint's folder, of any kind."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as FastTokenizer

from bertcore.tokenizer.bounds import checked_rules
from bertcore.tokenizer.classes import BERTS, TokenizerClass, build, choose_class
from bertcore.tokenizer.files import (
    CONFIG_FILE,
    MALFORMED,
    ROLES,
    SPECIAL_TOKENS_FILE,
    TOKENIZER_FILE,
    TokenizerFolder,
    malformed,
)
from bertcore.tokenizer.library import LibraryTokenizer
from bertcore.tokenizer.remarks import Lines, foreign_pieces, read_lines, remarks
from bertcore.tokenizer.tokenizer import BERTS_ROLES, Tokenizer
from bertcore.tokenizer.training import SPECIAL_TOKENS

_USUAL = {
    "pad_token": ("<pad>", "[PAD]"),
    "unk_token": ("<unk>", "[UNK]"),
    "cls_token": ("<s>", "[CLS]"),
    "sep_token": ("</s>", "[SEP]"),
    "mask_token": ("<mask>", "[MASK]"),
}
"""Names of the special tokens if no file gives them."""
_DEFAULTS: Mapping[str, Any] = {
    "do_lower_case": True,
    "strip_accents": None,
    "tokenize_chinese_chars": True,
}


def open_tokenizer(
    folder: str | Path,
    *,
    model_type: str | None = None,
    tokens: Mapping[str, str] | None = None,
) -> Tokenizer:
    """Return the tokenizer of a checkpoint, with the ids that `transformers` gives.

    Args:
        folder: The folder of the tokenizer's files.
        model_type: Of the checkpoint, if the folder's config.json does not state it.
        tokens: Special tokens by role if no file names them, for an architecture that may lack
            some; None: the files must name all.

    Raises:
        FileNotFoundError: If the folder lacks the tokenizer's files.
        RuntimeError: If they are damaged, or its class runs a program of its own.
    """
    files = TokenizerFolder(folder)
    if not files.path.is_dir():
        raise FileNotFoundError(f"{files.path} is not a folder. Pass the folder of a checkpoint.")
    try:
        chosen = choose_class(files, model_type)
        lines = read_lines(chosen)
        tokenizer = _plain(files, chosen, lines) or _built(files, chosen, lines, tokens)
        tokenizer.foreign = foreign_pieces(tokenizer)
        tokenizer.remarks = tuple(remarks(files, chosen, lines, tokenizer))
    except MALFORMED as error:
        raise malformed(folder, error) from error
    return tokenizer


def open_wordpiece(folder: str | Path) -> Tokenizer:
    """Return a tokenizer that splits text as BERT does.

    FileNotFoundError or RuntimeError as `open_tokenizer`, and if it is of another kind.
    """
    tokenizer = open_tokenizer(folder)
    if isinstance(tokenizer, LibraryTokenizer):
        raise RuntimeError(
            f"the tokenizer in {folder} is {tokenizer.kind} with the special tokens "
            f"{', '.join(tokenizer.special_tokens)}; expected WordPiece as in BERT, with "
            f"{', '.join(SPECIAL_TOKENS)} around a text. Choose the folder of such a tokenizer."
        )
    return tokenizer


def _plain(files: TokenizerFolder, chosen: TokenizerClass, lines: Lines | None) -> Tokenizer | None:
    """Return a tokenizer with nothing unusual as BertTokenizer builds it, or None.

    Only for this, the most frequent one, it is told here without `transformers`, which takes half
    a second to import.
    """
    if chosen.name != BERTS or not _has_only_berts_tokens(files):
        return None
    if files.has(TOKENIZER_FILE):
        rules = checked_rules(files.rules)
        parts = (rules["model"], rules["normalizer"], rules["pre_tokenizer"])
        kinds = [
            part.get("type", "WordPiece") if isinstance(part, dict) else part for part in parts
        ]
        ids = rules["model"]["vocab"]
        pieces = sorted(ids, key=ids.__getitem__) if isinstance(ids, dict) else []
        is_regular = kinds == ["WordPiece", "BertNormalizer", "BertPreTokenizer"]
        is_regular = is_regular and [ids[piece] for piece in pieces] == [*range(len(pieces))]
    else:
        pieces, is_regular = ([], False) if lines is None else (lines.pieces, lines.are_regular)
    settings = {name: files.config.get(name, usual) for name, usual in _DEFAULTS.items()}
    for name, value in settings.items():
        is_regular &= isinstance(value, bool) or (value is None and name == "strip_accents")
    if not is_regular or not set(SPECIAL_TOKENS) <= set(pieces):
        return None
    return Tokenizer(pieces, model_max_length=files.max_length, **settings)


def _has_only_berts_tokens(files: TokenizerFolder) -> bool:
    """Return whether the files add no token but BERT's five, each without rare flags."""
    listed = [*(files.rules.get("added_tokens") or ())]
    listed += (files.config.get("added_tokens_decoder") or {}).values()
    named = [*files.config.items(), *files.special.items()]
    return (
        all(_is_one(token, SPECIAL_TOKENS) and token.get("special") for token in listed)
        and all(
            _is_one(token, (BERTS_ROLES.get(name),))
            for name, token in named
            if name.endswith("_token") and not isinstance(token, bool | None)
        )
        and not any(value for name, value in named if name.endswith("_special_tokens"))
        and set(files.added) <= set(SPECIAL_TOKENS)
    )


def _is_one(token: Any, expected: Collection[str | None]) -> bool:
    """Return whether a token (a text or an object) is one of those expected, with usual flags."""
    flags = token if isinstance(token, dict) else {"content": token, "normalized": False}
    has_rare = any(flags.get(name) for name in ("lstrip", "rstrip", "single_word"))
    return not has_rare and flags.get("normalized") is False and flags.get("content") in expected


def _built(
    files: TokenizerFolder,
    chosen: TokenizerClass,
    lines: Lines | None,
    tokens: Mapping[str, str] | None,
) -> Tokenizer:
    """Return the tokenizer that the class of `transformers` builds."""
    built = build(files, chosen)
    try:
        tokenizer = LibraryTokenizer(
            built.fast,
            special_tokens=_roles(files, built.fast, built.roles, tokens),
            model_max_length=files.max_length,
            settings=built.settings,
            names={} if lines is None else dict(enumerate(lines.pieces)),
        )
    except ValueError as error:
        raise RuntimeError(f"{chosen.file}: {str(error)[:1000]}") from error
    return tokenizer.explained() if tokenizer.is_berts else tokenizer


def _roles(
    files: TokenizerFolder,
    fast: FastTokenizer,
    roles: Mapping[str, str],
    tokens: Mapping[str, str] | None,
) -> dict[str, str]:
    """Return the special tokens by role; RuntimeError if all are expected and one is not named."""

    def is_there(token: str) -> bool:
        return fast.token_to_id(token) is not None

    if tokens is not None:
        return {role: token for role, token in {**tokens, **roles}.items() if is_there(token)}
    special = {role: roles.get(role) or next(filter(is_there, _USUAL[role]), "") for role in ROLES}
    untold = [role for role, token in special.items() if not token]
    if untold:
        raise RuntimeError(
            f"{files.path}: neither {CONFIG_FILE} nor {SPECIAL_TOKENS_FILE} names the "
            f"{', '.join(untold)}. Copy the complete checkpoint."
        )
    return special
