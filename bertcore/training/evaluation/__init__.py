"""Scores of predictions: metrics, calibration, slices, confidence intervals."""
