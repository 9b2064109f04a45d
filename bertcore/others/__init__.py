"""Architectures other than BERT's, read through `transformers` into the same Trace."""
