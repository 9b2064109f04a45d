"""The data of a run: downloaded, divided, with words swapped, and stored with it."""

from bertcore.base.moved import moved

__all__ = ["division", "forms", "hub_data", "swapped"]

__getattr__ = moved(__name__, forms="hub_data")
