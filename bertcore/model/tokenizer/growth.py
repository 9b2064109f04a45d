"""How a vocabulary grows: first characters, then one merge after another.

Slow, for demonstration; `train_vocabulary` makes vocabularies. Tests check that the merges by count
equal those of the `tokenizers` library's BPE trainer.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain, pairwise
from typing import Literal, TypeAlias

from tokenizers import normalizers, pre_tokenizers

from bertcore.model.tokenizer.training import PREFIX

Rule: TypeAlias = Literal["count", "likelihood"]
RULES: tuple[Rule, ...] = ("count", "likelihood")
"""Rules for choosing the next pair: BPE's (Sennrich et al. 2016), and WordPiece's as published
(Schuster and Nakajima 2012)."""

NUM_CANDIDATES = 8
"""Number of pairs that each step lists."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two pieces that are adjacent in words."""

    left: str
    right: str
    """With "##", since it continues a word."""
    count: int
    """Number of times that they are adjacent in the text."""
    count_left: int
    count_right: int
    """Number of times that each occurs in the text."""

    @property
    def name(self) -> str:
        """Both, with a plus between them."""
        return f"{self.left} + {self.right}"

    @property
    def merged(self) -> str:
        """The piece that a merge makes."""
        return self.left + self.right.removeprefix(PREFIX)

    @property
    def likelihood(self) -> float:
        """count / (count_left x count_right).

        Multiplied by the number of pieces in the text, it is how much more often the two are
        adjacent than by chance: the factor by which one occurrence becomes more probable under a
        unigram model when they are one piece.
        """
        return self.count / (self.count_left * self.count_right)


@dataclass(frozen=True, slots=True)
class Step:
    """A vocabulary between two merges."""

    candidates: tuple[Pair, ...]
    """Pairs for the next merge, the best by the rule first."""
    num_pieces: int
    """Number of pieces in the text."""

    @property
    def times_chance(self) -> list[float]:
        """How much more often than by chance the two pieces of each candidate are adjacent."""
        return [pair.likelihood * self.num_pieces for pair in self.candidates]


@dataclass(frozen=True, slots=True)
class Growth:
    """A vocabulary from its characters to its last merge."""

    alphabet: tuple[str, ...]
    """The pieces before the first merge: continuing characters, then characters."""
    merges: tuple[Pair, ...]
    """Merges in order, each with the counts at its choice."""
    steps: tuple[Step, ...]
    """The state before each merge, and after the last one."""
    num_words: int
    """Number of words in the text, including repeats."""
    rule: Rule
    """By which the pairs were chosen."""

    def pieces(self, num_merges: int) -> tuple[str, ...]:
        """Return the vocabulary after some merges, without special tokens."""
        merged = (pair.merged for pair in self.merges[:num_merges])
        return tuple(dict.fromkeys((*self.alphabet, *merged)))


def grow_vocabulary(
    texts: Iterable[str],
    *,
    num_merges: int,
    rule: Rule = "count",
    min_frequency: int = 2,
    num_candidates: int = NUM_CANDIDATES,
) -> Growth:
    """Merge pairs of pieces, as long as there are any.

    Args:
        texts: Training texts, split into words as by BERT's tokenizer.
        rule: One of `RULES`. Ties are broken by age: the pair whose left, then whose right piece is
            older in the vocabulary wins.
        min_frequency: Rarer pairs are not candidates.

    ValueError if the texts contain no word, or the rule is unknown.

    Source: Sennrich et al. 2016, algorithm 1; for the likelihood, Schuster and Nakajima 2012,
        section 3. Google's WordPiece trainer is not public; that of `tokenizers`, which
        `train_vocabulary` uses, merges by count.
    """
    if rule not in RULES:
        raise ValueError(f"rule is {rule!r}; expected one of {', '.join(RULES)}.")
    counts = count_words(texts)
    if not counts:
        raise ValueError("the text contains no word. Give a text with letters in it.")
    state = _State(counts)
    merges: list[Pair] = []
    steps = [state.step(rule, min_frequency, num_candidates)]
    while len(merges) < num_merges and steps[-1].candidates:
        best = steps[-1].candidates[0]
        merges.append(best)
        state.merge(best)
        steps.append(state.step(rule, min_frequency, num_candidates))
    return Growth(state.alphabet, tuple(merges), tuple(steps), counts.total(), rule)


