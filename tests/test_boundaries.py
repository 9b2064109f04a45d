"""Holds the one-way data flow pages -> app -> bertcore, by parsing the imports of every file.

Each rule is a function from a file to its offences, and is tried on a made-up offender as well, so
that a rule that stopped working fails here.
"""

import ast
import importlib
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import packages_distributions
from pathlib import Path, PurePosixPath

import pytest

import bertcore
from bertcore.base.public import homes
from tests.support.run_python import run_python

ROOT = Path(__file__).resolve().parents[1]
MAX_SCRIPT_LINES = 3
MAX_SOURCE_LINES = 97_752
"""Of Python in SOURCE, lowered with each cut; a rise is a decision in docs/architecture.md."""
SOURCE = ("bertcore", "app", "bertscope", "pages")
DRAWING = (
    "streamlit plotly bertviz gravis matplotlib typer click rich app pages bertscope"
).split()
NETWORK = ("huggingface_hub", "requests", "httpx", "urllib.request", "http.client", "aiohttp")
STREAMLIT = ("delta_generator", "starlette")
"""The documented modules below `streamlit`, and that of the type of its containers."""
HUB = "bertcore/model/checkpoints/hub.py"
PAGES = sorted(script.stem for script in (ROOT / "pages").glob("*.py"))
MODEL = (
    "bertcore.model.bert",
    "bertcore.Bert",
    "bertcore.load",
    "bertcore.model.network",
    "bertcore.model.loading",
    "bertcore.model.checkpoints",
    "bertcore.training.pretraining",
    "bertcore.training.finetuning",
    "streamlit",
)


@dataclass(frozen=True)
class Source:
    """One Python file: its path from the top folder, with slashes, and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=self.path)

    def lies_in(self, *folders: str) -> bool:
        return any(self.path.startswith(f"{folder}/") for folder in folders)

    @cached_property
    def imports(self) -> set[str]:
        """The dotted name of all that is imported, at any depth, relative ones resolved."""
        return {name for node in ast.walk(self.tree) for name in self.imported_by(node)}

    def imported_by(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = list(PurePosixPath(self.path).parent.parts)
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and _is_text(node.args[0]):
            function = ast.unparse(node.func)
            if function in ("__import__", "import_module", "importlib.import_module"):
                yield ast.literal_eval(node.args[0])


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def imports_of(source: Source, forbidden: Iterable[str]) -> list[str]:
    """Return the source's imports that are one of `forbidden` or lie below one."""
    return sorted(
        name
        for name in source.imports
        if any(name == word or name.startswith(f"{word}.") for word in forbidden)
    )


def names_used(source: Source, forbidden: tuple[str, ...]) -> list[str]:
    """Return which of the names `forbidden` are read as attributes (`st.x`) or imported."""
    attributes = {node.attr for node in ast.walk(source.tree) if isinstance(node, ast.Attribute)}
    imported = {name.rpartition(".")[2] for name in source.imports}
    return sorted((attributes | imported) & set(forbidden))


def core_draws_nothing(source: Source) -> list[str]:
    """bertcore imports no user interface, and prints nothing: others show what it computes."""
    return imports_of(source, DRAWING) if source.lies_in("bertcore") else []


def app_knows_no_page(source: Source) -> list[str]:
    """App never imports pages, nor the notebook's functions."""
    return imports_of(source, ("pages", "bertscope")) if source.lies_in("app") else []


def notebooks_leave_no_name_behind(source: Source) -> list[str]:
    """bertscope gets the app through app_module alone: a notebook may have an `app` of its own."""
    return imports_of(source, ("app", "pages")) if source.lies_in("bertscope") else []


def app_imports_itself_relatively(source: Source) -> list[str]:
    """Modules of app import each other relatively: notebooks have them as bertscope.app."""
    # streamlit runs these two as scripts
    if not source.lies_in("app") or source.path in ("app/main.py", "app/run.py"):
        return []
    absolute = [node for node in ast.walk(source.tree) if not getattr(node, "level", 0)]
    names = {name for node in absolute for name in source.imported_by(node)}
    return [name for name in sorted(names) if name == "app" or name.startswith("app.")]


