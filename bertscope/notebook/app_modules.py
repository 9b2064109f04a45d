"""The app's modules for use outside of the app.

In a wheel the app is `bertscope.app`. In a checkout its folder is beside `bertscope`, and gets the
same name here, as its modules import each other relatively: others have modules named `app`.
"""

import importlib
from types import ModuleType

import bertscope
from bertscope.app_root import find_app_root


def app_module(name: str) -> ModuleType:
    """Return a module of the app, such as "app.canvas.views".

    RuntimeError if the app's files are missing.
    """
    root = str(find_app_root())
    if root not in bertscope.__path__:
        bertscope.__path__.append(root)
    return importlib.import_module(f"bertscope.{name}")
