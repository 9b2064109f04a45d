"""The view Probe of the layer map: the core's scores, files of one's own, what is refused."""

import gzip
import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.screens.layer_map.views import PROBES
from bertcore import Bert
from bertcore.analysis.probes import ProbeSettings, read_probe_data, run_probes
from tests.support.opened import (
    QUICK,
    complaints,
    numbers,
    ok,
    page_of,
    said,
    shown_names,
    with_results,
)
from tests.support.small_treebank import conll, conllu

TREEBANK = conllu(60)


@pytest.fixture(autouse=True)
def _checkpoint(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)


def opened(file: str | bytes = TREEBANK, name: str = "a.conllu", **query: str) -> AppTest:
    app = page_of("layer_map", map_view="probe", **QUICK, probe_source="file", **query).run()
    data = file.encode() if isinstance(file, str) else file
    app.file_uploader(key="probe_upload").upload(name, data, "text/plain").run()
    return with_results(app)


def test_the_scores_are_the_cores_and_the_python_gives_them(
    bert: Bert, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.conllu").write_text(TREEBANK)
    app = ok(opened(probe_task="dep"))
    settings = ProbeSettings(max_sentences=300)
    report = run_probes(bert, read_probe_data(Path("a.conllu"), "dep"), settings)
    _, chart = app.get("plotly_chart")
    real, control, by_word, majority = json.loads(chart.proto.spec)["data"]
    scores = [layer.accuracy.value for layer in report.layers]
    assert numbers(real["y"]).tolist() == pytest.approx(scores)
    highs = numbers(real["y"]) + numbers(real["error_y"]["array"])
    assert highs.tolist() == pytest.approx([layer.accuracy.high for layer in report.layers])
    assert numbers(control["y"])[1] == pytest.approx(report.layers[1].control.value)
    assert numbers(by_word["y"]).tolist() == pytest.approx([report.by_word.value] * 3)
    assert numbers(majority["y"]).tolist() == pytest.approx([report.majority.value] * 3)
    assert "60 sentences: 36 for training, 12 for selection, 12 for testing" in said(app)
    assert shown_names(app, "run_probes")["result"] == report
    table = PROBES.table(report)
    assert len(table) == 3
    assert table["selectivity_low"].tolist() == [r.selectivity.low for r in report.layers]


def test_a_file_is_asked_for_and_kept() -> None:
    app = ok(page_of("layer_map", map_view="probe", **QUICK, probe_source="file").run())
    assert "CoNLL-U" in said(app)
    app = ok(opened(gzip.compress(conll(40).encode()), "tags.txt.gz"))
    assert app.segmented_control(key="probe_task").options == ["Part of speech, or tag"]
    app.file_uploader(key="probe_upload").set_value(None)  # as after another page
    assert "Your last file is still here: 'tags.txt.gz'" in said(ok(app.run()))


def test_our_treebank_is_probed_and_the_address_may_ask_for_too_much() -> None:
    asked = {"probe_task": "distance", "probe_sentences": "100", "probe_layer": "77"}
    app = ok(with_results(page_of("layer_map", map_view="probe", **QUICK, **asked).run()))
    assert len(app.get("plotly_chart")) == 2
    assert "100 of 1,378 sentences" in said(app)


def test_sentences_whose_tags_do_not_align_are_left_out_and_told() -> None:
    app = ok(opened(conll(25) + "word\nother TAG\n\n", "my tags.txt"))
    assert "1 bad row" in said(app)
    assert "/tmp" not in said(app)


@pytest.mark.parametrize(
    ("name", "data", "noun"),
    [
        ("a.conllu", conllu(5).encode(), "at least 20"),
        ("<b>.txt", b"one\ntwo\n\n" * 30, "bad row"),
        ("a.gz", b"BZh91AY&SY no archive", "not a whole archive"),
    ],
)
def test_files_that_cannot_be_probed_are_told_in_a_sentence(
    name: str, data: bytes, noun: str
) -> None:
    wrong = complaints(opened(data, name))
    assert noun in wrong
    assert "/tmp" not in wrong
