"""Texts whose words a vocabulary lacks, and the shipped checkpoint that reads their language."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from bertcore.model.checkpoints.source import LANGUAGES
from bertcore.model.tokenizer import Encoding, Tokenizer
from bertcore.model.tokenizer.characters import NORMALISERS, is_chinese, is_cyrillic
from bertcore.model.trace import Trace

_BELONGS = {"zh": is_chinese, "ru": is_cyrillic}
_LETTERS = {"zh": 1, "ru": 2}
"""Letters of the language in each piece that tells words: a single Cyrillic one is a letter."""
_LEAST_PIECES = 1_000
"""Pieces of a language with which a vocabulary reads it, or a tenth of a small vocabulary: that of
bert-base-uncased has several hundred Chinese characters, and is no Chinese one."""
_WORD, _APART = re.compile(r"[^\W\d_]+"), NORMALISERS["set Chinese characters apart"]


@dataclass(frozen=True, slots=True)
class Unread:
    """A text with words that a vocabulary lacks."""

    num_tokens: int
    """Of the text or pair, without the special tokens around it."""
    num_unknown: int
    """Of these, those that are [UNK]."""
    num_letters: int
    """Of the text, without those of special tokens typed in it."""
    num_pieces: int
    """Tokens that these letters became."""
    shipped: str | None
    """The shipped checkpoint for the text's language; None without one."""

    @property
    def is_most(self) -> bool:
        """Whether the vocabulary lacks most of the text, and not a word or two."""
        return self.shipped is not None or self.num_unknown > self.num_tokens / 2

    def sentence(self, unk_token: str) -> str:
        """Return what the text became, and what to open instead."""
        became = f"letters are tokens here ({self.num_letters} became {self.num_pieces})"
        if self.num_unknown:
            are = f"{'is' if self.num_unknown == 1 else 'are'} {unk_token}"
            became = f"{self.num_unknown} of the {self.num_tokens} tokens of the text {are}"
        named, ships = "a checkpoint for the language of the text", self.shipped
        if ships is not None:
            named = f"{ships!r}, a small {LANGUAGES[ships]} checkpoint that ships"
        return f"{became}: the vocabulary does not have its words. Open {named}."


def find_unread(
    tokenizer: Tokenizer, encoding: Encoding | Trace, texts: Iterable[str | None]
) -> Unread | None:
    """Return what a vocabulary lacks of a text or pair; None if it has all of its words.

    At least half of the words of a text in another language are of it; each Chinese character is
    one, and a text with kana or Hangul is not Chinese.
    """
    places = [place for place, text_id in enumerate(encoding.text_ids) if text_id >= 0]
    tokens = [encoding.tokens[place] for place in places]
    special = "|".join(map(re.escape, tokenizer.special_tokens)) or "$^"
    words = _WORD.findall(_APART.normalize_str(re.sub(special, " ", " ".join(filter(None, texts)))))
    counted = Counter(_language(word[0]) for word in words)
    language = max(LANGUAGES, key=counted.__getitem__)
    is_of_it = counted[language] >= max(1, len(words) / 2)
    is_of_it &= language != "zh" or not counted["ja, ko"]
    least = min(_LEAST_PIECES, tokenizer.vocab_size / 10)
    shipped = language if is_of_it and _num_pieces(tokenizer, language) < least else None
    num_unknown = sum(encoding.input_ids[place] == tokenizer.unk_id for place in places)
    if shipped is None and not num_unknown:
        return None
    pieces = [t for t in tokens if t not in tokenizer.special_tokens and _WORD.search(t)]
    return Unread(len(tokens), num_unknown, sum(map(len, words)), len(pieces), shipped)


def _language(letter: str) -> str:
    """Return the language that a letter speaks for: one of LANGUAGES, "ja, ko", or ""."""
    is_asian = re.search("KATAKANA|HIRAGANA|HANGUL", unicodedata.name(letter, ""))
    found = (name for name, belongs in _BELONGS.items() if belongs(letter))
    return next(found, "ja, ko" if is_asian else "")


@lru_cache(maxsize=8)
def _num_pieces(tokenizer: Tokenizer, language: str) -> int:
    """Return the number of pieces of a vocabulary that have letters of a language."""
    belongs, least = _BELONGS[language], _LETTERS[language]
    pieces = tokenizer.fast.decode_batch([[id] for id in range(tokenizer.vocab_size)])
    return sum(sum(map(belongs, piece)) >= least for piece in pieces)
