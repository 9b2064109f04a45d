"""Whether a checkpoint or a run is sound."""
