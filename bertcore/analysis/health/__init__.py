"""Health checks of checkpoints and training runs."""
