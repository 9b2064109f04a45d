"""Pretraining objectives applied to a text, and a checkpoint's answers."""
