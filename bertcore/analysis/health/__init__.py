"""Health checks of checkpoints."""

__all__ = ["checkpoint_doctor", "parameters", "vocabulary_fit"]
