"""Behaviour of attention heads over many sentences."""
