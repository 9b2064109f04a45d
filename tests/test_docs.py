"""The guides in docs are true: their numbers, their pictures, and the names of what to click."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from app.canvas.overview.overview import NAMES
from app.heads.names import QUESTIONS
from app.navigation import PAGES
from app.shell import texts_lookup

DOCS = Path(__file__).resolve().parents[1] / "docs"
GUIDE = DOCS / "find-a-head.md"
SHIPPED = DOCS.parent / "bertcore" / "checkpoints" / "default" / "model.safetensors"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    """The script that makes pictures and numbers."""
    spec = importlib.util.spec_from_file_location("make_pictures", DOCS / "make_pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not SHIPPED.is_file(), reason="the shipped checkpoint is not here")
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
def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for snippet in re.findall(r"```python\n(.*?)```", readme, re.DOTALL):
        exec(compile(snippet, "README.md", "exec"), names)
    assert names["t"].tokens[1] == "the"
    assert (tmp_path / "lines.html").is_file()


def test_only_what_stands_between_the_marks_is_replaced(maker: ModuleType) -> None:
    text = "a\n<!-- x -->\n<!-- end -->\nb\n<!-- y -->\n\nold\n\n<!-- end -->\n"
    once = maker.write_between(text, "x", "1 \\1")
    assert once == text.replace("<!-- x -->\n", "<!-- x -->\n\n1 \\1\n\n")
    assert maker.write_between(once, "x", "1 \\1") == once
    assert "old" not in maker.write_between(text, "y", "new")
    with pytest.raises(ValueError, match="no mark <!-- z -->"):
        maker.write_between(text, "z", "")


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_every_link_leads_somewhere_and_pictures_are_small(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path = page.parent / target
        assert path.is_file(), target
        if path.suffix == ".png":
            assert path.stat().st_size <= 150_000


def test_every_picture_is_used() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    for picture in (DOCS / "pictures").glob("*.png"):
        assert f"(pictures/{picture.name})" in text


def test_the_guide_names_what_the_app_shows() -> None:
    guide = " ".join(GUIDE.read_text(encoding="utf-8").split())
    link = re.findall(r"\[(.*?)\]", texts_lookup.TEXTS["heads.open_example"])
    shown = (
        *(f"**{PAGES[page].title}**" for page in ("heads", "mixing", "what_if")),
        f"*{QUESTIONS['to_previous']}*",
        f"**{QUESTIONS['obj>to_dependent']}**",
        f"**{link[0]}**",
        f"*{NAMES['to_previous'].label}* in **Measure**",
        "**Find a head that looks at …**",
        "**The best head for each job**",
        "**Upload a file**",
    )
    for name in shown:
        assert name in guide


def test_the_guides_of_checkpoints_name_what_the_app_shows() -> None:
    guides = [DOCS / "inspect-your-checkpoint.md", DOCS / "compare.md"]
    text = " ".join(" ".join(guide.read_text(encoding="utf-8").split()) for guide in guides)
    for page in ("checkpoints", "inspect_checkpoint", "compare", "what_if"):
        assert f"**{PAGES[page].title}**" in text
    shown = ("What is taken for what", "Is it as often right as it is sure?", "Where is it weak?")
    for title in (*shown, "Most sure, and wrong", "Use this text", "Two moments of a run"):
        assert f"*{title}" in text
