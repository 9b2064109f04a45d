"""The options of training against a bias."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class DebiasConfig:
    """What a training does against a bias."""

    swap_words: str | None = None
    """Counterfactual data augmentation: add each training text that has a word of these pairs with
    the words swapped (she and he, Mary and John). gender, or a file with a pair on each line."""
    swap_mode: str = "augment"
    """augment: the text and its swapped twin. substitute: one of the two, by chance."""
    balance: str | None = None
    """Weigh each example so that this column, such as gender, and the label are independent
    (reweighing); classify and pair."""
    direction_penalty: float | None = None
    """Weight of a loss on how far hidden states lie along a direction: the mean squared cosine.
    Default: none."""
    direction_words: str = "gender"
    """Pairs of words that define this direction in the start checkpoint: gender, or a file with a
    pair on each line."""
