"""Comparison of two checkpoints or two texts."""

__all__ = (
    "before_after checkpoints cka decision minimal_pair shared_units steering task_shift "
    "texts weight_drift"
).split()
