"""Two checkpoints, or two texts, against each other."""
