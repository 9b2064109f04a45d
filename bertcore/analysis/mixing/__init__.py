"""Where a token's information comes from: weights, norms, rollout, value zeroing."""
