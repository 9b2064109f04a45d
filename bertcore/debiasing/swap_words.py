"""Swap the words of pairs in a text: she and he, Mary and John, in both directions.

Only whole words are swapped, whatever their case, which the other word takes over. `her` and `his`
have two counterparts each, distinguished by what follows:

- `her` becomes `him` before a word of `_AFTER_OBJECT` (prepositions, articles, pronouns ...), a
  number, punctuation or the end of the text, else `his`;
- `his` becomes `hers` before punctuation, a form of "to be" or the end of the text, else `her`;
- `him` becomes `her`, and `hers` becomes `his`.

Quotation marks in between are skipped, and so is the second pronoun of "his or her". The rule
ignores grammar: "I told her stories" and "it made her happy" become "his stories" and "made his
happy". In Universal Dependencies' English Web Treebank it is right for 222 of 242 `her` (29 of 30
in the dev and test parts, on which its words were not chosen) and for all 433 `his`.

Names are pairs like others: "Queen Elizabeth" becomes "King George". A verb or noun spelled like a
word of a pair is swapped, too.

Source: Lu et al. 2018, counterfactual data augmentation; Hall Maudslay et al. 2019, names.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

Pair = tuple[str, str]

PRONOUNS = frozenset({"her", "him", "his", "hers"})
"""Of a pair of two of these, all four are swapped, by the rule above."""
_CHINESE = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CHINESE}]|(?:(?![{_CHINESE}])[\w\u0300-\u036f])+")
"""A Chinese character, or letters, digits and accents in a row."""
_LOOK_AHEAD = 100  # characters behind her or his that tell what follows
_SPACE = re.compile(r"\s+")
_QUOTES = "\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb"
_TO_BE = frozenset(("is", "was", "are", "were"))
_AFTER_OBJECT = frozenset(
    # Prepositions and particles.
    "about above across after against along among around as at away back before behind below "
    "beside between beyond but by concerning despite down during except for from in inside "
    "instead into like near of off on onto out outside over past per since than through "
    "throughout till to together toward towards under unless until up upon via with within without "
    # Conjunctions and what begins a clause.
    "and because if nor once or so that though when whenever where whereas whereby whether "
    "which while who whom whose why how what yet "
    # Determiners, pronouns and verbs that no possessive stands before.
    "a all an another any anything both each either enough every everything neither no nobody none "
    "nothing several some something the these this those i me my mine myself you your yours we us "
    "our ours he him she it its they them their theirs himself herself itself themselves "
    "am can could did do does had has have is was are were may might must shall should will would "
    "be been being "
    # Adverbs.
    "again ago almost already alone also always anymore anyway anywhere carefully directly ever "
    "everywhere forever further here home immediately just later maybe never not now often "
    "otherwise perhaps personally please quickly quite rather really regarding sometimes somewhere "
    "soon still suddenly then there today tomorrow tonight too twice yesterday".split()
)
_OTHER_PRONOUN = re.compile(r"\s*(?:/|\bor\b|\band\b)\s*(?:her|hers|him|his)\b", re.IGNORECASE)
"""The second one of "his or her friends", which the rule passes over."""


class Change(NamedTuple):
    """A swapped word."""

    start: int
    """First character in the text as it was."""
    end: int
    """Behind its last one."""
    before: str
    after: str


class Swapped(NamedTuple):
    """A text with swapped words, and their places."""

    text: str
    changes: tuple[Change, ...]
    """In order; () if the text has none of the words."""


class WordSwap:
    """Swaps the words of pairs; can be called with many texts.

    Args:
        pairs: One or more. A word may be a phrase: "police woman".

    ValueError if there is no pair, a word is empty, a pair has the same word twice, or a word is in
    two pairs.
    """

    def __init__(self, pairs: Iterable[Pair]) -> None:
        self.pairs: tuple[Pair, ...] = tuple((first, second) for first, second in pairs)
        if not self.pairs:
            raise ValueError("there is no pair of words to swap. Give at least one.")
        self._other: dict[str, str] = {}
        self._swaps_pronouns = False
        self._most_parts = 1
        for pair in self.pairs:
            keys = [_key(word) for word in pair]
            if PRONOUNS.issuperset(keys):
                self._swaps_pronouns = True
                continue
            self._add(pair, keys)
        first = [_WORD.findall(key)[0] for key in self._other]
        self._first_parts = {*first, *(PRONOUNS if self._swaps_pronouns else ())}
        mixed = sorted(PRONOUNS & self._other.keys()) if self._swaps_pronouns else []
        if mixed:
            raise ValueError(
                f"{mixed[0]!r} is paired with {self._other[mixed[0]]!r} and with another pronoun. "
                "Leave one of the pairs out."
            )

    def _add(self, pair: Pair, keys: Sequence[str]) -> None:
        if not all(_WORD.search(key) for key in keys):
            raise ValueError(f"the pair {pair!r} has an empty word. Give two words.")
        if keys[0] == keys[1]:
            raise ValueError(f"the pair {pair!r} has the same word twice. Give two words.")
        for key, other in (keys[0], pair[1]), (keys[1], pair[0]):
            if key in self._other:
                raise ValueError(
                    f"{key!r} is in two pairs: with {self._other[key]!r} and with {other!r}. "
                    "A word has one counterpart; leave one of the pairs out."
                )
            self._other[key] = " ".join(other.split())
            self._most_parts = max(self._most_parts, len(_WORD.findall(key)))

    @property
    def words(self) -> tuple[str, ...]:
        """All words that are swapped, in lower case."""
        return (*self._other, *(sorted(PRONOUNS) if self._swaps_pronouns else ()))

    def __call__(self, text: str) -> str:
        """Return the text with its words swapped; the same text if it has none."""
        return self.swapped(text).text

    def swapped(self, text: str) -> Swapped:
        """Return the text with its words swapped, and the changes."""
        spans = [match.span() for match in _WORD.finditer(text)]
        changes: list[Change] = []
        i = 0
        while i < len(spans):
            found = self._longest(text, spans, i)
            if found is None:
                i += 1
                continue
            num_parts, after = found
            start, end = spans[i][0], spans[i + num_parts - 1][1]
            before = text[start:end]
            changes.append(Change(start, end, before, _with_case(after, before)))
            i += num_parts
        parts: list[str] = []
        done = 0
        for change in changes:
            parts += (text[done : change.start], change.after)
            done = change.end
        return Swapped("".join((*parts, text[done:])), tuple(changes))

    def _longest(
        self, text: str, spans: Sequence[tuple[int, int]], i: int
    ) -> tuple[int, str] | None:
        """Return the number of parts of the longest known word at part i, and its counterpart."""
        if text[slice(*spans[i])].casefold() not in self._first_parts:
            return None
        for num_parts in range(min(self._most_parts, len(spans) - i), 0, -1):
            end = spans[i + num_parts - 1][1]
            key = _key(text[spans[i][0] : end])
            if key in self._other:
                return num_parts, self._other[key]
            if num_parts == 1 and self._swaps_pronouns and key in PRONOUNS:
                return 1, _other_pronoun(key, text[end : end + _LOOK_AHEAD])
        return None


def swap_words(text: str, pairs: Iterable[Pair]) -> str:
    """Return a text with the words of pairs swapped; see the module for the rules.

    ValueError as `WordSwap`.
    """
    return _compiled(tuple((first, second) for first, second in pairs))(text)


@lru_cache(maxsize=16)
def _compiled(pairs: tuple[Pair, ...]) -> WordSwap:
    return WordSwap(pairs)


def _key(word: str) -> str:
    return _SPACE.sub(" ", word.strip()).casefold()


def _other_pronoun(pronoun: str, rest: str) -> str:
    """Return the counterpart of her, him, his or hers in front of `rest`."""
    if pronoun in ("him", "hers"):
        return {"him": "her", "hers": "his"}[pronoun]
    rest = _OTHER_PRONOUN.sub("", rest, count=1) if _OTHER_PRONOUN.match(rest) else rest
    rest = rest.lstrip().lstrip(_QUOTES).lstrip() if rest[:1].isspace() else rest
    match = _WORD.match(rest)
    following = None if match is None else match.group().casefold()
    if pronoun == "his":
        is_alone = following in _TO_BE if following else not rest[:1].isdigit()
        return "hers" if is_alone else "her"
    is_object = following is None or following[0].isdigit() or following in _AFTER_OBJECT
    return "him" if is_object else "his"


def _with_case(word: str, like: str) -> str:
    """Return a word in capitals, capitalised or in lower case, like another word."""
    if like.isupper() and sum(map(str.isalpha, like)) > 1:
        return word.upper()
    if like[0].isupper():
        return word[0].upper() + word[1:]
    return word.lower()
