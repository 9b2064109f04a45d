"""The public names of a package, written once: in the imports of its `__init__`."""

import ast
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

_OURS = ("bertcore", "bertscope")


def imported(names: Mapping[str, object]) -> list[str]:
    """Return the names that a package imports from its modules, for its `__all__`.

    Of its `globals()`; modules, and names that begin with an underscore, are left out. ValueError
    if one is another project's, such as Any.
    """
    public = sorted(
        name
        for name, value in names.items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and value is not imported
    )
    if foreign := [name for name in public if _is_foreign(name, names[name])]:
        raise ValueError(
            f"the package {names.get('__name__')} imports {', '.join(foreign)} of another project, "
            "which would become public. Import only our own names in an __init__."
        )
    return public


def homes(package: str, file: str) -> dict[str, str]:
    """Return the module of each name that an `__init__` imports under `if TYPE_CHECKING:`.

    A module of the package itself, as of `from bertcore import bias`, is its own home.
    """
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    blocks = (node for node in tree.body if isinstance(node, ast.If))
    imports = (node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom))
    return {
        alias.name: f"{package}.{alias.name}" if node.module == package else str(node.module)
        for node in imports
        for alias in node.names
    }


def deferred(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package that imports at first use.

    Its `__init__` has the imports under `if TYPE_CHECKING:`, where editors and type checkers read
    them, and this reads them there (PEP 562; `lazy_loader` does so with a stub file).
    """
    home_of = homes(package, file)

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(home_of[name])
        is_module = home_of[name] == f"{package}.{name}"
        value = module if is_module else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(home_of), sorted(home_of)


def _is_foreign(name: str, value: object) -> bool:
    """Whether another project's module has it under this name; constants name no module."""
    home = getattr(value, "__module__", None)
    if not isinstance(home, str) or home.partition(".")[0] in _OURS:
        return False
    return getattr(sys.modules.get(home), name, None) is value
