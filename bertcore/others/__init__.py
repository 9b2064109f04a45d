"""Architectures other than BERT, read through `transformers` into the same Trace."""

from bertcore.base.moved import moved

__all__ = "config converted decoder embeddings families generic model network task_network".split()

__getattr__ = moved(__name__, embeddings="model", decoder="model")
