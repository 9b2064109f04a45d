"""The options of bias mitigation in training."""

from dataclasses import dataclass

from bertcore.configs.numbers import check_numbers_of


@dataclass(frozen=True, kw_only=True, slots=True)
class DebiasConfig:
    """How training mitigates a bias."""

    swap_words: str | None = None
    """Counterfactual data augmentation: add a copy of each training text that contains a word of
    these pairs, with the words swapped (she and he, Mary and John). gender, or a file with one
    pair per line."""
    swap_mode: str = "augment"
    """augment: the text and its swapped copy. substitute: one of the two, at random."""
    balance: str | None = None
    """Weight examples so that this column, such as gender, and the label become independent
    (reweighing); classify and pair only."""
    bias_model: str | None = None
    """Weight each example by how little a biased model is sure of its label: (1 - p) ** FOCUS
    (debiased focal loss). A checkpoint fine-tuned for the task that knows little but the bias;
    classify and pair only."""
    bias_focus: float = 2.0
    """FOCUS of `bias_model`; 0 weighs all alike."""
    direction_penalty: float | None = None
    """Weight of a loss that penalises hidden states along a direction: their mean squared cosine
    with it. Default: none."""
    direction_words: str = "gender"
    """Word pairs that define this direction in the initial checkpoint: gender, or a file with one
    pair per line."""

    def __post_init__(self) -> None:
        if not 0 <= self.bias_focus <= 100:
            raise ValueError(f"bias_focus is {self.bias_focus}; expected 0 to 100.")
        check_numbers_of(self)
