"""Scores of predictions: metrics, calibration, slices, confidence intervals."""

__all__ = ("answer_notes", "breakdown", "intervals", "metrics")
