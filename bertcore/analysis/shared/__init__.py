"""Inputs and vectors that several analyses collect."""
