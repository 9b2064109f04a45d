"""Comparison of two checkpoints or two texts."""
