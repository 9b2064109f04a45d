"""What is odd in a tokenizer's files, in sentences; the ids are those of `transformers` even so."""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterator

from bertcore.base.links import read_start
from bertcore.tokenizer.auto import Named
from bertcore.tokenizer.characters import is_chinese
from bertcore.tokenizer.files import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    TokenizerFolder,
)
from bertcore.tokenizer.tokenizer import Tokenizer
from bertcore.tokenizer.training import PREFIX

_OWN_MARKS = {"WordPiece": PREFIX, "Unigram": "▁", "byte-level BPE": "Ġ"}
"""Kind of tokenizer -> the mark of its pieces, at their start."""
_FOREIGN = {
    "▁": "SentencePiece",
    "Ġ": "byte-level BPE",
    PREFIX: "WordPiece",
    "@@": "fastBPE or subword-nmt",
    "</w>": "BPE with ends of words",
}
_AT_END = ("@@", "</w>")
_MANY = 0.05
"""Fraction of a vocabulary from which pieces that never occur are a warning."""


def remarks(
    files: TokenizerFolder, named: Named, read_by: str, tokenizer: Tokenizer
) -> Iterator[str]:
    """Yield what is odd.

    Args:
        files: The tokenizer's folder.
        named: What the files say about its class.
        read_by: The name of the class that read it.
        tokenizer: The tokenizer, before it is fitted to a network.
    """
    name = named.class_name or read_by
    if read_by == "TokenizersBackend" and not re.match("PreTrained|.*Backend", name):
        yield (
            f"The tokenizer is called a {name[:100]}, but its {TOKENIZER_FILE} is followed, as in "
            "transformers."
        )
    if files.vocabularies == [VOCAB_FILE] and read_start(files / VOCAB_FILE, 3) == codecs.BOM_UTF8:
        yield (
            f"{VOCAB_FILE} begins with a byte order mark, which was left out; transformers takes "
            "it for a part of the first piece. Save it without the mark."
        )
    if unused := sorted({*range(tokenizer.vocab_size)} - {*tokenizer.ids.values()}):
        yield (
            f"Ids that no text has, as in transformers: {_some(unused)}. They were left out, or "
            f"their line of {VOCAB_FILE} is blank or repeated by a later one."
        )
    yield from _moved(files, tokenizer)
    if tokenizer.foreign:
        yield tokenizer.foreign
    elif tokenizer.kind == "WordPiece":
        yield from _never_used(tokenizer)


def foreign_pieces(tokenizer: Tokenizer) -> str:
    """Return a warning if the pieces are those of another kind of tokenizer; else ""."""
    own = next((mark for kind, mark in _OWN_MARKS.items() if tokenizer.kind.startswith(kind)), None)
    text = "\n".join(["", *tokenizer.vocab, ""])
    counts = {mark: _count(text, mark) for mark in _FOREIGN}
    mark = max(counts, key=counts.__getitem__)
    if own in (None, mark) or counts[mark] <= counts[own or mark]:
        return ""
    return (
        f"Warning: {counts[mark]:,} pieces {'end' if mark in _AT_END else 'begin'} with {mark} and "
        f"{counts[own or mark]:,} with {own}: the vocabulary belongs to {_FOREIGN[mark]}, but it "
        f"is read as {tokenizer.kind}, in transformers too, so that most words are "
        f"{tokenizer.unk_token or 'unknown'} or in other pieces than in training. Put the "
        f"{TOKENIZER_FILE} of its training there, and write PreTrainedTokenizerFast into "
        f"{CONFIG_FILE} (tokenizer_class)."
    )


def _count(text: str, mark: str) -> int:
    """Return how many lines have a mark at their start or end, and more than that."""
    line = f"{mark}\n" if mark in _AT_END else f"\n{mark}"
    return text.count(line) - text.count(f"\n{mark}\n")


def _moved(files: TokenizerFolder, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield a sentence if an added token has another id than the files state."""
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


def _never_used(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield sentences for pieces that BERT's rules leave no text for."""
    if not any(len(piece) > len(PREFIX) and piece.startswith(PREFIX) for piece in tokenizer.vocab):
        yield f"No piece begins with {PREFIX}: a word that is not a piece as a whole is unknown."
    added = {token.content for token in tokenizer.added_tokens}
    words = [p for p in tokenizer.vocab if len(p) > 1 and not p.isascii() and p not in added]
    never = [p for p in words if all(map(is_chinese, p))]
    if never and tokenizer.tokenize_chinese_chars:
        yield (
            f"{'Warning: p' if len(never) > _MANY * len(tokenizer.vocab) else 'P'}ieces of several "
            f"Chinese characters, which are split one by one and so never occur: {_some(never)}. "
            "Such a vocabulary is for a tokenizer that finds words, like Jieba."
        )


def _some(pieces: Collection[str | int]) -> str:
    """Return the number of pieces or ids, and the first three."""
    shown = ", ".join(repr(p[:40]) if isinstance(p, str) else str(p) for p in [*pieces][:3])
    return f"{len(pieces):,} ({shown}{', ...' if len(pieces) > 3 else ''})"
