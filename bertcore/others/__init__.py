"""Architectures other than BERT, read through `transformers` into the same Trace."""

__all__ = ["config", "converted", "families", "generic", "model", "network", "task_network"]
