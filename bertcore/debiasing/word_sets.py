"""Sets of word pairs, shipped or from a file, and counterfactual data augmentation with them."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from bertcore.configs.debias import DebiasConfig
from bertcore.debiasing.swap_words import Pair, WordSwap

WORD_PAIRS = Path(__file__).parent / "data" / "word_pairs.json"
MAX_PAIRS = 100_000


@lru_cache(maxsize=1)
def _shipped() -> dict[str, dict[str, tuple[Pair, ...]]]:
    data: dict[str, Any] = json.loads(WORD_PAIRS.read_text(encoding="utf-8"))
    return {
        name: {part: tuple((a, b) for a, b in pairs) for part, pairs in parts.items()}
        for name, parts in data.items()
    }


def _part(name: str, part: str) -> tuple[Pair, ...]:
    sets = _shipped()
    if name not in sets:
        raise ValueError(f"there is no direction {name!r}; expected {', '.join(sets)}.")
    return sets[name][part]


def direction_pairs(name: str = "gender") -> tuple[Pair, ...]:
    """Return the pairs of words that define a direction.

    ValueError if there is none of that name.
    """
    return _part(name, "direction")


def probe_pairs(name: str = "gender") -> tuple[Pair, ...]:
    """Return pairs for testing a probe of a direction; none of them defines it.

    ValueError as `direction_pairs`.
    """
    return _part(name, "probe")


def swap_sets() -> tuple[str, ...]:
    """Return the names of the shipped sets, for `swap_pairs`."""
    return tuple(_shipped())


def swap_pairs(name_or_file: str) -> tuple[Pair, ...]:
    """Return the pairs of words of a shipped set, or those of a file.

    Args:
        name_or_file: "gender", or a path as for `read_pairs`.

    ValueError if there is neither, or the pairs cannot be swapped (`WordSwap`).
    """
    return _named_or_read(name_or_file, "swap")


def pairs_of_direction(name_or_file: str) -> tuple[Pair, ...]:
    """Return the pairs of a shipped direction, or those of a file; as for `swap_pairs`."""
    return _named_or_read(name_or_file, "direction")


def _named_or_read(name_or_file: str, part: str) -> tuple[Pair, ...]:
    if name_or_file in _shipped():
        return _part(name_or_file, part)
    path = Path(name_or_file).expanduser()
    if not path.is_file():
        raise ValueError(
            f"there is no set of words {name_or_file!r} and no such file. Give a set "
            f"({', '.join(_shipped())}), or a file with one pair of words per line."
        )
    return read_pairs(path)


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """Read pairs of words that can be swapped.

    A JSON list of lists of two words, or text with one pair per line and a tab or comma between its
    words; empty lines and those that begin with # are skipped. ValueError if the file cannot be
    read, has no pairs or has other content, or the pairs contradict each other (`WordSwap`).
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{str(path)!r} cannot be read as UTF-8 text ({error}).") from error
    pairs = _json_pairs(path, text) if path.suffix.lower() == ".json" else _line_pairs(path, text)
    if not pairs or len(pairs) > MAX_PAIRS:
        raise ValueError(
            f"{str(path)!r} has {len(pairs):,} pairs of words; expected 1 to {MAX_PAIRS:,}."
        )
    try:
        return WordSwap(pairs).pairs
    except ValueError as error:
        raise ValueError(f"{str(path)!r}: {error}") from error


def _json_pairs(path: Path, text: str) -> list[Pair]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{str(path)!r} is not valid JSON ({type(error).__name__}: {error})."
        ) from error
    if not isinstance(data, list):
        raise ValueError(f'{str(path)!r} is not a list; expected [["she", "he"], ...].')
    for number, pair in enumerate(data, start=1):
        if not (
            isinstance(pair, list)
            and len(pair) == 2
            and all(isinstance(word, str) for word in pair)
        ):
            raise ValueError(
                f"pair {number} of {str(path)!r} is {str(pair)[:80]!r}; expected two words."
            )
    return [(first, second) for first, second in data]


def _line_pairs(path: Path, text: str) -> list[Pair]:
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
    return pairs


MODES = ("augment", "substitute")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Swapping:
    """Which words are swapped in training texts, and how; stored with the run.

    ValueError if there is no such mode, or the pairs cannot be swapped (`WordSwap`).
    """

    name: str
    """Name of a shipped set, or the file that was read."""
    mode: str
    """augment: each text with a word of the pairs occurs twice, original and swapped (Lu et al.
    2018). substitute: it is swapped with probability 1/2 (Hall Maudslay et al. 2019), so that the
    data keep their size and no text occurs twice."""
    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"swap_mode is {self.mode!r}; expected {' or '.join(MODES)}.")
        WordSwap(self.pairs)  # checks them

    @classmethod
    def of(cls, name_or_file: str, mode: str = "augment") -> "Swapping":
        """Return it for a shipped set or a file; arguments and errors as for `swap_pairs`."""
        return cls(name_or_file, mode, swap_pairs(name_or_file))

    @classmethod
    def chosen(cls, config: DebiasConfig) -> "Swapping | None":
        """Return the chosen swapping; None if no words are swapped; errors as for `of`."""
        return None if config.swap_words is None else cls.of(config.swap_words, config.swap_mode)


class Augmenter(Generic[T]):
    """Passes texts on, with their swapped versions, and counts them.

    Args:
        swap: Returns a text with its words swapped; None if it has none of them.
        mode: Of `MODES`; "augment" yields the swapped text right after the text itself.
        seed: Seed of the draws of "substitute".
    """

    def __init__(self, swap: Callable[[T], T | None], *, mode: str, seed: int) -> None:
        self._swap, self._mode, self._seed = swap, mode, seed
        self.num_texts = self.num_with_words = self.num_swapped = 0
        """Texts that came, those with a word of the pairs, and those that went out swapped."""

    def __call__(self, texts: Iterable[T]) -> Iterator[T]:
        rng = random.Random(self._seed)
        for text in texts:
            self.num_texts += 1
            other = self._swap(text)
            if other is None:
                yield text
                continue
            self.num_with_words += 1
            if self._mode == "augment":
                yield text
            elif rng.random() < 0.5:
                yield text
                continue
            self.num_swapped += 1
            yield other

    def note(self, what: str, name: str) -> str:
        """Return a sentence on what was done.

        Args:
            what: The texts, in the plural: "training texts".
            name: Name of the pairs.

        ValueError if no text has a word of the pairs.
        """
        if not self.num_with_words:
            raise ValueError(
                f"none of the {self.num_texts:,} {what} has a word of the pairs {name!r}, so there "
                "is nothing to swap. Give other pairs, or leave swap_words out."
            )
        done = "were added" if self._mode == "augment" else "were taken in their place"
        return (
            f"{self.num_with_words:,} of {self.num_texts:,} {what} have a word of the pairs "
            f"{name!r}; {self.num_swapped:,} {done} with these words swapped."
        )


def swap_document(swap: WordSwap, sentences: list[str]) -> list[str] | None:
    """Return a document with its words swapped, sentence by sentence; None if it has none."""
    swapped = [swap(sentence) for sentence in sentences]
    return None if swapped == sentences else swapped
