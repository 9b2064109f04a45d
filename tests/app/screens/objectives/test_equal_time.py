"""The table of objectives trained for the same time: what its file holds is what is drawn."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from app.screens.objectives.views import EQUAL_TIME
from bertcore.analysis.objectives import equal_time as measured
from bertcore.analysis.objectives.equal_time import equal_time

NAMES = (*measured.REPEATED, "rtd", "causal")


def row(number: int) -> dict[str, Any]:
    has_masks = NAMES[number] != "rtd"
    return {
        "steps": 10,
        "num_tokens": 1_000_000 * (number + 1),
        "mlm_loss": 4.5 - number / 10 if has_masks else None,
        "pairs": 0.5 + number / 100 if has_masks else None,
        "blimp": 0.6 if has_masks else None,
        "sets": {
            "SST-2": [{"accuracy": (70 + number + seed) / 100} for seed in (0, 5, 1)],
            "QA": [{"f1": 0.25, "exact_match": 0.1}] if has_masks else None,
        },
    }


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A whole table."""
    path = tmp_path / "equal_time.json"
    found = {
        "settings": {
            "layers": 4,
            "hidden": 256,
            "minutes": 20.0,
            "fine-tuning seeds": 3,
            "every n-th pair of BLiMP": 20,
        },
        "seconds_a_step": dict.fromkeys(NAMES, 1.0),
        "rows": {name: row(number) for number, name in enumerate(NAMES)},
    }
    path.write_text(json.dumps(found), encoding="utf-8")
    monkeypatch.setattr(measured.equal_time, "__defaults__", (path,))
    return path


@pytest.mark.usefixtures("file")
def test_each_score_has_every_seed_in_percent_or_nats() -> None:
    scores: dict[str, dict[str, tuple[float, float, float]]] = {}
    for each in equal_time().scores:
        of = scores.setdefault(f"{each.score}, {each.unit}", {})
        of[each.objective] = (each.low, each.value, each.high)
    assert [*scores] == [
        "Masked words: loss, nats",
        "Our 200 pairs: right, %",
        "BLiMP, 1 in 20: right, %",
        "SST-2: accuracy, %",
        "QA: f1, %",
    ]
    assert tuple(scores["SST-2: accuracy, %"]) == NAMES
    nothing = math.nan
    assert scores["SST-2: accuracy, %"]["rtd"] == pytest.approx((72, 73, 77))
    for score in ("QA: f1, %", "Masked words: loss, nats"):
        assert scores[score]["rtd"] == pytest.approx((nothing,) * 3, nan_ok=True)
    loss = scores["Masked words: loss, nats"]["causal"]
    assert loss == pytest.approx((nothing, 4.2, nothing), nan_ok=True)


@pytest.mark.usefixtures("file")
def test_a_dot_is_the_median_and_a_line_the_range() -> None:
    (sst2,) = EQUAL_TIME.draw(equal_time(), only={"score": "SST-2: accuracy"}).traces
    assert sst2["x"] == pytest.approx([71, 72, 73, 74])
    assert sst2["error_x"]["arrayminus"] == pytest.approx([1, 1, 1, 1])
    assert sst2["error_x"]["array"] == pytest.approx([4, 4, 4, 4])
    (loss,) = EQUAL_TIME.draw(equal_time()).traces
    assert loss["y"] == [0, 1, 3]  # replaced tokens have no masked-word loss


def test_the_table_that_ships_is_whole() -> None:
    table = json.loads(measured.FILE.read_text(encoding="utf-8"))
    assert {*table["seconds_a_step"]} == {*table["rows"]}
    assert {score.objective for score in equal_time().scores} == {*table["rows"]}
