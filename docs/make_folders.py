"""Write docs/folders.md: each package with the first paragraph of its docstring.

python docs/make_folders.py
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "docs" / "folders.md"
HEAD = """# The folders

Made by `python docs/make_folders.py` from the packages' docstrings; do not edit. What holds them
together is in [architecture.md](architecture.md).
"""


def folders() -> str:
    """Return the page."""
    lines = [HEAD]
    for top in ("bertcore", "app", "bertscope"):
        for path in sorted((ROOT / top).rglob("__init__.py"), key=lambda path: path.parent):
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            folder = path.parent.relative_to(ROOT)
            indent = "  " * (len(folder.parts) - 1)
            first, *_ = docstring.split("\n\n")
            lines.append(f"{indent}- `{folder.as_posix()}/`: {' '.join(first.split())}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PLACE.write_text(folders(), encoding="utf-8")
