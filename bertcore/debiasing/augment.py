"""Counterfactual data augmentation: texts with swapped words, added to or replacing the texts."""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from bertcore.configs.debias import DebiasConfig
from bertcore.debiasing.swap_words import Pair, WordSwap
from bertcore.debiasing.word_sets import swap_pairs

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
                "is nothing to swap. Give other pairs, or leave --swap-words out."
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
