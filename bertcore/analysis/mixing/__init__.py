"""Where a token's information comes from: weights, norms, rollout, flow, value zeroing."""

from bertcore.base.moved import moved

__all__ = (
    "attention_gradients flow layer_parts maps neurons norm_weighted rollout value_zeroing"
).split()

__getattr__ = moved(__name__, rollout="flow")
