"""The training engine: processes, optimizer, run folders, checkpoints, provenance."""
