"""Open a checkpoint as a model: ours for the BERT family, a wrapped one for other architectures."""

from bertcore.loading.loader import load, load_bert, read_size
from bertcore.loading.untrained import untrained

__all__ = ["load", "load_bert", "read_size", "untrained"]
