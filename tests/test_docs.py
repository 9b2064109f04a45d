"""README, manual and guides are true: Python, paths, links, numbers, and names of what to click."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from app.canvas.overview.overview import NAMES
from app.heads.names import QUESTIONS
from app.heads.page import OPEN_EXAMPLE
from app.inspect_checkpoint.views import CALIBRATION, CONFUSION, ERRORS, SLICES
from app.navigation import PAGES
from tests.support.what_opens import ROWS

DOCS = Path(__file__).resolve().parents[1] / "docs"
GUIDE = DOCS / "find-a-head.md"
README = DOCS.parent / "README.md"
SHIPPED = DOCS.parent / "bertcore" / "checkpoints" / "default" / "model.safetensors"

WITH_PYTHON = (README, DOCS / "python.md")
"""Pages whose Python runs in one go; that of the guides needs the reader's own files."""


def script(name: str) -> ModuleType:
    """Return a script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    """The script that makes pictures and numbers."""
    return script("make_pictures")


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
def test_the_numbers_of_the_guide_are_those_of_the_shipped_checkpoint(maker: ModuleType) -> None:
    guide = GUIDE.read_text(encoding="utf-8")
    written = re.search(r"<!-- numbers -->\n(.*?)<!-- end -->", guide, re.DOTALL)
    assert written is not None
    # The last digit may differ with the machine's arithmetic.
    found, wanted = (
        [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]
        for text in (written[1], maker.own_numbers())
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


def test_the_readme_is_a_screen_and_a_half() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 90


def test_every_path_of_the_architecture_exists() -> None:
    """Paths in backquotes; `app/<page>/` and `my_page` stand for others."""
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:app|bertcore|bertscope|pages|tests|docs|benchmarks)/[\w/.]+)`", text)
    paths = {DOCS.parent / name for name in named if "my_" not in name}
    assert [
        path for path in paths if not path.exists() and not path.with_suffix(".py").exists()
    ] == []
    assert len(named) > 40


def test_only_what_stands_between_the_marks_is_replaced(maker: ModuleType) -> None:
    text = "a\n<!-- x -->\n<!-- end -->\nb\n<!-- y -->\n\nold\n\n<!-- end -->\n"
    once = maker.write_between(text, "x", "1 \\1")
    assert once == text.replace("<!-- x -->\n", "<!-- x -->\n\n1 \\1\n\n")
    assert maker.write_between(once, "x", "1 \\1") == once
    assert "old" not in maker.write_between(text, "y", "new")
    with pytest.raises(ValueError, match="no mark <!-- z -->"):
        maker.write_between(text, "z", "")


@pytest.mark.parametrize("page", [README, *sorted(DOCS.glob("*.md"))], ids=lambda path: path.name)
def test_every_link_leads_somewhere_and_pictures_are_small(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path = page.parent / target
        assert path.is_file(), target
        limits = {".png": 150_000, ".webp": 2_000_000}
        assert path.stat().st_size <= limits.get(path.suffix, float("inf"))


def test_every_picture_is_used() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    for picture in (DOCS / "pictures").glob("*.png"):
        assert f"(pictures/{picture.name})" in text


def test_the_guide_names_what_the_app_shows() -> None:
    guide = " ".join(GUIDE.read_text(encoding="utf-8").split())
    shown = (
        *(f"**{PAGES[page].title}**" for page in ("heads", "attention", "what_if")),
        f"*{QUESTIONS['to_previous']}*",
        f"**{QUESTIONS['obj>to_dependent']}**",
        f"**{OPEN_EXAMPLE}**",
        f"*{NAMES['to_previous'].label}* in **Measure**",
        "**Find a head that attends to …**",
        "**Which head is best at each job?**",
        "**Upload a file**",
    )
    for name in shown:
        assert name in guide


def test_the_guides_of_checkpoints_name_what_the_app_shows() -> None:
    guides = [DOCS / "inspect-your-checkpoint.md", DOCS / "compare.md"]
    text = " ".join(" ".join(guide.read_text(encoding="utf-8").split()) for guide in guides)
    for page in ("inspect_checkpoint", "compare", "what_if"):
        assert f"**{PAGES[page].title}**" in text
    views = [each.question for each in (CONFUSION, CALIBRATION, SLICES, ERRORS)]
    for title in (*views, "Use this text", "Two checkpoints of a run"):
        assert f"*{title}" in text
