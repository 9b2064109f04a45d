"""Builds the wheel offline, looks at what it carries, and uses it away from the checkout."""

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUNDLE = "bertscope"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    run = subprocess.run(
        [*build, "--directory", str(folder)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    (found,) = folder.glob("bertscope-*.whl")
    return found


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    """The paths inside the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the wheel was installed into, far from the checkout."""
    folder = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--no-compile"]
    run = subprocess.run(
        [*pip, "--target", str(folder), str(wheel)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return folder


def python(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in `cwd` with the installed wheel in front of this checkout."""
    return subprocess.run(
        [sys.executable, "-P", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_stays_small_enough_to_be_shared(wheel: Path) -> None:
    assert wheel.stat().st_size < 75_000_000


def test_only_our_own_names_reach_site_packages(names: set[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.startswith("bertscope-")} == {"bertcore", "bertscope"}


@pytest.mark.parametrize("folder", ["app", "pages", ".streamlit"])
def test_the_app_is_carried_whole(names: set[str], folder: str) -> None:
    expected = {
        f"{BUNDLE}/{path.relative_to(ROOT).as_posix()}"
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.name != "secrets.toml"
        if path.suffix != ".ts"  # the bundles hold these modules
    }
    carried = {name for name in names if name.startswith(f"{BUNDLE}/{folder}/")}
    assert carried == expected
    assert expected


@pytest.mark.parametrize("folder", ["bertcore", "bertscope"])
def test_every_file_of_the_core_is_carried(names: set[str], folder: str) -> None:
    """Weights, vocabularies and model cards too: a wheel must work on its shipped checkpoint."""
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert expected - names == set()


def test_nothing_compiled_or_private_is_carried(names: set[str]) -> None:
    assert [name for name in names if "__pycache__" in name or "secrets" in name] == []


def test_the_command_works_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    run = python(installed, tmp_path, "-m", "bertscope", "--help")
    assert run.returncode == 0, run.stderr
    assert "Usage: bertscope" in run.stdout
    assert "fill-mask" in run.stdout


def test_a_notebook_shows_views_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    script = (
        "import sys, bertcore; from bertscope.notebook import show_lines\n"
        "view = show_lines(bertcore.load('default').trace('the river'))\n"
        "assert 'app' not in sys.modules\n"
        "print(len(view._repr_html_()) > 50_000)"
    )
    run = python(installed, tmp_path, "-c", script)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "True"


def test_the_app_is_found_in_the_wheel(installed: Path, tmp_path: Path) -> None:
    script = "from bertscope.app_root import find_app_root; print(find_app_root())"
    run = python(installed, tmp_path, "-c", script)
    assert run.returncode == 0, run.stderr
    assert Path(run.stdout.strip()) == (installed / BUNDLE).resolve()


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
