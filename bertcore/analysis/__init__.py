"""Measures of a network or its traces: numbers only, no figures."""
