"""Bounds of a tokenizer's files, checked before a library builds anything from them.

Libraries trust these files: four replacements of one letter by a thousand, or a template of a
hundred thousand special tokens, end the process with no error to catch.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from re import _parser as re_parser  # type: ignore[attr-defined]
from typing import Any

from bertcore.base.json_data import named_values

MOST_PIECES = 2_000_000
"""Pieces, or merges, of a vocabulary; XLM-V, the largest published one, has 901,629."""
LONGEST_PIECE = 2000
"""Characters of a piece, a merge or an added token."""
MOST_ADDED = 20_000
"""Added tokens, which are compared one by one."""
_MOST_VALUES = 5000
"""JSON values of a tokenizer's rules; ALBERT's have about 60."""
_MOST_TEMPLATE_VALUES = 500
"""JSON values of a post-processor; BERT's has 50."""
_LONGEST_RULE = 2000
"""Characters of a text in the rules; GPT-4o's regular expression has about 500."""
_LONGEST_CHARSMAP = 4_000_000
"""Characters of SentencePiece's table of normalised characters; that of NFKC has 320,000."""
_MOST_GROWTH = 200
"""How many times longer than a text its normalised form may be. XLM-RoBERTa's rules allow
for 144, of which 18 are NFKC's."""
_RULES = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
_LONGEST_WORD = 1000
"""Characters of a word that WordPiece splits, in a time that grows with their square."""


def check_number(what: str, number: int, most: int) -> None:
    """Raise ValueError if there are too many of something."""
    if not 0 <= number <= most:
        raise ValueError(f"its {what}: {number:,}; expected 0 to {most:,}")


def check_text(what: str, text: object, most: int = LONGEST_PIECE) -> str:
    """Return `text`; raise ValueError if it is no string, or too long."""
    if not isinstance(text, str):
        raise ValueError(f"its {what} is {str(text)[:100]!r}; expected a text")
    if len(text) > most:
        raise ValueError(f"its {what} has {len(text):,} characters; at most {most:,} are allowed")
    return text


def check_vocabulary(content: bytes, name: str) -> None:
    """Check vocab.txt, merges.txt or vocab.json.

    ValueError if it has too many entries, or one that is too long, or is no UTF-8 or JSON.
    """
    check_number("lines", content.count(b"\n"), MOST_PIECES)
    is_json = name.endswith(".json")
    _check_pieces("pieces", json.loads(content) if is_json else content.decode().split("\n"))


def check_sentencepiece(content: bytes) -> None:
    """Check a SentencePiece model.

    Raises:
        ValueError: If it is none, or has too many or too long pieces.
        ImportError: If the package that reads it is missing.
    """
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from transformers.convert_slow_tokenizer import import_protobuf

    model = import_protobuf().ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError as error:
        raise ValueError(f"it is not a SentencePiece model ({error})") from error
    types = [piece.type for piece in model.pieces]
    if model.SentencePiece.NORMAL not in types:
        raise ValueError("it is not a SentencePiece model: it has no pieces for words")
    _check_pieces("pieces", [piece.piece for piece in model.pieces])
    for kind in (model.SentencePiece.CONTROL, model.SentencePiece.USER_DEFINED):
        check_number("symbols", types.count(kind), MOST_ADDED)
    table = model.normalizer_spec.precompiled_charsmap
    check_number("bytes of its charsmap", len(table), _LONGEST_CHARSMAP)
    _check_growth("normalizer", [_table_growth(table)])


