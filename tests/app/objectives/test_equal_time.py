"""The table of objectives trained for the same time: what its file holds is what is drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.objectives import page
from tests.support.opened import PAIR, named_charts, ok, page_of
from tests.support.tiny import tiny_bert

NAMES = (*page.REPEATED, "rtd", "causal")


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
    monkeypatch.setattr(page, "FILE", path)
    return path


@pytest.mark.usefixtures("file")
def test_each_score_has_every_seed_in_percent_or_nats() -> None:
    found = page.measured()
    assert found is not None
    assert tuple(found.values["objective"].unique()) == NAMES
    scores = {
        score: {name: one["value"].dropna().tolist() for name, one in rows.groupby("objective")}
        for score, rows in found.values.groupby("score", sort=False)
    }
    assert [*scores] == [
        "Masked words: loss, nats",
        "Our 200 pairs: right, %",
        "BLiMP, 1 in 20: right, %",
        "SST-2: Accuracy, %",
        "QA: F1, %",
    ]
    assert scores["SST-2: Accuracy, %"]["rtd"] == pytest.approx([72, 77, 73])
    assert scores["QA: F1, %"]["rtd"] == scores["Masked words: loss, nats"]["rtd"] == []
    assert scores["Masked words: loss, nats"]["causal"] == pytest.approx([4.2])


@pytest.mark.usefixtures("file")
def test_a_dot_is_the_median_and_a_line_the_range() -> None:
    found = page.measured()
    assert found is not None
    fig = page.equal_time_figure(found)
    assert len(fig.traces) == 5
    sst2 = fig.traces[3]
    assert sst2["x"] == pytest.approx([71, 72, 73, 74])
    assert sst2["error_x"]["arrayminus"] == pytest.approx([1, 1, 1, 1])
    assert sst2["error_x"]["array"] == pytest.approx([4, 4, 4, 4])
    assert fig.traces[0]["y"] == [0, 1, 3]  # replaced tokens have no masked-word loss
    bands = [(shape["x0"], shape["x1"]) for shape in fig.settings["shapes"]]
    assert bands[3] == pytest.approx((70, 76))
    table = page.equal_time_table(found)
    assert list(table["objective"]) == [*NAMES]
    assert table["SST-2: Accuracy, %"].tolist() == pytest.approx([71, 72, 73, 74])


def test_the_code_reads_the_table_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(page.EQUAL_TIME.python(None, ""), names)
    assert names["found"] == json.loads(page.FILE.read_text(encoding="utf-8"))


def test_the_page_shows_a_whole_table_only(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tiny_bert().save(tmp_path / "tiny")))
    app = ok(page_of("objectives", seconds=60, **PAIR).run())
    assert len(named_charts(app, "objectives")["equal-time"]) == 5
    assert "1.0 to 4.0 million tokens" in " ".join(box.value for box in app.caption)
    found = json.loads(file.read_text(encoding="utf-8"))
    del found["rows"]["causal"]
    file.write_text(json.dumps(found), encoding="utf-8")
    assert "equal-time" not in named_charts(ok(app.run()), "objectives")
