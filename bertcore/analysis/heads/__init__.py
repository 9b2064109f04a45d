"""Behaviour of attention heads over many sentences."""

__all__ = (
    "entropy_history importance measures pruning readings report similarity statistics stream "
    "syntax texts"
).split()
