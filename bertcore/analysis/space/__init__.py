"""The space of vectors: projections, their quality, the embedding tables."""

__all__ = (
    "atlas corpus_map embeddings geometry layer_states map_quality neighbour_embedding "
    "position_table probe_map projection rotary seed_agreement sense_sets"
).split()
