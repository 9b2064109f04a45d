"""Scores of predictions: metrics, calibration, slices, confidence intervals."""

__all__ = ["breakdown", "calibration", "intervals", "metrics", "slices", "squad_metrics"]
