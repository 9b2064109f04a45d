"""Names of modules whose code is in another module of their package now."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def moved(package: str, **homes: str) -> Callable[[str], ModuleType]:
    """Return a package's `__getattr__` (PEP 562), by which the old names stay importable.

    Args:
        package: Its `__name__`.
        homes: Old name of a module -> name of the module of the package that has its code.
    """

    def find(name: str) -> ModuleType:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{homes[name]}")

    return find
