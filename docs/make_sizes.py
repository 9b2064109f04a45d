"""Measure what an installation takes, and write it into docs/install.md.

`python docs/make_sizes.py` follows the dependencies of pyproject.toml through the distributions
that are installed here, and adds up the files that each of them lists, without the bytecode that
pip compiles. Run it in an environment with the versions of constraints.txt.
"""

import re
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "install.md"
TABLE = re.compile(r"(<!-- sizes -->\n).*?(<!-- end -->)", re.DOTALL)
OWN = ("app", "bertcore", "bertscope", "pages", ".streamlit")
LARGEST = 6
"""Distributions that have a row of their own."""


def own_bytes() -> int:
    """Return the bytes of what our wheel carries, as tests/test_packaging.py says."""
    files = (path for name in OWN for path in (ROOT / name).rglob("*") if path.is_file())
    return sum(
        path.stat().st_size
        for path in files
        if "__pycache__" not in path.parts and path.suffix not in (".ts", ".pyc")
    )


def installed_bytes() -> dict[str, int]:
    """Return the bytes of each distribution that an installation has, ours included.

    Raises:
        PackageNotFoundError: If a dependency is not installed here.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {"bertscope": own_bytes()}
    waiting = [(Requirement(text), "") for text in project["dependencies"]]
    seen = set()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for wanted in ("", *requirement.extras):
            if (name, wanted) in seen:
                continue
            seen.add((name, wanted))
            installed = distribution(name)
            files = [file for file in installed.files or () if file.suffix != ".pyc"]
            paths = [Path(str(file.locate())) for file in files]
            found[name] = sum(path.stat().st_size for path in paths if path.is_file())
            waiting += [(Requirement(text), wanted) for text in installed.requires or ()]
    return found


def table(found: dict[str, int]) -> str:
    """Return the rows of what takes most, and the sum, in megabytes (10^6 bytes)."""
    first = sorted(found, key=found.__getitem__, reverse=True)[:LARGEST]
    rest = [name for name in found if name not in first]
    rows = [(f"`{name}`", found[name]) for name in first]
    rows += [(f"{len(rest)} others", sum(found[name] for name in rest))]
    rows += [(f"**{len(found)} distributions**", sum(found.values()))]
    lines = ["| installed, without bytecode | MB |", "| :-- | --: |"]
    return "\n".join([*lines, *(f"| {name} | {size / 1e6:,.0f} |" for name, size in rows)]) + "\n"


def main() -> None:
    """Write the table, made in this environment."""
    made = table(installed_bytes())
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda found: found[1] + made + found[2], page), encoding="utf-8")
    sys.stdout.write(made)


if __name__ == "__main__":
    main()
