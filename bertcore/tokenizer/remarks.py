"""What is odd in a tokenizer's files, in sentences; the ids are those of `transformers` even so."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

from tokenizers import Tokenizer as FastTokenizer

from bertcore.base.links import read_file
from bertcore.tokenizer.bounds import checked_rules
from bertcore.tokenizer.characters import is_chinese
from bertcore.tokenizer.classes import BERTS, FOLLOWS_RULES, PLAIN, TokenizerClass, read_vocabulary
from bertcore.tokenizer.errors import library_errors
from bertcore.tokenizer.files import (
    ADDED_TOKENS_FILE,
    CONFIG_FILE,
    MAX_BYTES,
    MODEL_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    VOCAB_JSON_FILE,
    TokenizerFolder,
)
from bertcore.tokenizer.tokenizer import Tokenizer, state
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
_PROBES = ("The Cat sat, naïve Éva's 2026 cats!", "東京 и Öl", " a  b\tc ", "[MASK] <mask> don't")
_WHITE_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What the library strips from the end of a line: Unicode's White_Space."""
_MANY = 0.05
"""Fraction of a vocabulary from which pieces that never occur are a warning."""
_FOLLOW = f"write PreTrainedTokenizerFast into {CONFIG_FILE} (tokenizer_class)"


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of vocab.txt."""

    pieces: list[str]
    """The piece of each line: as the library reads them, without the white space at its end."""
    num_stripped: int
    """Lines that ended in white space."""
    has_mark: bool
    """Whether the file begins with a byte order mark."""

    @classmethod
    def of(cls, content: bytes) -> Lines:
        has_mark = content.startswith(codecs.BOM_UTF8)
        lines = content.removeprefix(codecs.BOM_UTF8).decode().split("\n")
        lines = [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
        pieces = [line.rstrip(_WHITE_SPACE) for line in lines]
        return cls(pieces, sum(map(str.__ne__, lines, pieces)), has_mark)

    @property
    def are_regular(self) -> bool:
        """Whether each line is a piece of its own, and the file nothing else."""
        pieces = set(self.pieces)
        is_plain = not self.has_mark and not self.num_stripped
        return is_plain and "" not in pieces and len(pieces) == len(self.pieces)


def read_lines(chosen: TokenizerClass) -> Lines | None:
    """Return the lines of vocab.txt; None if something else is read.

    ValueError or RuntimeError as `read_vocabulary`.
    """
    if chosen.file.name != VOCAB_FILE:
        return None
    read_vocabulary(chosen.file)  # in bounds
    return Lines.of(read_file(chosen.file, MAX_BYTES))


def remarks(
    files: TokenizerFolder, chosen: TokenizerClass, lines: Lines | None, tokenizer: Tokenizer
) -> Iterator[str]:
    """Yield what is odd.

    Args:
        files: The tokenizer's folder.
        chosen: The class that read it.
        lines: The lines of vocab.txt, if that is the vocabulary.
        tokenizer: The tokenizer, before it is fitted to a network.
    """
    yield from _class(files, chosen)
    yield from _settings(files, chosen, tokenizer)
    yield from _ignored_rules(files, chosen, tokenizer)
    yield from _beside(files, tokenizer)
    yield from _unused_ids(tokenizer) if lines is None else _odd_lines(lines)
    yield from _added(files, tokenizer)
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
        f"{TOKENIZER_FILE} of its training there, and {_FOLLOW}."
    )


def _count(text: str, mark: str) -> int:
    """Return how many lines have a mark at their start or end, and more than that."""
    line = f"{mark}\n" if mark in _AT_END else f"\n{mark}"
    return text.count(line) - text.count(f"\n{mark}\n")


def _class(files: TokenizerFolder, chosen: TokenizerClass) -> Iterator[str]:
    own, of_model = files.config.get("tokenizer_class"), files.model_config.get("tokenizer_class")
    if own and of_model and str(own).removesuffix("Fast") != str(of_model).removesuffix("Fast"):
        yield (
            f"{CONFIG_FILE} names a {own} and {MODEL_CONFIG_FILE} a {of_model}: the former "
            "decides, as in transformers."
        )
    if chosen.is_by_files:
        yield (
            f"No file names a class of the tokenizer that reads {chosen.file.name}, so it is read "
            f"as that of a {chosen.name}. transformers needs the name in {CONFIG_FILE} "
            "(tokenizer_class)."
        )
    elif chosen.name == FOLLOWS_RULES and chosen.named and chosen.named not in PLAIN:
        yield (
            f"The tokenizer is called a {chosen.named[:100]}, but its {TOKENIZER_FILE} is followed "
            "instead, as in transformers."
        )


def _settings(
    files: TokenizerFolder, chosen: TokenizerClass, tokenizer: Tokenizer
) -> Iterator[str]:
    stated = files.config.get("do_lower_case")
    if isinstance(stated, bool) and stated != tokenizer.do_lower_case:
        yield (
            f"do_lower_case is {str(stated).lower()}, which {chosen.name} does not use, in "
            f"transformers either: text is {'' if tokenizer.do_lower_case else 'not '}lower-cased."
        )
    is_berts = chosen.name == BERTS and chosen.file.name == VOCAB_FILE
    if is_berts and "do_lower_case" not in files.config:
        yield "No file states do_lower_case, so text is lower-cased, the default of transformers."
    if files.config.get("truncation_side") == "left":
        yield (
            f"{CONFIG_FILE} has truncation_side left: transformers cuts a text that is too long at "
            "its start, BertScope at its end."
        )


def _ignored_rules(
    files: TokenizerFolder, chosen: TokenizerClass, tokenizer: Tokenizer
) -> Iterator[str]:
    """Yield a sentence if a class does not follow tokenizer.json, with a text that shows it."""
    if chosen.name == FOLLOWS_RULES or not files.has(TOKENIZER_FILE):
        return
    fast, rules = tokenizer.fast, files.rules
    parts = ("normalizer", "pre_tokenizer", "post_processor")
    alike = all((rules.get(part) or {}) == state(getattr(fast, part)) for part in parts)
    model = {key: value for key, value in rules["model"].items() if key not in ("vocab", "merges")}
    own = {key: getattr(fast.model, key, value) for key, value in model.items() if key != "type"}
    if alike and model == {"type": type(fast.model).__name__, **own}:
        return
    try:
        with library_errors("{}"):
            theirs = FastTokenizer.from_str(json.dumps(checked_rules(rules)))
            step = max(1, tokenizer.vocab_size // 200)
            pieces = fast.decode([*range(0, tokenizer.vocab_size, step)])
            for text in (*_PROBES, pieces):
                adds = bool(rules.get("post_processor"))
                pair = [one.encode(text, text, add_special_tokens=adds) for one in (fast, theirs)]
                if (pair[0].ids, pair[0].type_ids) != (pair[1].ids, pair[1].type_ids):
                    here, there = (" ".join(one.tokens[:12]) for one in pair)
                    yield (
                        f"Warning: {chosen.name} does not follow all of {TOKENIZER_FILE}, in "
                        f"transformers and so here: {text[:60]!r} twice becomes {here} ..., and by "
                        f"the file's own rules {there} .... To follow the file, {_FOLLOW}."
                    )
                    return
    except ValueError:
        return  # the file's own rules cannot split these texts


def _beside(files: TokenizerFolder, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield a sentence for a vocabulary beside tokenizer.json that differs from it."""
    for name in (VOCAB_FILE, VOCAB_JSON_FILE) if files.has(TOKENIZER_FILE) else ():
        if not files.has(name):
            continue
        try:
            content = read_vocabulary(files / name)
            if name == VOCAB_FILE and content == _as_lines(tokenizer):
                continue
            lines = Lines.of(content).pieces if name == VOCAB_FILE else []
            ids = {piece: id for id, piece in enumerate(lines)} or json.loads(content)
        except (ValueError, RuntimeError) as error:
            yield f"{name} beside {TOKENIZER_FILE} cannot be read and is not needed ({error})"
            continue
        if others := [p for p, id in ids.items() if p and tokenizer.token_to_id(p) != id]:
            yield (
                f"Warning: {name} is not the vocabulary of {TOKENIZER_FILE}, which is read, as in "
                f"transformers. Pieces with another id there, or none: {_some(others)}."
            )


