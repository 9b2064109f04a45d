"""What pretraining minimises."""

__all__ = [
    "distillation",
    "objective",
    "permutation",
    "replaced_tokens",
    "sequence_loss",
    "span_boundary",
]
