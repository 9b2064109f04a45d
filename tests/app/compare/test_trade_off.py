"""Size, speed and score on the Compare page: the numbers of the core, reasons where none are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from scipy.stats import binomtest

from app.compare.trade_off import in_words
from bertcore import load
from bertcore.analysis.compare.trade_off import Paired, Side, Size, TradeOff, trade_off
from bertcore.tasks import open_task_model
from tests.support.finetuning_files import write_reviews
from tests.support.labelled_upload import Upload
from tests.support.opened import named_charts, numbers, ok, page_of, said
from tests.support.task_checkpoints import save_task_checkpoint
from tests.support.tiny import tiny_bert
from tests.support.tiny_tasks import make_task

LABELS = ("bad", "good")
A = "the film was very good"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pair")
    found = {
        "start": tiny_bert().save(folder / "start"),
        "tag": save_task_checkpoint(folder, "tag"),
    }
    for family in ("bert", "distilbert"):
        found[family] = folder / family
        found[family].mkdir()
        make_task(found[family], model_type=family, labels=LABELS)
    return found


def test_size_and_speed_of_two_families(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folders["start"]))
    other = str(folders["distilbert"])
    app = page_of("compare", seconds=120, text_a=A, compare_with=other, compare_view="speed")
    charts = named_charts(ok(app.run()), "compare")
    counted = [
        sum(p.numel() for p in load(folders[name], device="cpu").module.parameters())
        for name in ("start", "distilbert")
    ]
    bars = charts["size"][:2]
    drawn = [numbers(bar["x"]) for bar in bars]
    assert max(drawn[0][0], drawn[1][0]) == 1
    assert drawn[1][0] / drawn[0][0] == pytest.approx(counted[1] / counted[0])
    assert np.all((drawn[0] > 0) & (drawn[1] > 0))
    lines = charts["size"][3:]
    assert [line["y"] for line in lines] == [[2, 3], [2, 3]]  # parameters and memory are counted
    spread = [[numbers(line["error_x"][end]) for end in ("arrayminus", "array")] for line in lines]
    for values, (below, above) in zip(drawn, spread, strict=True):
        assert np.all(values[2:] + above <= 1 + 1e-9)
        assert np.all(below + above > 0)
    for row in (2, 3):
        ends = [
            (v[row] - low[row - 2], v[row] + high[row - 2])
            for v, (low, high) in zip(drawn, spread, strict=True)
        ]
        overlap = ends[0][0] <= ends[1][1] and ends[1][0] <= ends[0][1]
        assert charts["size"][2]["text"][row].endswith("≈") == overlap
    lengths = [
        len(load(folders[n], device="cpu").tokenize(A).input_ids) for n in ("start", "distilbert")
    ]
    assert " and ".join(map(str, dict.fromkeys(lengths))) + " tokens" in said(app)
    assert "No scores. start has no task head" in said(app).replace("*", "")
    code = max((c.value for c in app.code), key=len)
    names: dict[str, object] = {}
    exec(code, names)  # what the visitor would run
    assert [size.num_parameters for size in names["sizes"]] == counted  # type: ignore[attr-defined]


def test_another_task_is_no_score(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folders["bert"]))
    tagger = str(folders["tag"])
    app = page_of("compare", seconds=120, text_a=A, compare_with=tagger, compare_view="speed")
    assert "bert is for the task 'classify', tag for 'tag'" in said(ok(app.run()))


def test_both_are_scored_on_a_file(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = write_reviews(tmp_path / "reviews.tsv", 40)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folders["bert"]))
    upload = Upload(file.name, file.read_bytes())
    monkeypatch.setattr(st, "file_uploader", lambda *args, **kwargs: upload)
    other = str(folders["distilbert"])
    app = page_of("compare", seconds=120, text_a=A, compare_with=other, compare_view="speed")
    app = ok(app.run())
    assert "scores" not in named_charts(app, "compare")
    app = ok(app.button(key="compare_score").click().run())
    models = [open_task_model(folders[n], device="cpu") for n in ("bert", "distilbert")]
    true = trade_off(models[0], models[1], file, rounds=1)
    dots = named_charts(app, "compare")["scores"]
    for side, dot in zip(true.sides, dots, strict=True):
        assert list(numbers(dot["x"])) == pytest.approx(list(side.metrics.values()))
        low, high = side.intervals["accuracy"]
        value = side.metrics["accuracy"]
        assert numbers(dot["error_x"]["array"])[0] == pytest.approx(high - value)
        assert numbers(dot["error_x"]["arrayminus"])[0] == pytest.approx(value - low)
    assert true.paired is not None
    told = said(app).replace("*", "")
    if true.paired.only_first + true.paired.only_second:
        assert f"bert alone is right {true.paired.only_first:,} times" in told
        assert f"p = {true.paired.p_value:.2g}" in told
    verb = "reaches" if true.kept > 1 else "keeps"
    assert f"{verb} {true.kept:.1%} of its accuracy" in told
    assert "times as many examples per second as bert" in told


def side(accuracy: float) -> Side:
    size = Size(
        name="x",
        family="bert",
        num_parameters=1,
        num_bytes=4,
        num_layers=1,
        num_heads=1,
        hidden_size=1,
    )
    return Side(
        size=size,
        mean_tokens=8,
        tokens_per_second=80,
        examples_per_second=10,
        metrics={"accuracy": accuracy},
        intervals={},
        notes=(),
    )


@pytest.mark.parametrize(("kept", "verb"), [(0.75, "keeps"), (1.0, "keeps"), (1.25, "reaches")])
def test_a_trade_off_in_words(kept: float, verb: str) -> None:
    """More than all is not kept; and chance is told by how often it makes such a difference."""
    p = float(binomtest(5, 14).pvalue)
    found = TradeOff(
        sides=(side(0.5), side(0.5 * kept)),
        task="classify",
        metric="accuracy",
        num_examples=20,
        num_timed=20,
        paired=Paired(both=3, only_first=5, only_second=9, neither=3, p_value=p),
    )
    told = in_words(("a", "b"), found)
    assert f"{verb} {kept:.1%} of its accuracy" in told
    assert f"in {p:.0%} of cases" in told
