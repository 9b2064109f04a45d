"""The cosine of sentence vectors, split over the words of two sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from bertcore.model.model import Model
from bertcore.model.sentences import MEAN, token_parts
from bertcore.model.tokenizer.encoding import words_of


@dataclass(frozen=True, slots=True)
class SharedWords:
    """The cosine of two sentences as a sum over pairs of words."""

    words_a: tuple[str, ...]
    """Of the first sentence, special tokens too, each its own."""
    words_b: tuple[str, ...]
    pairs: NDArray[np.float32]
    """What each pair of words adds to the cosine, [A, B]; all sum to it."""

    @property
    def cosine(self) -> float:
        """Cosine of the two sentence vectors, -1 to 1."""
        return float(self.pairs.sum())

    @property
    def of_a(self) -> NDArray[np.float32]:
        """Contribution of each word of the first sentence, [A]; they sum to the cosine."""
        sums: NDArray[np.float32] = self.pairs.sum(1)
        return sums

    @property
    def of_b(self) -> NDArray[np.float32]:
        """Contribution of each word of the second sentence, [B]; they sum to the cosine."""
        sums: NDArray[np.float32] = self.pairs.sum(0)
        return sums


class SentenceMatrix(NamedTuple):
    """A number for every pair of sentences."""

    sentences: tuple[str, ...]
    """[N]"""
    values: NDArray[np.float32]
    """[N, N]: rows are the first sentence of a pair."""

    @property
    def of_others(self) -> NDArray[np.float32]:
        """The values, NaN for a sentence with itself."""
        return np.where(np.eye(len(self.values), dtype=bool), np.float32(np.nan), self.values)


def similarities(bert: Model, sentences: Sequence[str]) -> SentenceMatrix:
    """Return the cosines of the vectors of `bert.encode`, each -1 to 1.

    ValueError if there are fewer than two sentences, or the sentence encoder has a module that is
    not known.
    """
    if len(sentences) < 2:
        raise ValueError(f"{len(sentences)} sentences given; a matrix needs at least two.")
    unit = F.normalize(bert.encode(sentences), dim=-1)
    cosines: NDArray[np.float32] = (unit @ unit.T).clamp(-1, 1).numpy()
    return SentenceMatrix(tuple(sentences), cosines)


@torch.inference_mode()
def shared_words(bert: Model, text_a: str, text_b: str) -> SharedWords:
    """Split the cosine of two sentence vectors exactly over the pairs of their words.

    A pooled vector is a sum with one part for each token, s = sum of p_i, so that the cosine of s
    and t is the sum over i, j of p_i . q_j / (|s| |t|). The parts of a word's pieces are added;
    they include what attention brought in from other words.

    ValueError if the sentence encoder has a Dense layer, a LayerNorm or several poolings, after
    which a vector is not such a sum, or an unknown module.

    Source: ours; compare Vasileiou and Eberle 2024, who go back to the input's tokens.
    """
    modules = bert.sentence_modules or MEAN
    modules.check()
    if not modules.splits_by_token:
        raise ValueError(
            "the vectors of this sentence encoder are not a sum over the tokens "
            f"({modules.describe(bert.max_length)}), so their cosine does not split by word."
        )
    words: list[tuple[str, ...]] = []
    parts = []
    for text in (text_a, text_b):
        encoding = bert.sentence_encoding(text)
        tokens = token_parts(bert.hidden(encoding).float(), modules.poolings[0]).cpu().double()
        found = words_of(encoding, modules.prompt + text)
        words.append(tuple(word.text for word in found))
        parts.append(torch.stack([tokens[word.start : word.end].sum(0) for word in found]))
    first, second = parts
    pairs = (first @ second.T) / (first.sum(0).norm() * second.sum(0).norm())
    return SharedWords(words[0], words[1], pairs.float().numpy())
