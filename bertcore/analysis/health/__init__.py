"""Health checks of checkpoints and training runs."""

__all__ = ["checkpoint_doctor", "parameters", "run_coach", "vocabulary_fit"]
