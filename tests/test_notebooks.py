"""The notebooks run as they are committed, with outputs and pictures that show without running."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

from bertcore.model.checkpoints.source import SHIPPED
from tests.support.exhaustive import all_but

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[01]*.ipynb"))
SHORTER = {"STEPS = 300": "STEPS = 4"}
"""What would take long, and what the test runs in its place."""
MAX_BYTES = 1_500_000
"""Of all notebooks together: they are read on the forge, and cloned."""


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def pictures(path: Path) -> list[bytes]:
    """Return the committed PNG pictures."""
    outputs = [output for cell in cells(path) for output in cell.get("outputs", ())]
    return [
        base64.b64decode("".join(output["data"]["image/png"]))
        for output in outputs
        if "image/png" in output.get("data", {})
    ]


@pytest.fixture
def figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Draw on nothing, write into a folder of the test, and close what was drawn."""
    backend = plt.get_backend()
    plt.switch_backend("agg")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield tmp_path
    plt.close("all")
    plt.switch_backend(backend)


USUAL = ("01", "03", "10")
"""The others take seconds each: `make test-all` runs them."""


@pytest.mark.parametrize(
    "path",
    all_but([path for path in NOTEBOOKS if path.stem[:2] in USUAL], NOTEBOOKS),
    ids=lambda path: path.stem,
)
@pytest.mark.filterwarnings("ignore:.*non-interactive.*:UserWarning")
@pytest.mark.usefixtures("figures")
def test_a_notebook_runs(path: Path) -> None:
    names: dict[str, Any] = {"__name__": path.stem}
    for number, cell in enumerate(cells(path)):
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            for long, short in SHORTER.items():
                source = source.replace(long, short)
            exec(compile(source, f"{path.name}, cell {number}", "exec"), names)
    bert = names.get("bert") or names["model"]
    assert bert.name in SHIPPED or path.stem.startswith("07")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_with_what_it_shows(path: Path) -> None:
    """Outputs in order, at least one picture, no error, and no line of a log or a folder."""
    code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    assert pictures(path)
    for output in (output for cell in code for output in cell["outputs"]):
        assert output["output_type"] != "error"
        assert output.get("name") != "stderr"
        assert "/tmp/" not in json.dumps(output)


def test_the_notebooks_stay_small_and_are_five() -> None:
    assert len(NOTEBOOKS) == 5
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MAX_BYTES
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert all(f"\n{path.stem}\n" in index for path in FOLDER.glob("*.ipynb"))
