"""Behaviour of attention heads over many sentences."""

from bertcore.base.moved import moved

__all__ = (
    "entropy_history importance measures pruning readings removal report sinks "
    "statistics stream syntax texts"
).split()

__getattr__ = moved(__name__, readings="importance")
