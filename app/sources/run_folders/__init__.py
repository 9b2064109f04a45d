"""Folders of training runs: the choice of one, and the state and checkpoints of its runs."""