def no_page_is_a_library(source: Source) -> list[str]:
    """Pages are siblings: what two of them need is in a room of its own, and links in shell/links.

    Other rooms of app do not import pages either; the navigation reads their folders' names.
    """
    if not source.lies_in("app"):
        return []
    others = (f"app.screens.{page}" for page in PAGES if not source.lies_in(f"app/screens/{page}"))
    return imports_of(source, tuple(others))


def figures_call_no_model(source: Source) -> list[str]:
    """Figures take numbers and return figures: no model, no Streamlit."""
    name = PurePosixPath(source.path).name
    is_figure = source.lies_in("app/plots") or (source.lies_in("app") and "figures" in name)
    return imports_of(source, MODEL) if is_figure else []


def caches_live_in_one_file(source: Source) -> list[str]:
    """Only app/shell/cache.py caches: what is shared between visitors is decided in one place.

    What one visitor has, app/server/visits.py ties to the visitor's sessions in the same way.
    """
    if source.path in ("app/shell/cache.py", "app/server/visits.py") or not source.lies_in(
        "app", "pages"
    ):
        return []
    return names_used(source, ("cache_data", "cache_resource", "experimental_memo"))


def url_is_touched_in_one_file(source: Source) -> list[str]:
    """Only app/shell/state.py reads and writes the URL."""
    if source.path == "app/shell/state.py" or not source.lies_in("app", "pages"):
        return []
    return names_used(source, ("query_params", "experimental_get_query_params"))


def internals_are_imported_in_one_file(source: Source) -> list[str]:
    """Only app/server/streamlit_internals.py imports what Streamlit does not document."""
    if source.path == "app/server/streamlit_internals.py" or not source.lies_in("app", "pages"):
        return []
    modules = {".".join(name.split(".")[:2]) for name in source.imports}
    below = {name for name in modules if name.startswith("streamlit.")}
    return sorted(below - {f"streamlit.{name}" for name in STREAMLIT})


def uploads_come_through_one_door(source: Source) -> list[str]:
    """Only uploads/source.py draws boxes for files: it keeps no upload longer than it is read."""
    doors = ("app/shell/uploads/source.py", "app/server/streamlit_internals.py")
    if source.path in doors or not source.lies_in("app", "pages"):
        return []
    return names_used(source, ("file_uploader", "camera_input", "audio_input", "chat_input"))


def network_is_opened_in_one_file(source: Source) -> list[str]:
    """Only the hub download opens the network."""
    if source.path == HUB or not source.lies_in("bertcore", "app", "pages"):
        return []
    return imports_of(source, NETWORK)


def scripts_only_draw(source: Source) -> list[str]:
    """A script names its page and draws it: all else is in app/<page>."""
    lines = len(source.text.splitlines())
    return [f"{lines} lines"] if source.lies_in("pages") and lines > MAX_SCRIPT_LINES else []


def import_circles(sources: Iterable[Source], package: str) -> list[set[str]]:
    """Return the sets of modules and packages directly below `package` that need each other.

    Imports inside functions and for type checkers alone count too; a public name of bertcore
    counts as an import of its home.
    """
    sources = list(sources)
    depth = len(package.split("."))
    modules = [(_module_name(source).split(".")[: depth + 1], source) for source in sources]
    below = [(".".join(name), source) for name, source in modules if len(name) > depth]
    below = [(unit, source) for unit, source in below if unit.startswith(f"{package}.")]
    units = {unit for unit, _ in below}
    needs: dict[str, set[str]] = {unit: set() for unit in units}
    for unit, source in below:
        for name in source.imports:
            home = ".".join(_HOMES.get(name, name).split(".")[: depth + 1])
            needs[unit] |= {home} & (units - {unit})
    reached = {unit: _all_reached(needs, unit) for unit in units}
    circles = [{b for b in units if b in reached[a] and a in reached[b]} for a in sorted(units)]
    return [circle for i, circle in enumerate(circles) if circle and circle not in circles[:i]]


_HOMES = {f"bertcore.{name}": home for name, home in homes("bertcore", bertcore.__file__).items()}


