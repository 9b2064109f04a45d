"""Pretraining objectives on a text: what each makes of it, and what a checkpoint answers."""
