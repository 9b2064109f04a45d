"""The page Probes: the core's scores and answers, its own files, two checkpoints, odd texts."""

from __future__ import annotations

import json
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.canvas.shared import transport
from app.probes import by_layer, grid_figures, live, source
from app.probes.by_layer import Named
from app.probes.drawing import labels_message, tree_message
from app.shell import uploads
from bertcore import Bert
from bertcore.probes import ProbeReport, ProbeSettings, Score, Task, label_scores, run_probes
from bertcore.probes.live import draw_trees, label_words
from tests.support.opened import (
    button,
    charts,
    complaints,
    numbers,
    ok,
    page_of,
    said,
    with_results,
)
from tests.support.small_treebank import conll, conllu
from tests.support.tiny import tiny_bert

TEXT = "The river went bank."
HOSTILE = "<img src=x onerror=alert(1)> [a](http://x) $x$ \u202eabc {brace}"
TREEBANK = conllu(60)


@pytest.fixture(autouse=True)
def _checkpoint(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)


def opened(file: str = TREEBANK, name: str = "a.conllu", **query: str) -> AppTest:
    asked: dict[str, Any] = {"probe_source": "file", "text_a": TEXT, "text_b": "", **query}
    app = page_of("probes", **asked).run()
    app.file_uploader(key="probe_upload").upload(name, file.encode(), "text/plain").run()
    return with_results(with_results(app))


def report_of(bert: Bert, task: Task, file: str = TREEBANK, **settings: Any) -> ProbeReport:
    copy = uploads.write_copy("a.conllu", file.encode(), 10**9, "")
    data = source.read_file(copy.path, copy.name, task)
    return run_probes(bert, data, ProbeSettings(max_sentences=300, **settings))


def messages(app: AppTest) -> list[dict[str, Any]]:
    """Return what each drawing was sent."""
    found = []
    for component in app.get("bidi_component"):
        if component.proto.component_name.endswith("bertscope_probes"):
            message = component.proto.bytes
            length = int.from_bytes(message[:4], "little")
            found.append(json.loads(message[4 : 4 + length]))
    return found


def test_the_scores_are_the_cores(bert: Bert) -> None:
    app = ok(opened())
    report = report_of(bert, "pos")
    by_name = {
        chart.proto.id.rpartition("figure_probe-")[2]: json.loads(chart.proto.spec)["data"]
        for chart in app.get("plotly_chart")
    }
    assert set(by_name) == {"scores", "selectivity", "code", "expected", "labels"}
    probe, control, twin = by_name["scores"]
    assert numbers(probe["y"]).tolist() == pytest.approx([r.main.value for r in report.layers])
    assert numbers(control["y"]).tolist() == pytest.approx(
        [r.control.value for r in report.layers if r.control]
    )
    assert numbers(twin["y"]).tolist() == pytest.approx([r.main.value for r in report.twin])
    recall = label_scores(bert, report)
    (cells,) = by_name["labels"]
    assert cells["z"][0] == pytest.approx([row[0].value for row in recall.recall])
    (selectivity,) = by_name["selectivity"]
    assert numbers(selectivity["y"])[1] == pytest.approx(
        report.layers[1].main.value - report.layers[1].control.value  # type: ignore[union-attr]
    )
    assert numbers(by_name["code"][0]["y"])[0] == pytest.approx(
        report.layers[0].code.compression  # type: ignore[union-attr]
    )
    assert "60 sentences: 36 for training, 12 for selection, 12 for testing" in said(app)


def test_the_labels_of_a_text_are_the_cores(bert: Bert) -> None:
    app = ok(opened(probe_layer="1"))
    (message,) = messages(app)
    report = report_of(bert, "pos", control=False, twin=False, code=False, cumulative=False)
    found = label_words(bert, report, TEXT)
    assert tuple(message["words"]) == found.words
    assert tuple(message["labels"]) == found.labels[1]
    assert message["chances"] == pytest.approx(found.probabilities[1].tolist(), abs=1e-4)
    assert message["gold"] is None


@pytest.mark.parametrize("task", ["distance", "depth"])
def test_a_sentence_of_the_file_stands_beside_its_tree(bert: Bert, task: Task) -> None:
    report = report_of(bert, task, twin=False)
    text = report.test[0].text
    app = ok(opened(probe_task=task, probe_layer="2", text_a=text))
    (message,) = messages(app)
    found = draw_trees(bert, report, text)
    if task == "distance":
        assert [tuple(edge) for edge in message["edges"]] == list(found.edges[2])
        assert [tuple(edge) for edge in message["gold"]] == [(0, 1), (1, 2), (2, 3)]
        assert f"{found.num_right(2)} of 3 edges match the file" in said(app)
    else:
        assert message["depths"] == pytest.approx(found.depths[2].tolist(), rel=1e-3)
        assert message["gold"] == [2, 1, 0, 1, 1]
    assert len(charts(app)) == 1 + ("spearman" in report.layers[0].scores)
    assert "thousands of sentences" in said(app)


