"""Inputs and vectors shared by several analyses."""

__all__ = ["collect", "inputs"]
