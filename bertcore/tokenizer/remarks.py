"""What is odd in a tokenizer's files, in sentences; the ids are those of `transformers` even so."""

from __future__ import annotations

import codecs
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tokenizers import Tokenizer as FastTokenizer

from bertcore.base.links import read_file
from bertcore.tokenizer.bounds import checked_rules
from bertcore.tokenizer.characters import is_chinese, is_whitespace
from bertcore.tokenizer.classes import BERTS, FOLLOWS_RULES, PLAIN, Chosen, read_vocabulary
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
    "▁": "SentencePiece (Unigram or BPE)",
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
_SOME = 3
"""Examples that a sentence names."""
_MANY = 0.05
"""Fraction of a vocabulary from which pieces that never occur are a warning."""


@dataclass(frozen=True)
class Lines:
    """The lines of vocab.txt, where it is the vocabulary."""

    pieces: list[str]
    """The piece of each line: as the library reads them, without the white space at its end."""
    num_stripped: int
    """Lines that ended in white space."""
    has_mark: bool
    """Whether the file begins with a byte order mark."""

    @classmethod
    def read(cls, file_bytes: bytes) -> Lines:
        """Return the lines of a file's content, checked."""
        has_mark = file_bytes.startswith(codecs.BOM_UTF8)
        lines = file_bytes.removeprefix(codecs.BOM_UTF8).decode().split("\n")
        lines = [line.removesuffix("\r") for line in (lines[:-1] if not lines[-1] else lines)]
        pieces = [line.rstrip(_WHITE_SPACE) for line in lines]
        num_stripped = sum(a != b for a, b in zip(lines, pieces, strict=True))
        return cls(pieces, num_stripped, has_mark)

    @cached_property
    def repeated(self) -> dict[str, int]:
        """The pieces that occur more than once, and how often."""
        return {piece: count for piece, count in Counter(self.pieces).items() if count > 1}

    @property
    def are_regular(self) -> bool:
        """Whether each line is a piece of its own, and the file nothing else."""
        return not (self.has_mark or self.num_stripped or self.repeated or "" in self.pieces)


def read_lines(chosen: Chosen) -> Lines | None:
    """Return the lines of vocab.txt; None if something else is read.

    Raises:
        ValueError, RuntimeError: As `read_vocabulary`.
    """
    if chosen.file.name != VOCAB_FILE:
        return None
    read_vocabulary(chosen.file)  # in bounds
    return Lines.read(read_file(chosen.file, MAX_BYTES))


def remarks(
    files: TokenizerFolder, chosen: Chosen, lines: Lines | None, tokenizer: Tokenizer
) -> Iterator[str]:
    """Yield what is odd.

    Args:
        files: The tokenizer's folder.
        chosen: The class that read it.
        lines: The lines of vocab.txt, if that is the vocabulary.
        tokenizer: The tokenizer, before it is fitted to a network.
    """
    yield from _class(files, chosen)
    yield from _ignored_rules(files, chosen, tokenizer)
    yield from _beside(files, tokenizer)
    if lines is not None:
        yield from _odd_lines(lines, tokenizer)
    yield from _unnamed(lines, tokenizer)
    yield from _added(files, tokenizer)
    if tokenizer.foreign:
        yield tokenizer.foreign
    elif tokenizer.kind == "WordPiece":
        yield from _never_used(tokenizer)
    stated = files.config.get("do_lower_case")
    if isinstance(stated, bool) and stated != tokenizer.do_lower_case:
        yield (
            f"do_lower_case is {str(stated).lower()}, which {chosen.name} does not use, in "
            f"transformers either: text is {'' if tokenizer.do_lower_case else 'not '}lower-cased."
        )
    if files.config.get("truncation_side") == "left":
        yield (
            f"{CONFIG_FILE} has truncation_side left: transformers cuts a text that is too long at "
            "its start, BertScope at its end."
        )


def foreign_pieces(tokenizer: Tokenizer) -> str:
    """Return a warning if the pieces are those of another kind of tokenizer; else ""."""
    own = next((mark for kind, mark in _OWN_MARKS.items() if tokenizer.kind.startswith(kind)), None)
    if own is None:
        return ""
    text = "\n".join(["", *tokenizer.vocab, ""])
    counts = {mark: _count(text, mark) for mark in _FOREIGN}
    mark = max(counts, key=counts.__getitem__)
    if mark == own or counts[mark] <= counts[own]:
        return ""
    where = "end" if mark in _AT_END else "begin"
    return (
        f"Warning: {counts[mark]:,} pieces {where} with {mark} and {counts[own]:,} with {own}: the "
        f"vocabulary belongs to {_FOREIGN[mark]}, but it is read as {tokenizer.kind}, in "
        f"transformers too, so that most words are {tokenizer.unk_token or 'unknown'} or in other "
        "pieces than in training. Put the tokenizer.json of its training there, and write "
        f"PreTrainedTokenizerFast into {CONFIG_FILE} (tokenizer_class)."
    )


