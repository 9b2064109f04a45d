"""The documentation as a site: `make docs` builds it, with warnings as errors.

The sources are the Markdown files and notebooks of the repository, as they are read on the forge.
Three kinds of pages are written here before each build: one for each page of the app, from its
`PAGE`, its row in docs/app.md and its picture; one for each package with exported names; and the
list of folders, from their docstrings.
"""

import ast
import importlib
import inspect
import json
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import bertcore  # noqa: E402
from app.navigation import GROUPS, PAGES  # noqa: E402

DOCS = ROOT / "docs"
PROMISED = ROOT / "tests" / "data" / "promised.json"

project = "BertScope"
author = "BertScope authors"
copyright = f"2026, {author}"
version = release = bertcore.__version__
root_doc = "docs/index"
include_patterns = [
    "*.md",
    "docs/*.md",
    "docs/pages/*.md",
    "docs/api/*.rst",
    "benchmarks/RESULTS.md",
    "bertcore/model/checkpoints/*/README.md",
    "bertcore/analysis/probes/data/README.md",
    "bertcore/training/pretraining/recorded/*/README.md",
    "notebooks/*.md",
    "notebooks/*.ipynb",
]
exclude_patterns = ["bertcore/model/checkpoints/toys/**", "build"]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"BertScope {version}"
html_show_sourcelink = False
_project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
if repository := _project.get("urls", {}).get("Repository"):
    html_theme_options = {"source_repository": repository, "source_branch": f"v{version}"}
default_role = "code"  # docstrings have single backquotes
autodoc_typehints = "none"  # signatures of tensors are long; docstrings give shapes
autodoc_member_order = "bysource"
nb_execution_mode = "off"  # the committed outputs; the tests run the notebooks
myst_heading_anchors = 4
suppress_warnings = [
    "docutils",  # docstrings are plain text, with [L, H] and *args; links and pages are checked
    "toc.not_included",
    "myst.header",
    "ref.python",  # a word before a colon in a docstring, read as the name of a type
    "mystnb.unknown_mime_type",
]


def write_app_pages() -> None:
    """Write docs/pages: what each page of the app shows, with its picture."""
    folder = DOCS / "pages"
    folder.mkdir(exist_ok=True)
    rows = dict(re.findall(r"^\| \*\*(.+?)\*\* \| (.+) \|$", (DOCS / "app.md").read_text(), re.M))
    index = ["# The pages of the app", ""]
    for group, folders in GROUPS.items():
        names = [PAGES[each].name for each in folders]
        index += [f"## {group or 'First'}", "", "```{toctree}", *names, "```", ""]
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")
    for page in PAGES.values():
        shown = re.sub(r"\]\((?=[\w-]+\.md)", "](../", rows[page.title]).replace(
            "](#", "](../app.md#"
        )
        lines = [f"# {page.title}", "", f"*{page.purpose}*", "", shown, ""]
        picture = f"../pictures/pages/{page.name}.webp"
        lines += [f"![The page {page.title} as it opens]({picture})", ""]
        more = "[Using the app](../app.md) has links, downloads, files."
        lines += [f"Its address is `/{page.name}`; {more}", ""]
        (folder / f"{page.name}.md").write_text("\n".join(lines), encoding="utf-8")


def write_folders() -> None:
    """Write docs/pages/folders.md: each package with the first paragraph of its docstring."""
    lines = ["# The folders", ""]
    for top in ("bertcore", "app", "bertscope"):
        for path in sorted((ROOT / top).rglob("__init__.py"), key=lambda path: path.parent):
            docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            folder = path.parent.relative_to(ROOT)
            first, *_ = docstring.split("\n\n")
            indent = "  " * (len(folder.parts) - 1)
            lines.append(f"{indent}- `{folder.as_posix()}/`: {' '.join(first.split())}")
    (DOCS / "pages" / "folders.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _value(package: str, name: str) -> Any:
    """Return what a package exports by a name; a module for one of its modules."""
    value = getattr(importlib.import_module(package), name, None)
    return importlib.import_module(f"{package}.{name}") if value is None else value


def _directive(package: str, name: str, homes: dict[str, str]) -> list[str]:
    """Return the lines that document one exported name, or say which page does.

    Args:
        homes: Page of each module and object that is documented; an object of none is added.
    """
    value = _value(package, name)
    if isinstance(value, ModuleType):
        if homes[value.__name__] != package or value.__name__ != f"{package}.{name}":
            return [f"``{name}``: ``{value.__name__}``, in :doc:`{homes[value.__name__]}`.", ""]
        return [f".. automodule:: {value.__name__}", "   :members:", ""]
    module = getattr(value, "__module__", None) or package
    own = f"{module}.{getattr(value, '__qualname__', name)}"
    home = homes.get(module) or homes.setdefault(own, package)
    if home != package or module in homes:
        return [f"``{name}``: see :doc:`{home}`.", ""]
    kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
    members = ["   :members:"] if kind == "class" else ["   :no-value:"] if kind == "data" else []
    return [f".. auto{kind}:: {package}.{name}", *members, ""]


def write_api_pages() -> None:
    """Write docs/api: a page for each package whose names are promised."""
    folder = DOCS / "api"
    folder.mkdir(exist_ok=True)
    packages = json.loads(PROMISED.read_text(encoding="utf-8"))["names"]
    title = "Exported names"
    lines = [title, "=" * len(title), "", "What docs/stability.md promises, from the docstrings."]
    lines += ["", ".. toctree::", "", *(f"   {name}" for name in packages), ""]
    (folder / "index.rst").write_text("\n".join(lines), encoding="utf-8")
    homes = {
        value.__name__: package
        for package, names in packages.items()
        for name in names
        if isinstance(value := _value(package, name), ModuleType)
    }
    homes |= {package: package for package in packages}
    for package, names in packages.items():
        described = inspect.getdoc(importlib.import_module(package)) or ""
        text = [package, "=" * len(package), "", described, "", f".. currentmodule:: {package}", ""]
        for name in names:
            if not name.startswith("__"):
                text += _directive(package, name, homes)
        (folder / f"{package}.rst").write_text("\n".join(text), encoding="utf-8")


def _redirect(app: Any, _: Exception | None) -> None:
    """Lead from the top of the site to its first page."""
    if app.builder.name != "html":
        return
    to = "docs/index.html"
    leads = f'<meta http-equiv="refresh" content="0; url={to}"><a href="{to}">BertScope</a>'
    (Path(app.outdir) / "index.html").write_text(f"<!doctype html>{leads}", encoding="utf-8")


def setup(app: Any) -> None:
    """Write the pages that are made, and the redirect at the end."""
    write_app_pages()
    write_folders()
    write_api_pages()
    app.connect("build-finished", _redirect)
