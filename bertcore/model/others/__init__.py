"""Architectures other than BERT, read through `transformers` into the same Trace."""
