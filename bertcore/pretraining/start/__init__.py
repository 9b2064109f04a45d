"""The weights that a run begins with."""
