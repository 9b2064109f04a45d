"""Attention as a heat map."""
