"""The app's modules for use outside of the app.

The app is a folder named `app`, in a checkout or inside the wheel, and no installed package: others
have modules of that name. Its modules import each other relatively, so here they are
`bertscope.app`.
"""

from __future__ import annotations

import importlib
from types import ModuleType

import bertscope
from bertcore.cli.open_app import find_app_root


def app_module(name: str) -> ModuleType:
    """Return a module of the app, such as "app.canvas.html_part".

    Raises:
        RuntimeError: If the app's files are missing.
    """
    root = str(find_app_root())
    if root not in bertscope.__path__:
        bertscope.__path__.append(root)
    return importlib.import_module(f"bertscope.{name}")
