"""The character classes of BERT's normaliser, asked of the library that this package explains.

Its categories are those of several Unicode versions, none of them that of this Python's
`unicodedata`, which is only used for properties that never change once a character is assigned.
"""

import unicodedata
from collections.abc import Callable
from functools import lru_cache, wraps

from tokenizers.normalizers import NFD, BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer


def _only(step: str) -> BertNormalizer:
    steps = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return BertNormalizer(**{name: name == step for name in steps})


NORMALISERS = {
    "clean": _only("clean_text"),
    "set Chinese characters apart": _only("handle_chinese_chars"),
    "strip accents": _only("strip_accents"),
    "lower-case": _only("lowercase"),
}
"""The steps of BERT's normaliser, in its order: accents are stripped before text is lower-cased."""
_CLEAN, _CHINESE = NORMALISERS["clean"], NORMALISERS["set Chinese characters apart"]
_NFD, _WORDS = NFD(), BertPreTokenizer()
_cached = lru_cache(maxsize=1 << 16)


def _predicate(holds: Callable[[str], bool]) -> Callable[[str], bool]:
    """Return a cached predicate, false for half a surrogate pair, which the library cannot take."""

    @_cached
    @wraps(holds)
    def ask(character: str) -> bool:
        return not "\ud800" <= character <= "\udfff" and holds(character)

    return ask


@_predicate
def is_whitespace(character: str) -> bool:
    """True for characters that cleaning turns into a space; it removes form feed and U+0085."""
    return bool(_CLEAN.normalize_str(character) == " ")


@_predicate
def is_chinese(character: str) -> bool:
    """True for a Chinese character (also in Japanese and Korean text; not kana or Hangul)."""
    return bool(_CHINESE.normalize_str(character) != character)


def is_cyrillic(character: str) -> bool:
    """True for a letter of the Cyrillic alphabets."""
    return "CYRILLIC" in unicodedata.name(character, "")


@_predicate
def is_punctuation(character: str) -> bool:
    """True for characters that are always a word by themselves: not currency signs, except "$"."""
    return len(_WORDS.pre_tokenize_str(f"a{character}a")) == 3


@_cached
def combining_class(character: str) -> int:
    """Return the rank by which NFD sorts the accents after a letter; 0 for a letter.

    And for a mark that the library does not know yet, which stays before one of the lowest rank, or
    after one of the highest.
    """
    rank = unicodedata.combining(character)
    pair = f"{character}\u0334" if rank > 1 else f"\u0345{character}"
    return rank if _NFD.normalize_str(pair) != pair else 0
