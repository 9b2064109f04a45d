"""The initial weights of a run."""

from bertcore.base.moved import moved

__all__ = ["long_positions", "starting_weights", "warm_start"]

__getattr__ = moved(__name__, warm_start="starting_weights", long_positions="starting_weights")
