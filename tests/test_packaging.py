"""Builds the wheel offline, looks at what it carries, and uses it away from the checkout."""

import email
import re
import tomllib
import zipfile
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.support.docs_scripts import script
from tests.support.run_python import run_python

ROOT = Path(__file__).resolve().parents[1]
BUNDLE = "bertscope"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    run_python("-m", "hatchling", "build", "--target", "wheel", "--directory", folder)
    (found,) = folder.glob("bertscope-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the wheel was installed into, far from the checkout."""
    folder = tmp_path_factory.mktemp("site")
    options = ["--no-deps", "--no-index", "--no-compile", "--target", folder]
    run_python("-m", "pip", "install", *options, wheel)
    return folder


def python(installed: Path, cwd: Path, *arguments: str) -> str:
    """Run Python in `cwd` with the installed wheel in front of this checkout; return its output."""
    return run_python("-P", *arguments, cwd=cwd, PYTHONPATH=str(installed))


def test_the_wheel_carries_the_app_and_the_core_whole_and_nothing_else(wheel: Path) -> None:
    """Weights, vocabularies and model cards too: a wheel must work on its shipped checkpoint."""
    with zipfile.ZipFile(wheel) as archive:
        carried = {name for name in archive.namelist() if ".dist-info/" not in name}

    def files(folder: str) -> set[str]:
        return {
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / folder).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts and path.name != "secrets.toml"
        }

    of_app = set.union(*map(files, ("app", "pages", ".streamlit")))
    of_app = {f"{BUNDLE}/{name}" for name in of_app if not name.endswith(".ts")}  # in the bundles
    assert carried == of_app | files("bertcore") | files("bertscope")
    assert len(of_app) > 300
    assert wheel.stat().st_size < 78_000_000


SHOWS = """
import sys, bertcore
from bertscope.notebook import show_lines
view = show_lines(bertcore.load("default").trace("the river"))
assert "app" not in sys.modules
print(len(view._repr_html_()) > 50_000)
from bertscope.app_root import find_app_root
print(find_app_root())
"""


def test_the_wheel_works_away_from_the_checkout(installed: Path, tmp_path: Path) -> None:
    """The command, a view of a notebook, and where the app is."""
    said = python(installed, tmp_path, "-m", "bertscope", "--help")
    assert "Usage: bertscope" in said
    assert "fill-mask" in said
    is_large, app_root = python(installed, tmp_path, "-c", SHOWS).split()
    assert is_large == "True"
    assert Path(app_root) == (installed / BUNDLE).resolve()


def test_the_source_distribution_has_all_that_the_wheel_is_made_of() -> None:
    """What a release builds its wheel from: a folder that is missing there is missing in it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    targets = project["tool"]["hatch"]["build"]["targets"]
    assert {f"/{name}" for name in targets["wheel"]["only-include"]} <= {
        *targets["sdist"]["include"]
    }


def test_the_constraints_pin_what_is_asked_for() -> None:
    """Every dependency is pinned to one version, torch among them; no GPU library is forced."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    asked = [*project["dependencies"], *project["optional-dependencies"]["test"]]
    wanted = {name.split(">=")[0].lower().replace("_", "-") for name in asked}
    pinned = {name.lower().replace("_", "-") for name in pins}
    assert wanted - pinned == set()
    assert pins["torch"] == "2.13.0"
    assert [name for name in pinned if name.startswith(("nvidia", "triton", "cuda"))] == []


def leads_to(markdown: str) -> list[str]:
    """Return the addresses of links and pictures in Markdown, as an index renders it."""
    html = MarkdownIt("gfm-like", {"linkify": False}).render(markdown)
    return re.findall(r'(?:href|src)="([^"]*)"', html)


def test_the_page_of_the_index_has_no_relative_link(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = email.message_from_bytes(archive.read(name))
    description = metadata.get_payload()
    assert isinstance(description, str)
    assert "fill-mask" in description
    assert [to for to in leads_to(description) if not to.startswith("https://")] == []


def test_with_an_address_the_links_of_readme_lead_to_the_files_of_the_version() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    page = script("index_page").long_description(readme, "https://forge.example/b", "9.8")
    found = [to.split("#")[0] for to in leads_to(page)]
    paths = [re.sub(r"^https://forge\.example/b/(?:raw|blob)/v9\.8/", "", to) for to in found]
    assert [path for path in paths if not (ROOT / path).is_file()] == []
    assert "docs/tour.webp" in paths
    assert len(paths) == len(leads_to(readme)) > 30


def test_the_public_address_is_the_one_of_pyproject_everywhere() -> None:
    """Where it is named; empty until there is one."""
    made = script("index_page")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in made.WRITTEN:
        text = (ROOT / name).read_text(encoding="utf-8")
        assert text == made.with_address(text, made.address(project)), name
        elsewhere = made.with_address(text, "https://forge.example/b")
        assert "https://forge.example/b" in elsewhere, name
        assert made.with_address(elsewhere, "") == text, "an address must be replaceable"
