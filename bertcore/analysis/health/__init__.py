"""Health checks of checkpoints."""
