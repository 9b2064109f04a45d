"""Behaviour of attention heads over many sentences."""

__all__ = "importance measures report sinks statistics stream syntax texts".split()
