"""What pretraining minimises."""

from bertcore.base.moved import moved

__all__ = (
    "direction_penalty distillation objective permutation replaced_tokens sequence_loss "
    "soft_word_loss span_boundary word_loss"
).split()

__getattr__ = moved(__name__, soft_word_loss="distillation", word_loss="objective")
