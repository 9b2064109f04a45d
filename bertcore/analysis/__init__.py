"""Measures of a network or its traces: numbers only, no figures."""

__all__ = ("attribution compare heads health mixing objectives patching shared space words").split()
