"""Architectures other than BERT, read through `transformers` into the same Trace."""

__all__ = (
    "config converted decoder embeddings families generic given model network task_network words"
).split()
