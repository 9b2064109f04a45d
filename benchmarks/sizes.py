"""How large the project is, beside version 0.2.0: lines, documentation, wheel, installation.

The earlier version is read from the history, which a shallow clone does not have. The installation
is measured in environments into which `uv pip install -c constraints.txt WHEEL` wrote nothing else
(uv compiles no bytecode), with the CPU build of torch.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import tables

ROOT = Path(__file__).resolve().parents[1]
BEFORE = "ffb02400"
"""The commit of 0.2.0."""
SOURCE = ("bertcore", "app", "bertscope", "pages")


@dataclass
class Options:
    """What is measured."""

    environments: tuple[Path, ...] = ()
    """Virtual environments of 0.2.0 and of this checkout; none: the rows are left out."""


OPTIONS = Options()


def run() -> str:
    """Return the table: 0.2.0 beside this checkout.

    Raises:
        RuntimeError: If the history does not reach back to 0.2.0, or a wheel cannot be built.
    """
    with tempfile.TemporaryDirectory() as folder:
        before = _unpack(BEFORE, Path(folder) / "before")
        now = _unpack("HEAD", Path(folder) / "now")
        rows = [(name, f"{size(before):,.0f}", f"{size(now):,.0f}") for name, size in SIZES.items()]
    if OPTIONS.environments:
        packages = [_site_packages(environment) for environment in OPTIONS.environments]
        sizes = [f"{_bytes(_files(path, '*')) / 1e6:,.0f}" for path in packages]
        counts = [str(len([*path.glob("*.dist-info")])) for path in packages]
        rows += [("installed, MB", *sizes), ("distributions", *counts)]
    return tables.markdown(("", "0.2.0", "now"), rows)


def _unpack(commit: str, folder: Path) -> Path:
    """Write the files of a commit into a new folder and return it."""
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode != 0:
        raise RuntimeError(f"git has no commit {commit} here: {archive.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(folder, filter="data")
    return folder


def _files(folder: Path, pattern: str) -> list[Path]:
    return [path for path in sorted(folder.rglob(pattern)) if path.is_file()]


def _lines(paths: Iterable[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def _bytes(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths)


def _wheel_megabytes(folder: Path) -> float:
    """Build the wheel of a checkout and return its size."""
    build = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "made"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if build.returncode != 0:
        raise RuntimeError(f"The wheel could not be built: {build.stderr.strip()}")
    (wheel,) = (folder / "made").glob("*.whl")
    return wheel.stat().st_size / 1e6


def _site_packages(environment: Path) -> Path:
    (found,) = environment.glob("lib/python*/site-packages")
    return found


def _dependencies(folder: Path) -> int:
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    return len(tomllib.loads(text)["project"]["dependencies"])


SIZES: dict[str, Callable[[Path], float]] = {
    "Python source, lines": lambda at: _lines(
        path for name in SOURCE for path in _files(at / name, "*.py")
    ),
    "tests, lines": lambda at: _lines(_files(at / "tests", "*.py")),
    "own TypeScript, lines": lambda at: _lines(_files(at / "app", "*.ts")),
    "docs/*.md, kB": lambda at: _bytes(at.glob("docs/*.md")) / 1e3,
    "pages of the app": lambda at: len([*at.glob("pages/*.py")]),
    "direct dependencies": _dependencies,
    "wheel, MB": _wheel_megabytes,
}
"""Name of a row and what measures it in the folder of a checkout."""
