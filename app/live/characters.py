"""The character classes of BERT's normaliser as tables, for the tokenizer in the browser.

They are taken from the library, since a browser's own Unicode version may be another.
"""

import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

from tokenizers.normalizers import NFD, BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

from bertcore.tokenizer.characters import combining_class

_BETWEEN = "0"
"""Stands between all characters; no other one becomes or contains it."""
_HANGUL = range(0xAC00, 0xD7A4)
"""Syllables, which decompose by rule."""


@cache
def character_tables() -> dict[str, Any]:
    """Return what `characters.ts` reads: code points in runs, and what they become in pairs."""
    clean = _each(BertNormalizer(True, False, False, False).normalize_str)
    accents = _each(BertNormalizer(False, False, True, False).normalize_str)
    lower = _each(BertNormalizer(False, False, False, True).normalize_str)
    chinese = _each(BertNormalizer(False, True, False, False).normalize_str)
    decomposed = _each(NFD().normalize_str)
    ranks = {
        c: rank
        for c in map(chr, range(sys.maxunicode + 1))
        if unicodedata.combining(c) and (rank := combining_class(c))
    }
    return {
        "removed": _runs(c for c, became in clean.items() if became == ""),
        "whitespace": _runs([" ", *(c for c, became in clean.items() if became == " ")]),
        "chinese": _runs(chinese),
        "accent": _runs(c for c, became in accents.items() if became == ""),
        "punctuation": _runs(_punctuation()),
        "lower": _pairs(lower),
        "decompose": _pairs({c: d for c, d in decomposed.items() if ord(c) not in _HANGUL}),
        "rank": _pairs(ranks),
    }


def _characters() -> Iterator[str]:
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code <= 0xDFFF and chr(code) != _BETWEEN:
            yield chr(code)


def _each(normalize: Any) -> dict[str, str]:
    """Return each character that the function changes, with what it becomes."""
    characters = [*_characters()]
    text = _BETWEEN.join(characters)
    became = normalize(text).split(_BETWEEN)
    assert len(became) == len(characters)
    return {c: to for c, to in zip(characters, became, strict=True) if to != c}


def _punctuation() -> set[str]:
    """Return the characters that are always a word by themselves."""
    text = _BETWEEN + _BETWEEN.join(_characters()) + _BETWEEN
    parts: list[tuple[str, tuple[int, int]]] = BertPreTokenizer().pre_tokenize_str(text)
    return {part for part, _ in parts if len(part) == 1 and part != _BETWEEN}


def _runs(characters: Iterable[str]) -> list[int]:
    """Return the first and last code point of each run, one after the other."""
    codes = sorted(map(ord, characters))
    breaks = [second for first, second in pairwise(codes) if second != first + 1]
    ends = [first for first, second in pairwise(codes) if second != first + 1]
    return [
        code
        for run in zip([*codes[:1], *breaks], [*ends, *codes[-1:]], strict=True)
        for code in run
    ]


def _pairs(mapping: Mapping[str, Any]) -> list[list[Any]]:
    return [list(mapping), list(mapping.values())]
