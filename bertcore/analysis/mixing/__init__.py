"""Where a token's information comes from: weights, norms, rollout, flow, value zeroing."""

__all__ = (
    "attention_gradients flow layer_parts maps neurons norm_weighted rollout value_zeroing"
).split()
