"""The public names of a package, written once: in the imports of its `__init__`."""

from collections.abc import Mapping
from types import ModuleType


def imported(names: Mapping[str, object]) -> list[str]:
    """Return the names that a package imports from its modules, for its `__all__`.

    Args:
        names: Its `globals()`; modules, and names that begin with an underscore, are left out.
    """
    return sorted(
        name
        for name, value in names.items()
        if not name.startswith("_") and not isinstance(value, ModuleType) and value is not imported
    )
