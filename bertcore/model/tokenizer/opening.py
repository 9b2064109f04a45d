"""Open the tokenizer of a checkpoint's folder, of any kind."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as FastTokenizer

from bertcore.model.tokenizer.auto import Named, build, read_names, read_vocabulary
from bertcore.model.tokenizer.files import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    MERGES_FILE,
    ROLES,
    SENTENCEPIECE_FILES,
    SPECIAL_TOKENS_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    VOCAB_JSON_FILE,
    TokenizerFolder,
    well_formed,
)
from bertcore.model.tokenizer.library import LibraryTokenizer
from bertcore.model.tokenizer.tokenizer import BERTS_ROLES, Tokenizer
from bertcore.model.tokenizer.training import PREFIX, SPECIAL_TOKENS

_READ_AS_BERTS = ("Bert", "Electra", "LayoutLM", "Lxmert", "MobileBert", "SqueezeBert")
"""Families whose tokenizers `transformers` reads with BertTokenizer."""
_OF_BERT = ("bert", "distilbert", "electra")
"""Values of model_type for which `transformers` does so where no class is named."""
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
_MARKS = {
    "▁": "SentencePiece",
    "Ġ": "byte-level BPE",
    PREFIX: "WordPiece",
    "@@": "fastBPE or subword-nmt",
    "</w>": "BPE with ends of words",
}
"""Mark at the start of pieces, or for the last two at their end -> the kind of tokenizer."""
_OWN_MARKS = {"WordPiece": PREFIX, "Unigram": "▁", "byte-level BPE": "Ġ"}


def open_tokenizer(
    folder: str | Path, *, model_type: str | None = None, tokens: Mapping[str, str] | None = None
) -> Tokenizer:
    """Return the tokenizer of a checkpoint, with the ids that `transformers` gives.

    `model_type` is that of the checkpoint, if the folder's config.json does not state it; `tokens`
    are special tokens by role if no file names them, for an architecture that may lack some; None:
    the files must name all.

    FileNotFoundError if the folder lacks the tokenizer's files; RuntimeError if they are damaged,
    or its class runs a program of its own.
    """
    files = TokenizerFolder(folder)
    if not files.path.is_dir():
        raise FileNotFoundError(f"{files.path} is not a folder. Pass the folder of a checkpoint.")
    with well_formed(folder):
        named = read_names(files, model_type)
        if not files.vocabularies:
            raise FileNotFoundError(
                f"{files.path} contains neither {VOCAB_FILE} nor {TOKENIZER_FILE} (nor "
                f"{VOCAB_JSON_FILE} with {MERGES_FILE}, nor a SentencePiece model such as "
                f"{SENTENCEPIECE_FILES[0]}). Copy the tokenizer's files into it "
                "(tokenizer.save_pretrained writes them)."
            )
        plain = _plain(files, _berts_pieces(files, named))
        tokenizer = _built(files, named, tokens) if plain is None else plain
        tokenizer.foreign = _foreign_pieces(tokenizer)
        tokenizer.remarks = tuple(_remarks(files, tokenizer))
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


def _berts_pieces(files: TokenizerFolder, named: Named) -> list[str]:
    """Return the vocabulary that BertTokenizer reads, by id; [] if it is another class.

    Only for this, the most frequent class, it is told here without `transformers`, which takes half
    a second to import. [] also if its tokenizer.json has other rules, which it ignores in part.
    """
    if named.class_name is None:
        is_berts = named.model_type in _OF_BERT
    else:
        family = named.class_name.removesuffix("Fast").removesuffix("Tokenizer")
        is_berts = family in _READ_AS_BERTS and named.model_type in (None, *_OF_BERT)
    if not is_berts or files.vocabularies[0] not in (TOKENIZER_FILE, VOCAB_FILE):
        return []
    if not files.has(TOKENIZER_FILE):
        try:
            lines = read_vocabulary(files / VOCAB_FILE).decode().split("\n")
        except UnicodeDecodeError as error:
            raise RuntimeError(
                f"{files / VOCAB_FILE} is not UTF-8 text ({error}). Save it as UTF-8, or copy it "
                "again."
            ) from error
        return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
    parts = [files.rules.get(name) for name in ("model", "normalizer", "pre_tokenizer")]
    kinds = [part.get("type", "WordPiece") if isinstance(part, dict) else part for part in parts]
    ids = files.rules["model"]["vocab"]
    if kinds != ["WordPiece", "BertNormalizer", "BertPreTokenizer"] or not isinstance(ids, dict):
        return []
    pieces = sorted(ids, key=ids.__getitem__)
    return pieces if [ids[piece] for piece in pieces] == [*range(len(pieces))] else []


def _plain(files: TokenizerFolder, pieces: list[str]) -> Tokenizer | None:
    """Return a tokenizer with nothing unusual as BertTokenizer builds it, or None."""
    settings = {name: files.config.get(name, usual) for name, usual in _DEFAULTS.items()}
    is_plain = (
        set(SPECIAL_TOKENS) <= {*pieces}
        and len({*pieces}) == len(pieces)
        and (files.has(TOKENIZER_FILE) or all(p and p == p.rstrip() for p in pieces))
        and _has_only_berts_tokens(files)
        and isinstance(settings["strip_accents"], bool | None)
        and all(isinstance(settings[name], bool) for name in settings if name != "strip_accents")
    )
    return Tokenizer(pieces, model_max_length=files.max_length, **settings) if is_plain else None


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


def _built(files: TokenizerFolder, named: Named, tokens: Mapping[str, str] | None) -> Tokenizer:
    """Return the tokenizer that `transformers` builds."""
    made, settings = build(files, named)
    roles = {role: settings[role] for role in ROLES if role in settings}
    fast = made.backend_tokenizer
    try:
        tokenizer = LibraryTokenizer(
            fast,
            special_tokens=_roles(files, fast, roles, tokens),
            model_max_length=files.max_length,
            settings=settings,
        )
    except ValueError as error:
        file = files / files.vocabularies[0]
        raise RuntimeError(f"{file}: {str(error)[:1000]}") from error
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


def _remarks(files: TokenizerFolder, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield what is odd, although the ids are those of `transformers`."""
    if unused := sorted({*range(tokenizer.vocab_size)} - {*tokenizer.ids.values()}):
        first = ", ".join(map(str, unused[:3])) + ", ..." * (len(unused) > 3)
        yield (
            f"Ids that no text has, as in transformers: {len(unused):,} ({first}). They were left "
            f"out, or their line of {VOCAB_FILE} is blank or repeated by a later one."
        )
    decoder = files.config.get("added_tokens_decoder") or {}
    stated = {token: (id, ADDED_TOKENS_FILE) for token, id in files.added.items()}
    stated |= {entry["content"]: (int(id), CONFIG_FILE) for id, entry in decoder.items()}
    ids = {token: tokenizer.token_to_id(token) for token in stated}
    moved = [token for token in stated if ids[token] not in (None, stated[token][0])]
    if moved:
        token, (id, name) = moved[0], stated[moved[0]]
        yield (
            f"Warning: the added token {token!r} has the id {id} in {name}, but transformers gives "
            f"it {ids[token]}, and so here (such tokens: {len(moved):,}). If the checkpoint was "
            f"trained with {id}, the files do not belong together, or ids were left out."
        )
    if tokenizer.foreign:
        yield tokenizer.foreign
    elif tokenizer.kind == "WordPiece" and not any(
        len(piece) > len(PREFIX) and piece.startswith(PREFIX) for piece in tokenizer.vocab
    ):
        yield f"No piece begins with {PREFIX}: a word that is not a piece as a whole is unknown."


def _foreign_pieces(tokenizer: Tokenizer) -> str:
    """Return a warning if the pieces are those of another kind of tokenizer; else ""."""
    own = next((mark for kind, mark in _OWN_MARKS.items() if tokenizer.kind.startswith(kind)), "")
    text = "\n".join(["", *tokenizer.vocab, ""])
    at_end = ("@@", "</w>")
    counts = {
        mark: text.count(f"{mark}\n" if mark in at_end else f"\n{mark}") - text.count(f"\n{mark}\n")
        for mark in _MARKS
    }
    mark = max(counts, key=counts.__getitem__)
    if own in ("", mark) or counts[mark] <= counts[own]:
        return ""
    return (
        f"Warning: {counts[mark]:,} pieces {'end' if mark in at_end else 'begin'} with {mark} and "
        f"{counts[own]:,} with {own}: the vocabulary belongs to {_MARKS[mark]}, but it is read as "
        f"{tokenizer.kind}, in transformers too, so that most words are "
        f"{tokenizer.unk_token or 'unknown'} or in other pieces than in training. Put the "
        f"{TOKENIZER_FILE} of its training there, and write PreTrainedTokenizerFast into "
        f"{CONFIG_FILE} (tokenizer_class)."
    )