def checked_rules(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a tokenizer.json that a library may build: what is known, in bounds.

    Truncation and padding are left out, which are decided here.

    Raises:
        ValueError: If its rules, its vocabulary or its added tokens are out of bounds.
        TypeError, KeyError, AttributeError: If they have another form.
    """
    rules = {key: content.get(key) for key in _RULES}
    for key, part in rules.items():
        most = _MOST_TEMPLATE_VALUES if key == "post_processor" else _MOST_VALUES
        values = list(itertools.islice(named_values(part), most + 1))
        check_number(f"values in {key}", len(values), most)
        for name, value in values:
            if isinstance(value, str):
                is_table = name == "precompiled_charsmap"
                check_text(name, value, _LONGEST_CHARSMAP if is_table else _LONGEST_RULE)
            if name == "Regex":
                _check_regex(str(value))
    for keys in (("normalizer", "pre_tokenizer"), ("post_processor",), ("decoder",)):
        growths = (_growth(part) for key in keys for _, part in named_values(rules[key]))
        _check_growth(" and ".join(keys), growths)
    added = content.get("added_tokens") or []
    check_number("added tokens", len(added), MOST_ADDED)
    for token in added:
        check_text("added token", token["content"])
    model = content["model"]
    _check_model(model)
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added} | {
        **rules,
        "model": model,
    }


def _check_model(model: Mapping[str, Any]) -> None:
    vocab, merges = model["vocab"], model.get("merges") or []
    _check_pieces("pieces", vocab if isinstance(vocab, dict) else [piece for piece, _ in vocab])
    halves = (merge if isinstance(merge, list) else [merge] for merge in merges)
    _check_pieces("merges", list(itertools.chain.from_iterable(halves)), 2 * MOST_PIECES)
    for name, value in model.items():
        if isinstance(value, str):
            check_text(name, value)
    check_number(
        "max_input_chars_per_word", model.get("max_input_chars_per_word") or 0, _LONGEST_WORD
    )


def _check_pieces(what: str, pieces: Collection[object], most: int = MOST_PIECES) -> None:
    check_number(what, len(pieces), most)
    if set(map(type, pieces)) == {str} and len(max(map(str, pieces), key=len)) <= LONGEST_PIECE:
        return  # in a tenth of the time
    for piece in pieces:
        check_text(what, piece, LONGEST_PIECE)


def _check_growth(what: str, growths: Iterable[float]) -> None:
    """Raise ValueError if steps that follow each other lengthen a text too much."""
    total = math.prod(growths)
    if not total <= _MOST_GROWTH:
        raise ValueError(
            f"its {what} may lengthen a text {total:,.0f} times; at most {_MOST_GROWTH} times is "
            "allowed"
        )


def _growth(part: object) -> float:
    """Return how many times longer one step may make a text, at most."""
    if not isinstance(part, dict):
        return 1
    kind = part.get("type")
    if kind == "Replace":
        length, pattern = len(part["content"]), part["pattern"]
        if text := pattern.get("String"):
            return max(1.0, length / len(text))
        return 1.0 + length  # also between two characters
    if kind == "Prepend":
        return 1.0 + len(part["prepend"])
    if kind == "Precompiled":
        return _table_growth(base64.b64decode(part["precompiled_charsmap"]))
    if kind == "TemplateProcessing":
        sides = [[name for name, _ in named_values(part.get(side))] for side in ("single", "pair")]
        return max(1, *(names.count("Sequence") for names in sides))
    return _STEP_GROWTH.get(str(kind), 1)


_STEP_GROWTH = {"ByteLevel": 4, "Metaspace": 2}
"""Characters made of one: its bytes, or it with a mark before it."""


def _table_growth(table: bytes) -> int:
    """Return the length of the longest text in SentencePiece's table of normalised characters.

    Its texts follow a trie, whose size is in the first four bytes, and end in zeros.
    """
    texts = table[4 + int.from_bytes(table[:4], "little") :].split(b"\0")
    return max(1, *(len(text.decode(errors="replace")) for text in texts))


def _check_regex(pattern: str) -> None:
    """Check that the engine, which tries all ways to match, cannot have too many.

    ValueError if a match may take longer than in proportion to the text (x*x*y), or it cannot be
    told.
    """
    try:
        # The engine's classes of characters, which this parser does not know, change nothing; with
        # an empty alternative between two others, it does not merge them.
        known = re.sub(r"\\[pP]\{\^?\w+\}", r"\\w", pattern).replace("|", "||")
        items = re_parser.parse(known)
        is_slow = _num_slow(items, is_followed=False) > 1
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"its regular expression {pattern[:100]!r}: {error}") from error
    if is_slow:
        raise ValueError(
            f"its regular expression {pattern[:100]!r} may be tried in too many ways, which can "
            "take for ever"
        )


def _num_slow(items: Any, *, is_followed: bool) -> int:
    """Return how many parts of a pattern the engine may have to try again and again, together.

    Those are the repeated parts before one that may fail. Repeating a part that has a choice counts
    twice.

    Args:
        items: The parsed pattern, or a part.
        is_followed: Whether a part that may fail comes after it.
    """
    number = 0
    for kind, value in reversed(items):
        if kind in _REPEATS:
            least, most, part = value
            if most == 1:
                number += _num_slow(part, is_followed=is_followed)
            else:
                number += 2 if _has_choice(part) else most > _FEW and is_followed
            is_followed |= least > 0
            continue
        if kind is re_parser.BRANCH:
            number += max(_num_slow(part, is_followed=is_followed) for part in value[1])
        elif kind in _GROUPS:
            is_tried = is_followed or kind in _ASSERTIONS
            number += _num_slow(_inner(kind, value), is_followed=is_tried)
        elif kind in (re_parser.GROUPREF, re_parser.GROUPREF_EXISTS):
            number += 2
        is_followed = True
    return number


def _has_choice(items: Any) -> bool:
    """Return whether a part may match the same text in several ways."""
    for kind, value in items:
        if kind in _REPEATS and (not value[0] == value[1] <= _FEW or _has_choice(value[2])):
            return True
        if kind is re_parser.BRANCH or (kind in _GROUPS and _has_choice(_inner(kind, value))):
            return True
    return False


def _inner(kind: Any, value: Any) -> Any:
    return value if kind is re_parser.ATOMIC_GROUP else value[-1]


_FEW = 10
_REPEATS = (re_parser.MAX_REPEAT, re_parser.MIN_REPEAT, re_parser.POSSESSIVE_REPEAT)
_ASSERTIONS = (re_parser.ASSERT, re_parser.ASSERT_NOT)
_GROUPS = (re_parser.SUBPATTERN, re_parser.ATOMIC_GROUP, *_ASSERTIONS)
