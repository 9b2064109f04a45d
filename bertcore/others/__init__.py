"""Architectures other than BERT, read through `transformers` into the same Trace."""

__all__ = ["config", "families", "generic", "model", "network", "task_network"]
