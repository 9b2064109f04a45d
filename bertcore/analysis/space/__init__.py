"""The space of vectors: projections, their quality, the embedding tables."""

__all__ = [
    "embeddings",
    "geometry",
    "map_quality",
    "nearest",
    "position_table",
    "probe_map",
    "projection",
    "sense_sets",
]
