"""The public names of a package, written once: in the imports of its `__init__`."""

import sys
from collections.abc import Mapping
from types import ModuleType

_OURS = ("bertcore", "bertscope")


def imported(names: Mapping[str, object]) -> list[str]:
    """Return the names that a package imports from its modules, for its `__all__`.

    Args:
        names: Its `globals()`; modules, and names that begin with an underscore, are left out.

    ValueError if one is another project's, such as Any.
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


def _is_foreign(name: str, value: object) -> bool:
    """Whether another project's module has it under this name; constants name no module."""
    home = getattr(value, "__module__", None)
    if not isinstance(home, str) or home.partition(".")[0] in _OURS:
        return False
    return getattr(sys.modules.get(home), name, None) is value
