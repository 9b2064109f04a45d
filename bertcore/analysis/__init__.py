"""Measures on a network or its traces: numbers only, no pictures."""
