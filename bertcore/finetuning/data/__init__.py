"""The data of a run: downloaded, divided, with words swapped, and stored with it."""

__all__ = ["division", "hub_data", "swap_words"]
