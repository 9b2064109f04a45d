"""A text or pair as a fine-tuned model reads it: tokens joined to words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.tokenizer import Encoding
from bertcore.tokenizer.words import Word


@dataclass(frozen=True, slots=True)
class TaskInput:
    """A text or pair as a model reads it, T tokens in W words."""

    text: str
    text_pair: str | None
    encoding: Encoding
    words: tuple[Word, ...]
    """All words in order, [CLS] and [SEP] among them, [W]."""

    @property
    def text_words(self) -> list[int]:
        """Places in `words` of those that come from a text."""
        return [i for i, word in enumerate(self.words) if word.text_id >= 0]

    def merge(self, values: NDArray[np.floating]) -> NDArray[np.float32]:
        """Sum token values [..., T] over the word pieces of each word, [..., W]."""
        starts = [word.start for word in self.words]
        merged: NDArray[np.float32] = np.add.reduceat(values, starts, axis=-1).astype(np.float32)
        return merged
