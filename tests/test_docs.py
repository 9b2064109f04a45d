"""README, manual and guides are true: Python, paths, links, numbers, and names of what to click."""

import importlib.metadata
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from app.navigation import PAGES
from app.parts.canvas.overview.overview import NAMES
from app.screens.heads.names import QUESTIONS
from app.screens.heads.page import OPEN_EXAMPLE
from app.screens.inspect_checkpoint.views import CALIBRATION, CONFUSION, ERRORS, SLICES
from tests.support.docs_scripts import DOCS, script
from tests.support.what_opens import ROWS

GUIDE = DOCS / "find-a-head.md"
README = DOCS.parent / "README.md"
SHIPPED = DOCS.parent / "bertcore" / "model" / "checkpoints" / "default" / "model.safetensors"

WITH_PYTHON = (README, DOCS / "python.md")
"""Pages whose Python runs in one go; that of the guides needs the reader's own files."""

MAX_DOCS_BYTES = 150_000
"""Of docs/*.md together: what is added takes the place of something."""


@pytest.mark.parametrize("page", ["command-line.md", "training.md", "app.md"])
def test_the_tables_of_options_are_those_of_the_commands(page: str) -> None:
    written = (DOCS / page).read_text(encoding="utf-8")
    made = script("make_options").with_tables(written)
    assert made.count("\n| ") > 10
    assert written == made, "run `python docs/make_options.py` and commit docs"


def test_the_table_of_what_opens_is_that_of_the_tests() -> None:
    made = script("make_what_opens").page()
    assert len(ROWS) > 100
    written = (DOCS / "what-opens.md").read_text(encoding="utf-8")
    assert written == made, "run `python docs/make_what_opens.py` and commit docs/what-opens.md"


@pytest.mark.skipif(not SHIPPED.is_file(), reason="the shipped checkpoint is not here")
@pytest.mark.exhaustive
def test_the_numbers_of_the_guide_are_those_of_the_shipped_checkpoint() -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    written = re.search(r"<!-- numbers -->\n(.*?)<!-- end -->", guide, re.DOTALL)
    # The last digit may differ with the machine's arithmetic.
    found, wanted = (
        [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]
        for text in (written[1], script("make_pictures").own_numbers())
    )
    assert found == pytest.approx(wanted, abs=0.11)
    assert len(found) > 15


@pytest.mark.skipif(not SHIPPED.is_file(), reason="the shipped checkpoint is not here")
@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda path: path.name)
def test_the_python_of_readme_and_manual_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    snippets = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for snippet in snippets:
        exec(compile(snippet, page.name, "exec"), names)
    assert names["t"].tokens[1] == "the"
    assert len(snippets) == (1 if page == README else 7)
    for made in ("lines.html", "trace.npz", "reviews/README.md", "run/config.json", "mine"):
        assert (tmp_path / made).exists() == (page.name == "python.md")


def test_every_path_of_the_architecture_exists() -> None:
    """Paths in backquotes; `app/<page>/` and `my_page` stand for others."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:app|bertcore|bertscope|pages|tests|docs|benchmarks)/[\w/.]+)`", text)
    paths = {DOCS.parent / name for name in named if "my_" not in name}
    assert [
        path for path in paths if not path.exists() and not path.with_suffix(".py").exists()
    ] == []
    assert len(named) > 40


@pytest.mark.parametrize("page", [README, *sorted(DOCS.glob("*.md"))], ids=lambda path: path.name)
def test_every_link_leads_somewhere_and_pictures_are_small(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path = page.parent / target
        assert path.is_file(), target
        limits = {".png": 150_000, ".webp": 2_000_000}
        assert path.stat().st_size <= limits.get(path.suffix, float("inf"))


def test_every_picture_is_used_and_the_readme_is_short() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    for picture in (DOCS / "pictures").glob("*.png"):
        assert f"(pictures/{picture.name})" in text
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 90


def test_the_size_of_an_installation_is_what_install_says() -> None:
    """The number of distributions, and their megabytes within 5%: a torch for GPUs has others."""
    if "+cpu" not in importlib.metadata.version("torch") or sys.platform != "linux":
        pytest.skip("docs/install.md has the sizes of Linux with the CPU build of torch")
    found = script("make_sizes").installed_bytes()
    page = (DOCS / "install.md").read_text(encoding="utf-8")
    said = re.search(r"\*\*(\d+) distributions\*\* \| ([\d,]+) \|", page)
    assert said is not None, "run `python docs/make_sizes.py` and commit docs/install.md"
    assert int(said[1]) == pytest.approx(len(found), abs=0 if sys.version_info < (3, 12) else 3)
    assert float(said[2].replace(",", "")) == pytest.approx(sum(found.values()) / 1e6, rel=0.05)


def test_newcomers_have_a_path_of_six_pages() -> None:
    """README and the index of the documentation name the same pages in the same order."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    begin = re.search(r":caption: Begin here\n(.*?)```", index, re.DOTALL)
    path = begin[1].split()
    assert len(path) <= 6
    readme = README.read_text(encoding="utf-8")
    new_here = readme[readme.index("New here?") : readme.index("All else is reference")]
    assert re.findall(r"\(docs/([\w-]+)\.md\)", new_here) == path


def test_the_documentation_stays_short() -> None:
    assert sum(path.stat().st_size for path in DOCS.glob("*.md")) <= MAX_DOCS_BYTES
    architecture = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert len(architecture.splitlines()) <= 120
    changes = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## .*?(?=^## )", changes, re.MULTILINE | re.DOTALL)
    assert len(newest[0].splitlines()) <= 41, "what a person needs, in forty lines"


NAMED = {
    "find-a-head.md": (
        *(f"**{PAGES[page].title}**" for page in ("heads", "attention", "what_if")),
        f"*{QUESTIONS['to_previous']}*",
        f"**{QUESTIONS['obj>to_dependent']}**",
        f"**{OPEN_EXAMPLE}**",
        f"*{NAMES['to_previous'].label}* in **Measure**",
    ),
    "inspect-your-checkpoint.md": (
        f"**{PAGES['inspect_checkpoint'].title}**",
        *(f"*{view.question}" for view in (CONFUSION, CALIBRATION, SLICES, ERRORS)),
    ),
    "compare.md": (f"**{PAGES['compare'].title}**",),
}


@pytest.mark.parametrize("guide", NAMED)
def test_a_guide_names_what_the_app_shows(guide: str) -> None:
    text = " ".join((DOCS / guide).read_text(encoding="utf-8").split())
    assert [name for name in NAMED[guide] if name not in text] == []