def _count(text: str, mark: str) -> int:
    """Return how many lines have a mark at their start or end, and more than that."""
    line = f"{mark}\n" if mark in _AT_END else f"\n{mark}"
    return text.count(line) - text.count(f"\n{mark}\n")


def _class(files: TokenizerFolder, chosen: Chosen) -> Iterator[str]:
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
    is_berts = chosen.name == BERTS and chosen.file.name == VOCAB_FILE
    if is_berts and "do_lower_case" not in files.config:
        yield "No file states do_lower_case, so text is lower-cased, the default of transformers."


def _ignored_rules(files: TokenizerFolder, chosen: Chosen, tokenizer: Tokenizer) -> Iterator[str]:
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
            adds = bool(rules.get("post_processor"))
            step = max(1, tokenizer.vocab_size // 200)
            pieces = fast.decode([*range(0, tokenizer.vocab_size, step)])
            for text in (*_PROBES, pieces):
                pair = [one.encode(text, text, add_special_tokens=adds) for one in (fast, theirs)]
                ids = [[*zip(one.ids, one.type_ids, strict=True)] for one in pair]
                if ids[0] != ids[1]:
                    here, there = (" ".join(one.tokens[:12]) for one in pair)
                    yield (
                        f"Warning: {chosen.name} does not follow all of {TOKENIZER_FILE}, in "
                        f"transformers and so here: {text[:60]!r} twice becomes {here} ..., and by "
                        f"the file's own rules {there} .... To follow the file, write "
                        f"PreTrainedTokenizerFast into {CONFIG_FILE} (tokenizer_class)."
                    )
                    return
    except ValueError:
        return  # the file's own rules cannot split these texts


def _beside(files: TokenizerFolder, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield a sentence for a vocabulary beside tokenizer.json that differs from it."""
    if not files.has(TOKENIZER_FILE):
        return
    for name in (VOCAB_FILE, VOCAB_JSON_FILE):
        if not files.has(name):
            continue
        try:
            content = read_vocabulary(files / name)
            other: Mapping[str, int]
            if name == VOCAB_FILE:
                lines = Lines.read(content)
                other = {piece: id for id, piece in enumerate(lines.pieces)}
            else:
                other = json.loads(content)
        except (ValueError, RuntimeError) as error:
            yield f"{name} beside {TOKENIZER_FILE} cannot be read and is not needed ({error})"
            continue
        differing = [p for p, id in other.items() if p and tokenizer.token_to_id(p) != id]
        if differing:
            yield (
                f"Warning: {name} is not the vocabulary of {TOKENIZER_FILE}, which is read, as in "
                f"transformers: {_pieces(len(differing))} of it, such as {_some(differing)}, "
                f"{_have(len(differing))} another id there or none."
            )


def _odd_lines(lines: Lines, tokenizer: Tokenizer) -> Iterator[str]:
    if lines.has_mark:
        yield (
            f"{VOCAB_FILE} begins with a byte order mark, which was left out; transformers takes "
            f"it for a part of the first piece, {lines.pieces[0]!r}. Save it without the mark."
        )
    if num_blank := lines.pieces.count(""):
        yield (
            f"{num_blank:,} line{'s' * (num_blank > 1)} of {VOCAB_FILE} "
            f"{'are' if num_blank > 1 else 'is'} blank: no text has these ids."
        )
    if lines.num_stripped:
        yield (
            f"{lines.num_stripped:,} line{'s' * (lines.num_stripped > 1)} of {VOCAB_FILE} ended in "
            "white space, which does not count."
        )
    repeated = {piece: count for piece, count in lines.repeated.items() if piece}
    if repeated:
        how = "twice" if set(repeated.values()) == {2} else "more than once"
        yield (
            f"{_pieces(len(repeated))} of {VOCAB_FILE} {_occur(len(repeated))} {how}, such as "
            f"{_some(repeated)}: the last line gives the id, as in transformers, and no text has "
            "the others."
        )


def _unnamed(lines: Lines | None, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield a sentence for ids that no piece has."""
    if lines is not None:
        return
    used = set(tokenizer.ids.values())
    holes = [id for id in range(tokenizer.vocab_size) if id not in used]
    if holes:
        yield (
            f"{len(holes):,} id{'s' * (len(holes) > 1)} below {tokenizer.vocab_size:,} "
            f"{_have(len(holes))} no piece ({', '.join(map(str, holes[:_SOME]))}"
            f"{', ...' if len(holes) > _SOME else ''}): no text has "
            f"{'them' if len(holes) > 1 else 'it'}."
        )


def _added(files: TokenizerFolder, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield sentences for added tokens with another id than the files state, or a shared one."""
    stated: dict[str, tuple[int, str]] = {}
    for entry in files.rules.get("added_tokens") or ():
        stated[entry["content"]] = int(entry["id"]), TOKENIZER_FILE
    for token, id in files.added.items():
        stated[token] = int(id), ADDED_TOKENS_FILE
    for id, entry in (files.config.get("added_tokens_decoder") or {}).items():
        stated[entry["content"]] = int(id), CONFIG_FILE
    others = [
        (token, id, name, given)
        for token, (id, name) in stated.items()
        if (given := tokenizer.token_to_id(token)) is not None and given != id
    ]
    if others:
        token, id, name, given = others[0]
        more = f" (so for {len(others) - 1:,} more)" if len(others) > 1 else ""
        yield (
            f"Warning: the added token {token!r} has the id {id} in {name}, but transformers gives "
            f"it {given}, and so here{more}. If the checkpoint was trained with {id}, the files do "
            "not belong together, or ids were left out."
        )
    has_shared = len(set(tokenizer.ids.values())) < len(tokenizer.ids)
    for (token, id), (other, other_id) in pairwise(_by_id(tokenizer) if has_shared else ()):
        if id == other_id:
            yield (
                f"Warning: {token!r} and {other!r} have the same id, {id}, in transformers too: "
                "ids were left out before it. Save the tokenizer again with each id once."
            )
            break
    normalizer = tokenizer.fast.normalizer
    alike: dict[str, str] = {}
    for added in tokenizer.added_tokens if normalizer is not None else ():
        if added.normalized:
            form = normalizer.normalize_str(added.content)
            if (other := alike.setdefault(form, added.content)) != added.content:
                yield (
                    f"Warning: the added tokens {other!r} and {added.content!r} are the same once "
                    "text is normalised: the library takes either by chance, anew each time that "
                    "it is opened. Add one of them."
                )
                break
    id_of = tokenizer.fast.model.token_to_id
    lacking = [t for t in tokenizer.special_tokens if id_of(t) is None and t not in stated]
    if lacking:
        yield (
            f"Warning: the vocabulary lacks {', '.join(lacking)}: transformers adds "
            f"{'it' if len(lacking) == 1 else 'them'} after the last piece, and so here."
        )


def _never_used(tokenizer: Tokenizer) -> Iterator[str]:
    """Yield sentences for pieces that BERT's rules leave no text for."""
    added = {token.content for token in tokenizer.added_tokens}
    vocab = [piece for piece, _ in _by_id(tokenizer) if piece and piece not in added]
    spaced = [piece for piece in vocab if any(map(is_whitespace, piece.strip()))]
    if spaced:
        yield (
            f"{_pieces(len(spaced))}, such as {_some(spaced)}, {_contain(len(spaced))} white space "
            "and so never occur."
        )
    if not any(piece.startswith(PREFIX) and len(piece) > len(PREFIX) for piece in vocab):
        yield f"No piece begins with {PREFIX}: a word that is not a piece as a whole is unknown."
    if tokenizer.tokenize_chinese_chars:
        words = [piece for piece in vocab if len(piece) > 1 and all(map(is_chinese, piece))]
        if words:
            warning = "Warning: " if len(words) > _MANY * len(vocab) else ""
            yield (
                f"{warning}{_pieces(len(words))}, such as {_some(words)}, are words of several "
                "Chinese characters, which are split one by one and so never occur: such a "
                "vocabulary is for a tokenizer that finds words, like Jieba."
            )


def _by_id(tokenizer: Tokenizer) -> list[tuple[str, int]]:
    return sorted(tokenizer.ids.items(), key=lambda item: (item[1], item[0]))


def _some(pieces: Mapping[str, int] | Sequence[str]) -> str:
    shown = [repr(piece[:40]) for piece in [*pieces][:_SOME]]
    return ", ".join(shown)


def _pieces(number: int) -> str:
    return f"{number:,} piece{'s' * (number != 1)}"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _occur(number: int) -> str:
    return "occurs" if number == 1 else "occur"


def _contain(number: int) -> str:
    return "contains" if number == 1 else "contain"
