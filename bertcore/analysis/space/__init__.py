"""The space of vectors: projections, their quality, the embedding tables."""

from bertcore.base.moved import moved

__all__ = (
    "embeddings geometry layer_states map_quality neighbour_embedding "
    "position_table probe_map projection rotary seed_agreement sense_sets"
).split()

__getattr__ = moved(__name__, rotary="position_table", seed_agreement="map_quality")
