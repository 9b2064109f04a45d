"""`bertscope compare`: two checkpoints on texts, or by size, speed and score."""

from bertscope.cli.compare.command import compare

__all__ = ["compare"]
