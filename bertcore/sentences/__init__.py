"""Sentence encoders in the form of sentence-transformers: pooling and the modules after it."""