def _as_lines(tokenizer: Tokenizer) -> bytes:
    """Return vocab.txt of the pieces; nothing if a line would be read as another piece."""
    text = "\n".join(tokenizer.vocab)
    is_read_as_it_is = len(text.split()) == len(tokenizer.vocab) == len(tokenizer.ids)
    return f"{text}\n".encode() if is_read_as_it_is else b""


def _odd_lines(lines: Lines) -> Iterator[str]:
    if lines.has_mark:
        yield (
            f"{VOCAB_FILE} begins with a byte order mark, which was left out; transformers takes "
            f"it for a part of the first piece, {lines.pieces[0]!r}. Save it without the mark."
        )
    if num_blank := lines.pieces.count(""):
        yield f"Blank lines of {VOCAB_FILE}, whose ids no text has: {num_blank:,}."
    if lines.num_stripped:
        yield f"Lines of {VOCAB_FILE} that were read without white space: {lines.num_stripped:,}."
    if repeated := [p for p, count in Counter(lines.pieces).items() if count > 1 and p]:
        yield (
            f"Pieces of {VOCAB_FILE} that occur more than once: {_some(repeated)}. The last line "
            "gives the id, as in transformers, and no text has the others."
        )


def _unused_ids(tokenizer: Tokenizer) -> Iterator[str]:
    if holes := sorted({*range(tokenizer.vocab_size)} - {*tokenizer.ids.values()}):
        yield f"Ids without a piece, which no text has: {_some([*map(str, holes)])}."


