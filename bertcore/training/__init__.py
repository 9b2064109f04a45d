"""The training engine: processes, optimizer, run folders, checkpoints, provenance."""

__all__ = [
    "loop",
    "optimizer",
    "probes",
    "processes",
    "provenance",
    "run_checkpoints",
    "run_folder",
    "run_lock",
    "training_state",
]
