"""The space of vectors: projections, their quality, the embedding tables."""
