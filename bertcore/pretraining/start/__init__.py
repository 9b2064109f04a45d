"""The initial weights of a run."""

__all__ = ["long_positions", "starting_weights", "warm_start"]