def _module_name(source: Source) -> str:
    return source.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _all_reached(needs: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    left = [start]
    while left:
        left += (new := needs[left.pop()] - found)
        found |= new
    return found


Rule = Callable[[Source], list[str]]
OFFENDERS: dict[Rule, list[tuple[str, str]]] = {
    core_draws_nothing: [
        ("bertcore/model/trace.py", "import streamlit as st"),
        ("bertcore/model/trace.py", "import bertscope.notebook"),
        ("bertcore/analysis/words/lens.py", "from plotly import graph_objects"),
        ("bertcore/model/bert.py", "def f():\n    from app.plots.theme import BLUE"),
        ("bertcore/a/b.py", "import importlib\nimportlib.import_module('app')"),
    ],
    app_knows_no_page: [
        ("app/main.py", "import pages.attention"),
        ("app/main.py", "from bertscope import notebook"),
    ],
    notebooks_leave_no_name_behind: [("bertscope/a.py", "from app.parts.canvas import views")],
    app_imports_itself_relatively: [
        ("app/screens/heads/page.py", "from app.shell import frame"),
        ("app/screens/heads/page.py", "import app.shell.frame"),
    ],
    no_page_is_a_library: [
        ("app/screens/heads/page.py", "from ..tokens.page import TOKEN"),
        ("app/screens/heads/page.py", "from .. import tokens"),
        ("app/plots/a.py", "def f():\n    from ..screens.compare import case"),
    ],
    figures_call_no_model: [
        ("app/plots/a.py", "from bertcore.model.bert import Bert"),
        ("app/plots/a.py", "from bertcore import load"),
        ("app/screens/heads/map_figures.py", "import streamlit"),
    ],
    caches_live_in_one_file: [
        ("pages/a.py", "@st.cache_data\ndef f(): ..."),
        ("app/a.py", "from streamlit import cache_resource"),
    ],
    url_is_touched_in_one_file: [
        ("pages/a.py", "st.query_params['text'] = 'x'"),
        ("app/shell/cache.py", "from streamlit import query_params"),
    ],
    internals_are_imported_in_one_file: [
        ("app/a.py", "from streamlit.runtime.scriptrunner import get_script_run_ctx"),
        ("app/shell/a.py", "from streamlit import runtime"),
    ],
    uploads_come_through_one_door: [
        ("pages/a.py", "row.file_uploader('x')"),
        ("app/a.py", "from streamlit import file_uploader"),
        ("app/a.py", "draw = st.file_uploader"),
    ],
    network_is_opened_in_one_file: [
        ("bertcore/model/bert.py", "import huggingface_hub"),
        ("app/a.py", "from urllib import request"),
    ],
    scripts_only_draw: [("pages/a.py", "x = 1\n" * (MAX_SCRIPT_LINES + 1))],
}
INNOCENT = [
    ("bertcore/model/bert.py", "from .trace import Trace\nfrom . import app\nimport application"),
    ("bertcore/model/checkpoints/hub.py", "import huggingface_hub"),
    ("app/plots/a.py", "from bertcore import Trace\nfrom plotly import graph_objects"),
    ("bertscope/a.py", "from bertcore import Trace\nfrom bertscope.notebook import notebook_view"),
    ("app/screens/heads/page.py", "from ..shell import frame\nfrom . import PAGE\nimport apple"),
    ("app/main.py", "from app.shell import frame"),
    ("app/shell/cache.py", "@st.cache_resource\ndef f(): ..."),
    ("app/shell/state.py", "st.query_params['text'] = 'x'"),
    ("app/shell/uploads/source.py", "st.file_uploader('x')"),
    ("app/server/streamlit_internals.py", "from streamlit import runtime"),
    ("app/a.py", "from streamlit.delta_generator import DeltaGenerator"),
    ("pages/a.py", "x = 1\n" * MAX_SCRIPT_LINES),
]


@cache
def all_sources() -> list[Source]:
    return [
        Source(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for folder in SOURCE
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]


@pytest.mark.parametrize("rule", OFFENDERS, ids=lambda rule: rule.__name__)
def test_the_project_keeps_the_rule(rule: Rule) -> None:
    assert all(rule(Source(*offender)) for offender in OFFENDERS[rule])
    assert [path for path, text in INNOCENT if rule(Source(path, text))] == []
    offences = {source.path: found for source in all_sources() if (found := rule(source))}
    assert offences == {}, rule.__doc__


FREE_OF_CIRCLES = sorted(
    _module_name(source)
    for source in all_sources()
    if source.lies_in("app", "bertcore", "bertscope") and source.path.endswith("/__init__.py")
)
CIRCLES = [
    [("bertcore/a.py", "import bertcore.b"), ("bertcore/b/c.py", "from .. import a")],
    [
        ("bertcore/a/x.py", "def f():\n    from bertcore.b.x import g"),
        ("bertcore/b/x.py", "if TYPE_CHECKING:\n    from bertcore.c import d"),
        ("bertcore/c.py", "import bertcore.a.x"),
    ],
    [
        ("bertcore/training/a.py", "import bertcore.model.bert"),
        ("bertcore/model/bert.py", "from bertcore import finetune"),
    ],
]
NO_CIRCLE = [
    ("bertcore/a/__init__.py", "from bertcore.a import x"),
    ("bertcore/a/x.py", "from bertcore.a import y\nfrom bertcore.b import z"),
    ("bertcore/a/y.py", "from bertcore.a import x"),
    ("bertcore/b.py", "import bertcore\nimport app.a"),
    ("app/a.py", "import bertcore.b"),
]


def test_a_circle_of_imports_is_found_at_any_depth() -> None:
    for files in CIRCLES:
        assert len(import_circles(itertools.starmap(Source, files), "bertcore")) == 1
    assert import_circles(itertools.starmap(Source, NO_CIRCLE), "bertcore") == []
    deep = [
        Source("bertcore/a/b/c.py", "from bertcore.a.b import d"),
        Source("bertcore/a/b/d.py", "import bertcore.a.b.c"),
    ]
    assert import_circles(deep, "bertcore") == []
    assert import_circles(deep, "bertcore.a.b") == [{"bertcore.a.b.c", "bertcore.a.b.d"}]
    assert {"app", "app.parts.canvas.lines", "bertcore", "bertcore.training.tasks"} <= {
        *FREE_OF_CIRCLES
    }


@pytest.mark.parametrize("package", FREE_OF_CIRCLES)
def test_packages_do_not_import_each_other(package: str) -> None:
    assert import_circles(all_sources(), package) == []


def test_modules_of_the_app_that_notebooks_name_exist() -> None:
    """They are opened by name, so that no import says which: see `app_module`."""
    files = (ROOT / "bertscope").rglob("*.py")
    named = {name for file in files for name in re.findall(r'"(app(?:\.\w+)+)"', file.read_text())}
    assert "app.plots.special_tokens" in named
    modules = [ROOT.joinpath(*name.split(".")) for name in sorted(named)]
    missing = [m for m in modules if not (m.with_suffix(".py").exists() or m.is_dir())]
    assert missing == []


def test_no_folder_of_the_app_hides_a_library() -> None:
    # Streamlit puts app/ itself on sys.path, in front of the libraries.
    names = {
        path.stem for path in (ROOT / "app").iterdir() if path.suffix or any(path.glob("*.py"))
    }
    assert {"main", "screens"} <= names
    assert not names & {*packages_distributions(), *sys.stdlib_module_names} - {"__init__"}


def test_the_core_imports_without_the_app_libraries() -> None:
    """A training machine has no Streamlit: each module of bertcore is imported with it blocked."""
    modules = [_module_name(source) for source in all_sources() if source.lies_in("bertcore")]
    blocked = ("streamlit", "plotly", "bertviz", "umap", "gravis", "pandas", "matplotlib")
    script = (
        "import importlib, sys\n"
        f"sys.modules.update(dict.fromkeys({blocked!r}))\n"
        f"for name in {modules!r}: importlib.import_module(name)\n"
    )
    run_python("-c", script)


def test_every_module_can_be_imported() -> None:
    """Also those that no test names; `__main__` would run the command, `app.main` the server."""
    names = [_module_name(source) for source in all_sources() if not source.lies_in("pages")]
    assert len(names) > 400
    for name in names:
        if not name.endswith("__main__") and name != "app.main":  # it changes Streamlit for good
            importlib.import_module(name)


def test_the_source_does_not_grow() -> None:
    lines = sum(len(source.text.splitlines()) for source in all_sources())
    assert lines <= MAX_SOURCE_LINES
    assert lines > MAX_SOURCE_LINES - 2_000, "lower MAX_SOURCE_LINES by what went"
