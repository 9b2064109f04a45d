"""The initial weights of a run."""
