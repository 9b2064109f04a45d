"""Measurements of BertScope beside its peers: `python -m benchmarks` prints the tables."""
