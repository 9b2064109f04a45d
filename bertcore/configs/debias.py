"""The options of bias mitigation in training."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class DebiasConfig:
    """How training mitigates a bias."""

    swap_words: str | None = None
    """Counterfactual data augmentation: add a copy of each training text that contains a word of
    these pairs, with the words swapped (she and he, Mary and John). gender, or a file with one
    pair per line."""
    balance: str | None = None
    """Weight examples so that this column, such as gender, and the label become independent
    (reweighing); classify and pair only."""
    bias_model: str | None = None
    """Weight each example by how little a biased model is sure of its label: (1 - p) ** 2
    (debiased focal loss). A checkpoint fine-tuned for the task that knows little but the bias;
    classify and pair only."""
