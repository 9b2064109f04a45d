"""Training examples with the words of pairs swapped: she and he, Mary and John, both ways.

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

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from bertcore.data.examples import (
    ChoiceExample,
    Example,
    LabelsExample,
    QuestionExample,
    TaggedExample,
    TextExample,
)

Pair = tuple[str, str]
GENDER = "gender"
"""Name of the shipped pairs."""
MAX_PAIRS = 100_000

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
    """Swaps the words of pairs, or phrases ("police woman"); can be called with many texts.

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
        return Swapped(_apply(text, changes), tuple(changes))

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


@dataclass(frozen=True, slots=True)
class Swapping:
    """Which words are swapped in training texts; stored with the run.

    ValueError if the pairs cannot be swapped (`WordSwap`).
    """

    name: str
    """"gender", or the file that was read."""
    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        WordSwap(self.pairs)  # checks them

    @classmethod
    def of(cls, name_or_file: str) -> "Swapping":
        """Return it for the shipped pairs or those of a file; errors as for `read_pairs`."""
        if name_or_file == GENDER:
            text = (Path(__file__).parent / "word_pairs.json").read_text(encoding="utf-8")
            return cls(GENDER, tuple((first, second) for first, second in json.loads(text)))
        return cls(name_or_file, read_pairs(Path(name_or_file).expanduser()))


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """Read pairs of words, one per line, with a tab or comma between the two.

    Empty lines and those that begin with # are skipped. ValueError if the file cannot be read, has
    no pairs or has other content, or the pairs contradict each other (`WordSwap`).
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{str(path)!r} is neither {GENDER!r} nor a file of UTF-8 text with one pair of words "
            f"per line ({error})."
        ) from error
    pairs = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = [word.strip() for word in line.split("\t" if "\t" in line else ",")]
        if len(words) != 2:
            raise ValueError(
                f"line {number} of {str(path)!r} is {line.strip()[:80]!r}; expected two words with "
                "a tab or comma between them."
            )
        pairs.append((words[0], words[1]))
    if not pairs or len(pairs) > MAX_PAIRS:
        raise ValueError(
            f"{str(path)!r} has {len(pairs):,} pairs of words; expected 1 to {MAX_PAIRS:,}."
        )
    try:
        return WordSwap(pairs).pairs
    except ValueError as error:
        raise ValueError(f"{str(path)!r}: {error}") from error


class Augmenter:
    """Passes examples on, each with its swapped version behind it, and counts them."""

    def __init__(self, swapping: Swapping) -> None:
        self._swap, self._name = WordSwap(swapping.pairs), swapping.name
        self.num_examples = self.num_swapped = 0

    def __call__(self, examples: Iterable[Example]) -> Iterator[Example]:
        for example in examples:
            self.num_examples += 1
            yield example
            other = swap_example(self._swap, example)
            if other is not None:
                self.num_swapped += 1
                yield other

    def note(self) -> str:
        """Return a sentence on what was done; ValueError if no example has one of the words."""
        if not self.num_swapped:
            raise ValueError(
                f"none of the {self.num_examples:,} training examples has a word of the pairs "
                f"{self._name!r}, so there is nothing to swap. Give other pairs, or leave "
                "swap_words out."
            )
        return (
            f"{self.num_swapped:,} of {self.num_examples:,} training examples have a word of the "
            f"pairs {self._name!r} and were added a second time with these words swapped."
        )


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


def swap_example(swap: WordSwap, example: Example) -> Example | None:
    """Return an example with the words of its texts swapped and its label unchanged.

    None if it has none of the words, or if a swapped word crosses the boundary of an answer, so
    that the answer is not a part of the swapped text.
    """
    if isinstance(example, TextExample | LabelsExample):
        pair = None if example.text_pair is None else swap(example.text_pair)
        changed: Example = replace(example, text=swap(example.text), text_pair=pair)
    elif isinstance(example, TaggedExample):
        changed = replace(example, words=_swap_words(swap, example.words))
    elif isinstance(example, ChoiceExample):
        choices = [swap(choice) for choice in example.choices]
        changed = replace(example, text=swap(example.text), choices=choices)
    else:
        assert isinstance(example, QuestionExample)
        return _swap_question(swap, example)
    return None if changed == example else changed


def check_tagged(pairs: Iterable[Pair]) -> None:
    """Reject phrases if each word has a tag: the counterpart may have more or fewer words.

    ValueError if a word of the pairs is a phrase.
    """
    phrase = next((word for pair in pairs for word in pair if " " in word.strip()), None)
    if phrase is not None:
        raise ValueError(
            f"{phrase!r} is more than one word, and in the task 'tag' each word has its own tag. "
            "Leave that pair out."
        )


def _swap_words(swap: WordSwap, words: Sequence[str]) -> list[str]:
    """Swap the words of a sentence, each of which stays one word."""
    changes = list(swap.swapped(" ".join(words)).changes)
    out, start = [], 0
    for word in words:
        end = start + len(word)
        own = [change for change in changes if start <= change.start and change.end <= end]
        out.append(_apply(word, own, start))
        start = end + 1
    return out


def _apply(text: str, changes: Sequence[Change], start: int = 0) -> str:
    """Apply changes whose places count from `start` places before the text."""
    for change in reversed(changes):
        text = text[: change.start - start] + change.after + text[change.end - start :]
    return text


def _swap_question(swap: WordSwap, example: QuestionExample) -> QuestionExample | None:
    context = swap.swapped(example.context)
    question = swap(example.question)
    if not context.changes and question == example.question:
        return None
    answers = []
    for text, first in example.answers:
        place = _moved(context.changes, first), _moved(context.changes, first + len(text))
        if place[0] is None or place[1] is None:
            return None
        answers.append((context.text[place[0] : place[1]], place[0]))
    return replace(
        example,
        id=f"{example.id}-swapped",
        question=question,
        context=context.text,
        answers=answers,
    )


def _moved(changes: Sequence[Change], place: int) -> int | None:
    """Return the position of a place in the text after the changes; None within a changed word."""
    shift = 0
    for change in changes:
        if change.start < place < change.end:
            return None
        if change.end <= place:
            shift += len(change.after) - len(change.before)
    return place + shift
