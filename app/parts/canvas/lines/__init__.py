"""Attention as lines between two columns of tokens."""