def _added(files: TokenizerFolder, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield sentences for added tokens with another id than the files state, or a shared one."""
    listed = [
        (t["content"], t["id"], TOKENIZER_FILE) for t in files.rules.get("added_tokens") or ()
    ]
    listed += [(token, id, ADDED_TOKENS_FILE) for token, id in files.added.items()]
    decoder = files.config.get("added_tokens_decoder") or {}
    listed += [(entry["content"], id, CONFIG_FILE) for id, entry in decoder.items()]
    stated = {token: (int(id), name) for token, id, name in listed}
    moved = {t: at for t, at in stated.items() if tokenizer.token_to_id(t) not in (None, at[0])}
    for token, (id, name) in [*moved.items()][:1]:
        yield (
            f"Warning: the added token {token!r} has the id {id} in {name}, but transformers gives "
            f"it {tokenizer.token_to_id(token)}, and so here (such tokens: {len(moved):,}). If the "
            f"checkpoint was trained with {id}, the files do not belong together, or ids were left "
            "out."
        )
    if len(set(tokenizer.ids.values())) < len(tokenizer.ids):
        by_id = sorted((id, token) for token, id in tokenizer.ids.items())
        shared = next(pair for pair in pairwise(by_id) if pair[0][0] == pair[1][0])
        yield (
            f"Warning: {shared[0][1]!r} and {shared[1][1]!r} have the same id, {shared[0][0]}, in "
            "transformers too: ids were left out before it. Save the tokenizer again with each id "
            "once."
        )
    forms: dict[str, list[str]] = {}
    for added in tokenizer.added_tokens:
        if added.normalized and tokenizer.fast.normalizer is not None:
            form = tokenizer.fast.normalizer.normalize_str(added.content)
            forms.setdefault(form, []).append(added.content)
    for alike in [tokens for tokens in forms.values() if len(tokens) > 1][:1]:
        yield (
            f"Warning: the added tokens {alike[0]!r} and {alike[1]!r} are the same once text is "
            "normalised: the library takes either by chance, anew each time that it is opened. "
            "Add one of them."
        )
    id_of = tokenizer.fast.model.token_to_id
    lacking = [t for t in tokenizer.special_tokens if id_of(t) is None and t not in stated]
    if lacking:
        yield (
            f"Warning: the vocabulary lacks {', '.join(lacking)}, which transformers adds after "
            "the last piece, and so here."
        )


def _never_used(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield sentences for pieces that BERT's rules leave no text for."""
    added = {token.content for token in tokenizer.added_tokens}
    id_of = tokenizer.ids.get
    vocab = [piece for id, piece in enumerate(tokenizer.vocab) if id_of(piece) == id]
    characters = set("".join(vocab))
    has_space = any(map(str.isspace, characters))
    if has_space and (spaced := [p for p in vocab if len(p.split()) > 1 and p not in added]):
        yield f"Pieces with white space within, which never occur: {_some(spaced)}."
    if not any(len(piece) > len(PREFIX) for piece in vocab if piece.startswith(PREFIX)):
        yield f"No piece begins with {PREFIX}: a word that is not a piece as a whole is unknown."
    words = []
    if tokenizer.tokenize_chinese_chars and any(map(is_chinese, characters)):
        words = [p for p in vocab if not p.isascii() and len(p) > 1 and all(map(is_chinese, p))]
    if never := [p for p in words if p not in added]:
        yield (
            f"{'Warning: p' if len(never) > _MANY * len(vocab) else 'P'}ieces of several Chinese "
            f"characters, which are split one by one and so never occur: {_some(never)}. Such a "
            "vocabulary is for a tokenizer that finds words, like Jieba."
        )


def _some(pieces: Collection[str]) -> str:
    """Return the number of pieces or ids, and the first three."""
    shown = [piece if piece.isdecimal() else repr(piece[:40]) for piece in [*pieces][:3]]
    return f"{len(pieces):,} ({', '.join(shown)}{', ...' if len(pieces) > 3 else ''})"
