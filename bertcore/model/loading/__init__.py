"""Open a checkpoint as a model: ours for the BERT family, a wrapped one for other architectures."""

from bertcore.model.loading.loader import load, load_bert, read_size
from bertcore.model.loading.untrained import untrained

__all__ = ["load", "load_bert", "read_size", "untrained"]