def count_words(texts: Iterable[str]) -> Counter[str]:
    """Return how often each word and punctuation mark occurs in texts, split as by BERT."""
    return Counter(chain.from_iterable(map(split_words, texts)))


def split_words(text: str) -> list[str]:
    """Return the lower-cased words and punctuation marks of a text, split as by BERT."""
    normalized = normalizers.BertNormalizer(lowercase=True).normalize_str(text)
    return [word for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(normalized)]


def split_by_merges(word: str, merges: Sequence[Pair]) -> list[str]:
    """Split a word into characters and apply merges to it, in their order.

    >>> split_by_merges("that", [Pair("t", "##h", 2, 3, 2), Pair("th", "##a", 1, 2, 1)])
    ['tha', '##t']
    """
    pieces = [word[0], *(PREFIX + character for character in word[1:])]
    for pair in merges:
        pieces = _merged(pieces, pair)
    return pieces


class _State:
    """All distinct words, split into pieces, and the counts that a merge changes."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = list(counts.values())
        self._words = [split_by_merges(word, ()) for word in counts]
        self._pieces: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._places: dict[tuple[str, str], set[int]] = defaultdict(set)
        """Words in which a pair occurs, or occurred."""
        for number in range(len(self._words)):
            self._add(number, 1)
        characters = {piece.removeprefix(PREFIX) for piece in self._pieces}
        # As train_vocabulary numbers them: continuing characters, characters, merges.
        self.alphabet = (*sorted({*self._pieces} - characters), *sorted(characters))
        self._ages = {piece: age for age, piece in enumerate(self.alphabet)}

    def step(self, rule: Rule, min_frequency: int, num_candidates: int) -> Step:
        """Return the candidates by a rule."""
        pieces, ages = self._pieces, self._ages
        pairs = (
            Pair(left, right, count, pieces[left], pieces[right])
            for (left, right), count in self._pairs.items()
            if count >= min_frequency
        )
        best = nsmallest(
            num_candidates,
            pairs,
            key=lambda pair: (
                -(pair.count if rule == "count" else pair.likelihood),
                ages[pair.left],
                ages[pair.right],
            ),
        )
        return Step(tuple(best), pieces.total())

    def merge(self, pair: Pair) -> None:
        """Merge a pair into one piece wherever it occurs."""
        self._ages.setdefault(pair.merged, len(self._ages))
        for number in self._places.pop((pair.left, pair.right)):
            self._add(number, -1)
            self._words[number] = _merged(self._words[number], pair)
            self._add(number, 1)

    def _add(self, number: int, sign: int) -> None:
        """Add the pieces and pairs of a word to the counts, or subtract them."""
        pieces, count = self._words[number], sign * self._counts[number]
        for piece in pieces:
            self._pieces[piece] += count
        for key in pairwise(pieces):
            self._pairs[key] += count
            if not self._pairs[key]:
                del self._pairs[key]
            if sign > 0:
                self._places[key].add(number)


def _merged(pieces: list[str], pair: Pair) -> list[str]:
    """Return the pieces with each occurrence of the pair joined, from left to right."""
    if pair.left not in pieces or pair.right not in pieces:
        return pieces
    joined: list[str] = []
    previous = ""
    for piece in pieces:
        if (previous, piece) == (pair.left, pair.right):
            joined[-1] = previous = pair.merged
        else:
            joined.append(piece)
            previous = piece
    return joined