def test_a_sentence_of_the_test_part_goes_into_the_box(bert: Bert) -> None:
    app = ok(opened())
    report = report_of(bert, "pos", control=False, twin=False, code=False, cumulative=False)
    app.selectbox(key="probe_sentence").set_value(3).run()
    assert ok(app).text_area(key="text_a").value == report.test[3].text
    (message,) = messages(app)
    assert message["gold"] == ["DET", "NOUN", "VERB", "NOUN", "PUNCT"]
    found = label_words(bert, report, report.test[3].text)
    best = report.best.layer
    num_right = sum(a == b for a, b in zip(found.labels[best], found.gold or (), strict=True))
    assert f"{num_right} of 5 words match the file" in said(app)
    app.text_area(key="text_a").set_value("Another text").run()
    assert ok(app).selectbox(key="probe_sentence").value is None


def test_all_layers_stand_side_by_side(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_figures, "MOST_WORDS", 12)
    report = report_of(bert, "pos", control=False, twin=False, code=False, cumulative=False)
    text = report.test[0].text
    app = ok(opened(probe_view="all", text_a=text, text_b=f"{HOSTILE} river"))
    assert messages(app) == []
    grid = next(c for c in app.get("plotly_chart") if "probe-sentence-layers" in c.proto.id)
    drawn = json.loads(grid.proto.spec)["data"]
    found = label_words(bert, report, text)
    right, wrong_ones = (np.array(cells["text"]) for cells in drawn)
    rows = np.where(right == "", wrong_ones, right)  # each cell is in one of them
    assert len(rows) == 12
    for place in range(5):
        assert rows[place].tolist() == [labels[place] for labels in found.labels]
    gold = found.gold or ()
    wrong = sum(a != b for labels in found.labels for a, b in zip(labels, gold, strict=True))
    assert wrong, "or the test sees no pink cell"
    assert sum(cell is not None for row in drawn[1]["z"] for cell in row) == wrong
    assert "the first 12 of" in said(app)


def test_grids_of_two_checkpoints_stand_below_each_other(bert: Bert) -> None:
    report = report_of(bert, "pos", control=False, twin=False, code=False, cumulative=False)
    found = label_words(bert, report, "the river went bank .")
    shown = [grid_figures.Sentence(name, found) for name in ("a", "b<i>")]
    drawn = grid_figures.label_grid(shown, is_dark=True)
    (_, first), (_, second) = (drawn.domain(row, 1) for row in (1, 2))
    assert second[1] < first[0]
    assert "b&lt;i&gt;" in json.dumps(drawn.settings)
    recall = label_scores(bert, report)
    both = [grid_figures.Recall(name, recall) for name in ("a", "b")]
    assert len(grid_figures.recall_grid(both).traces) == 2
    assert len(grid_figures.recall_table(both)) == 2 * 3 * len(recall.labels)


def test_entities_of_a_conll_file() -> None:
    app = ok(opened(conll(40, entities=True), "tags.txt", probe_task="ner"))
    names = [chart.proto.id.rpartition("figure_probe-")[2] for chart in app.get("plotly_chart")]
    assert names[:2] == ["scores", "second-score"]
    curves = [
        {trace["name"] for trace in json.loads(chart.proto.spec)["data"]}
        for chart in app.get("plotly_chart")[:2]
    ]
    assert ["control task" in drawn for drawn in curves] == [False, True]
    assert said(app).count("above always giving the most common label") == 1
    assert {*messages(app)[0]["labels"]} <= {"O", "B-PER"}


def test_two_checkpoints(tmp_path: Path, bert: Bert) -> None:
    other = tiny_bert(seed=3).save(tmp_path / "a [b](c) <i>")
    app = ok(opened(probe_with=str(other), text_b="A second one"))
    drawn = messages(app)
    assert len(drawn) == 4  # two texts by two checkpoints
    assert drawn[0]["words"] == drawn[2]["words"]
    scores = next(c for c in app.get("plotly_chart") if "probe-scores" in c.proto.id)
    shown = [trace["name"] for trace in json.loads(scores.proto.spec)["data"]]
    assert len(shown) == 6
    assert sum("&lt;i&gt;" in name for name in shown) == 3
    code = next(c.value for c in app.code if "selectivity" in c.value)
    assert f"bertcore.load({str(other)!r})" in code


def test_the_python_gives_what_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.conllu").write_text(TREEBANK)
    app = ok(opened(probe_layer="1"))
    for code, name in ((app.code[0].value, "found"), (app.code[1].value, "reports")):
        names: dict[str, Any] = {}
        exec(compile(code, "shown", "exec"), names)
        if name == "found":
            assert list(names["found"].labels[1]) == messages(app)[0]["labels"]
        else:
            spec = next(c for c in app.get("plotly_chart") if "probe-scores" in c.proto.id)
            drawn = numbers(json.loads(spec.proto.spec)["data"][0]["y"]).tolist()
            assert drawn == pytest.approx([r.main.value for r in names["reports"][0].layers])


