"""Where a token's information comes from: weights, norms, rollout, value zeroing."""

__all__ = "layer_parts neurons norm_weighted rollout value_zeroing".split()
