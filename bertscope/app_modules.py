"""The app's modules for use outside of the app.

The app is a folder named `app`, in a checkout or inside the wheel, and no installed package: others
have modules of that name. It is imported here without leaving the name behind.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

from bertcore.cli.open_app import find_app_root

_found: dict[str, ModuleType] = {}


def app_module(name: str) -> ModuleType:
    """Return a module of the app, such as "app.canvas.html_part".

    Raises:
        RuntimeError: If the app's files are missing.
    """
    if name not in _found:
        _found[name] = _import(name)
    return _found[name]


def _import(name: str) -> ModuleType:
    root = find_app_root()
    before = {key: sys.modules.pop(key) for key in list(sys.modules) if _is_app(key)}
    mine = {key: module for key, module in before.items() if _lies_in(module, root)}
    sys.modules.update(mine or _kept)
    sys.path.insert(0, str(root))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(root))
        if not mine:  # whoever imports `app` after us gets what is theirs
            _kept.update({key: sys.modules.pop(key) for key in list(sys.modules) if _is_app(key)})
            sys.modules.update(before)


_kept: dict[str, ModuleType] = {}
"""Ours, out of sight."""


def _is_app(name: str) -> bool:
    return name == "app" or name.startswith("app.")


def _lies_in(module: ModuleType, root: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(root / "app")
