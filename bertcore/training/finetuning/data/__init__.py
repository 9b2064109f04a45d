"""The data of a run: downloaded, divided, with words swapped, and stored with it."""
