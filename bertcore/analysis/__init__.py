"""What is computed from a network or its traces: numbers only, no pictures."""
