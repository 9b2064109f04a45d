"""The modules that a test file imports, itself and through the helpers of tests.support."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return the dotted names of the modules, with the packages that they lie in."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            parts = name.split(".")
            found.update(".".join(parts[: end + 1]) for end in range(len(parts)))
            helper = ROOT.joinpath(*parts).with_suffix(".py")
            if parts[0] == "tests" and helper.is_file() and helper != path:
                found |= imports_of(helper)
    return frozenset(found)