@pytest.mark.parametrize(
    ("file", "name", "task", "noun"),
    [
        (conllu(5), "a.conllu", "pos", "at least 20"),
        (conll(30, tags="X"), "a.txt", "pos", "only the label"),
        (conll(30), "a.txt", "distance", "needs trees"),
        ("", "a.conllu", "pos", "no sentence"),
        ("one\ntwo\n\n" * 30, "<b>.txt", "pos", "bad rows"),
        ("\u4e00 X\n\u4e8c Y\n\n" * 3, "a.txt", "pos", "at least 20"),
    ],
)
def test_files_that_cannot_be_probed_are_told_in_a_sentence(
    file: str, name: str, task: str, noun: str
) -> None:
    wrong = complaints(opened(file, name, probe_task=task))
    assert noun in wrong
    assert "/tmp" not in wrong


@pytest.mark.parametrize("task", ["pos", "distance", "depth"])
def test_any_text_is_drawn(task: str) -> None:
    app = opened(probe_task=task)
    for text in (HOSTILE, "和平 שלום 🕊️", "[MASK]", "zq" * 500, "river " * 90):
        app.text_area(key="text_a").set_value(text).run()
        (message,) = messages(ok(with_results(app)))
        assert message["words"]
        limits = [box.value for box in app.warning if "but the limit is" in box.value]
        assert len(limits) == (text == "river " * 90)


def test_a_text_without_a_word_is_not_drawn() -> None:
    app = opened()
    for text in ("\u200b\u200d", "\u2060"):
        app.text_area(key="text_a").set_value(text).run()
        assert messages(ok(with_results(app))) == []
        assert "Nothing in this text is a word" in said(app)
        assert len(charts(app)) == 5


def test_a_file_is_asked_for_and_kept() -> None:
    app = ok(page_of("probes", probe_source="file", text_a=TEXT).run())
    assert "CoNLL-U" in said(app)
    app.file_uploader(key="probe_upload").upload("my.conllu", TREEBANK.encode(), "text/plain").run()
    app = ok(with_results(with_results(app)))
    app.file_uploader(key="probe_upload").set_value(None)  # as after another page
    app.run()
    assert "Your last file is still here: 'my.conllu'" in said(ok(app))


def test_an_address_that_asks_for_too_much() -> None:
    app = ok(opened(probe_task="none", probe_layer="77", probe_sentences="-5"))
    assert messages(app)[0]["kind"] == "labels"


def test_the_first_visit_shows_the_scores_before_their_controls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = ok(page_of("probes", text_a=TEXT, probe_sentences="100", seconds=120).run())
    (scores,) = app.get("plotly_chart")
    assert len(json.loads(scores.proto.spec)["data"]) == 1
    assert button(app, "Stop")
    ok(with_results(app))
    assert len(app.get("plotly_chart")) == 5


def test_what_is_sent_holds_every_word_and_edge(bert: Bert) -> None:
    report = report_of(bert, "distance", twin=False)
    found = draw_trees(bert, report, HOSTILE)
    sent = tree_message(found, 1)
    length = int.from_bytes(sent[:4], "little")
    header = json.loads(sent[4 : 4 + length])
    assert header["words"] == list(found.words)
    assert [tuple(edge) for edge in header["edges"]] == list(found.edges[1])
    assert header["gold"] is None
    assert transport.change(sent, layer=9) != sent
    labels = label_words(bert, report_of(bert, "pos", twin=False, code=False), HOSTILE)
    assert labels_message(labels, 0)[4:] != labels_message(labels, 1)[4:]


def test_the_tables_hold_every_number(bert: Bert) -> None:
    report = report_of(bert, "pos")
    table = by_layer.report_table([Named("a", report)])
    trained = table[table["network"] == "trained"]
    assert trained["layer"].tolist() == [0, 1, 2]
    assert trained["up_to_here"].tolist() == list(report.cumulative)
    assert trained["accuracy"].tolist() == [r.main.value for r in report.layers]
    assert (table["network"] == "untrained").sum() == 3
    assert len(table) == 3 + 3 + len(report.baselines)
    assert sum(by_layer.gains(report)) == pytest.approx(report.cumulative[-1])
    words = live._labels_table(label_words(bert, report, TEXT))
    assert isinstance(words, pd.DataFrame)
    assert len(words) == 3 * 5
    trees = draw_trees(bert, report_of(bert, "distance", twin=False), TEXT)
    edges = live._edges_table(trees)
    assert edges["predicted"].sum() == sum(map(len, trees.edges))
    assert edges["gold"].isna().all()


def test_the_expected_layer_is_told(bert: Bert) -> None:
    report = report_of(bert, "pos", twin=False, code=False)
    told = by_layer._told(replace(report, expected_layer=Score(1.5, 1.25, 2.75)))
    assert told == "Here it is 1.5 (1.2 to 2.8)."
    assert "outside" in by_layer._told(replace(report, expected_layer=Score(-1.5, -3, 2.5)))
    assert "too small" in by_layer._told(replace(report, expected_layer=Score(2.5, nan, nan)))
    assert "none" in by_layer._told(replace(report, expected_layer=None))
