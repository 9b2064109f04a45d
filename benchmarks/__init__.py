"""Measurements of BertScope against its peers: `python -m benchmarks` prints the tables."""
