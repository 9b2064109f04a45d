"""Inputs and vectors shared by several analyses."""
