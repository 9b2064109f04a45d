"""`bertscope compare`: two checkpoints on texts, or by size, speed and score."""

from bertcore.cli.compare.command import register

__all__ = ["register"]
