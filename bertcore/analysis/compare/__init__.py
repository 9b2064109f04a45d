"""Comparison of two checkpoints or two texts."""

from bertcore.base.moved import moved

__all__ = (
    "agreement before_after checkpoints cka decision head_divergence "
    "layer_decisions minimal_pair shared_units steering task_shift texts "
    "weight_drift"
).split()

__getattr__ = moved(
    __name__,
    head_divergence="shared_units",
    layer_decisions="decision",
)
