"""The `bertscope` command, and BertScope's views in notebooks; a wheel carries the app in it too.

The numbers are in `bertcore`, which draws and prints nothing.
"""

__all__ = ["app_root", "cli", "notebook"]
