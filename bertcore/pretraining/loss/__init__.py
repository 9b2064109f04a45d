"""What pretraining minimises."""

__all__ = [
    "direction_penalty",
    "distillation",
    "objective",
    "permutation",
    "replaced_tokens",
    "sequence_loss",
    "span_boundary",
]
