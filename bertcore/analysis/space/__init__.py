"""The space of vectors: projections, their quality, the embedding tables."""

from bertcore.base.moved import moved

__all__ = (
    "embeddings geometry layer_states map_quality "
    "position_table probe_map projection rotary sense_sets"
).split()

__getattr__ = moved(__name__, rotary="position_table")
