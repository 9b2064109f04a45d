"""Inputs and vectors shared by several analyses."""

from bertcore.base.moved import moved

__all__ = ["collect", "finite", "inputs"]

__getattr__ = moved(__name__, finite="inputs")
