"""The initial weights of a run."""

__all__ = ["starting_weights"]
