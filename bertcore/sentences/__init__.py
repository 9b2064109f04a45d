"""Sentence encoders in sentence-transformers format: pooling and the modules after it."""

__all__ = ["modules", "pooling", "read"]
