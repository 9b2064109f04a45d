"""The Heads page on a tiny checkpoint, without a browser."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.screens.heads import job
from app.shell import stored
from app.shell.jobs.compute import STORED
from bertcore import load
from bertcore.analysis.heads.report import HeadReport, report_heads
from bertcore.analysis.heads.sinks import find_sinks
from bertcore.analysis.heads.texts import bundled_sentences, bundled_trees
from tests.support.opened import charts as figures
from tests.support.opened import numbers as values
from tests.support.opened import ok, page_of, said
from tests.support.tiny import bert_with_sink

ROW = "{}\t{}\t_\t_\t_\t_\t{}\t{}\t_\t_\n"


@pytest.fixture(scope="module")
def own(checkpoint: str) -> HeadReport:
    return report_heads(load(checkpoint), bundled_sentences(), bundled_trees())


@pytest.fixture
def page(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)
    return page_of("heads", heads_view=["best", "sinks"])


def table(app: AppTest) -> str:
    (found,) = [
        m.value for m in app.markdown if m.value.startswith("| ") and "| head |" not in m.value
    ]
    return str(found)


def best(report: HeadReport, key: str) -> tuple[int, int]:
    """Return the head with the highest mean."""
    mean = next(measured.mean for measured in report.measured if measured.key == key)
    layer, head = np.unravel_index(np.nanargmax(mean), mean.shape)
    return int(layer), int(head)


def test_opens_with_all_heads_and_the_best_one(page: AppTest, own: HeadReport) -> None:
    app = ok(page.run())
    grid, bars = figures(app)
    expected = own.statistics.of("to_previous")
    np.testing.assert_allclose(values(grid["data"][0]["z"]), expected.mean, rtol=1e-5)
    layer, head = best(own, "to_previous")
    assert grid["layout"]["shapes"][0]["x0"] == head - 0.5
    assert grid["layout"]["shapes"][0]["y0"] == layer - 0.5
    assert f"What layer {layer} head {head} attends to" == bars["layout"]["title"]["text"]
    assert expected.mean[layer, head] in values(bars["data"][0]["x"])
    assert f"{expected.mean[layer, head]:.1%}" in said(app)


def test_a_stored_report_has_one_button_for_both_views(
    page: AppTest, own: HeadReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(function: Callable[..., object], *_: object) -> stored.Stored | None:
        return stored.Stored("heads", own) if function is job._report else None

    monkeypatch.setattr(stored, "find", find)
    app = ok(page.run())
    assert table(app)
    assert [button.key for button in app.button if button.label == STORED] == ["anew_heads"]


def test_every_row_of_the_list_leads_to_its_head_and_an_example(
    page: AppTest, own: HeadReport
) -> None:
    app = ok(page.run())
    rows = table(app).splitlines()[2:]
    assert len(rows) == 10
    assert rows[0].startswith("| the token before |")
    layer, head = best(own, "to_previous")
    assert f"[**{layer}.{head}**](" in rows[0]
    for row in rows:
        (address,) = re.findall(r"\]\((.*?)\)", row)
        parts = urlsplit(address)
        asked = parse_qs(parts.query)
        assert parts.path == "attention"
        assert f"[**{asked['layer'][0]}.{asked['heads'][0]}**]" in row
        texts = {(s.text, s.text_pair) for s in bundled_sentences().sentences}
        assert (asked["text_a"][0], asked.get("text_b", [None])[0]) in texts


def test_relations_with_their_baseline(page: AppTest, own: HeadReport) -> None:
    page.query_params.update({"heads_list": "to_dependent", "heads_measure": "obj>to_dependent"})
    app = ok(page.run())
    relation = "obj", "to_dependent"
    layer, head = best(own, "obj>to_dependent")
    offset, baseline = own.scores.baseline(*relation)
    (row,) = [line for line in table(app).splitlines() if line.startswith("| obj\\: ")]
    expected = own.scores.accuracy(*relation).mean
    assert f"[**{layer}.{head}**](" in row
    assert f"{expected[layer, head]:.0%}" in row
    assert f"{baseline:.0%} ({offset:+d})" in row
    np.testing.assert_allclose(values(figures(app)[0]["data"][0]["z"]), expected)
    assert "of our own" in said(app)


def test_a_question_is_answered_with_the_best_head(page: AppTest, own: HeadReport) -> None:
    app = ok(page.run())
    assert app.pills(key="heads_find").value == "to_previous"
    assert "of its attention goes to the token before" in said(app)
    app.pills(key="heads_find").set_value("obj>to_dependent").run()
    relation = "obj", "to_dependent"
    found = best(own, "obj>to_dependent")
    accuracy, low, high = (part[found] for part in own.scores.accuracy(*relation))
    named = "**Layer {} head {}** does it most".format(*found)
    answer = said(ok(app))
    assert f"{named}: from a verb" in answer
    assert f"in {accuracy:.1%} of {own.scores.cases(*relation)} cases" in answer
    assert f"{low:.1%} to {high:.1%}" in answer
    assert f"is right in {own.scores.baseline(*relation)[1]:.1%}" in answer
    assert app.query_params["heads_measure"] == "obj>to_dependent"
    colours = figures(app)[0]["data"][0]["colorbar"]["title"]["text"]
    assert colours.startswith("obj: direct object")
    app.selectbox(key="heads_open").set_value("1.2").run()
    assert "**Layer 1 head 2**" in said(ok(app))
    app.pills(key="heads_find").set_value(None).run()  # clicked again: back to its best head
    assert app.pills(key="heads_find").value == "obj>to_dependent"
    assert named in said(ok(app))
    app.selectbox(key="heads_measure").set_value("entropy").run()
    assert app.pills(key="heads_find").value is None


def test_another_measure_opens_its_best_head_and_any_head_can_be_chosen(
    page: AppTest, own: HeadReport
) -> None:
    app = ok(page.run())
    app.selectbox(key="heads_open").set_value("1.2").run()
    assert figures(ok(app))[1]["layout"]["title"]["text"] == "What layer 1 head 2 attends to"
    assert app.query_params["heads_open"] == "1.2"
    app.selectbox(key="heads_measure").set_value("entropy").run()
    layer, head = best(own, "entropy")
    title = figures(ok(app))[1]["layout"]["title"]["text"]
    assert title == f"What layer {layer} head {head} attends to"
    assert "heads_open" not in app.query_params


def test_pasted_sentences(page: AppTest) -> None:
    page.query_params["heads_source"] = "pasted"
    app = ok(page.run())
    assert "Write or paste your sentences" in said(app)
    assert not figures(app)
    hostile = "</script><img src=x onerror=alert(1)> | [a](http://evil) `b` $c$ **d** ![e](f)"
    app.text_area(key="my_sentences").set_value(f"the river bank\n{hostile}\n{hostile}").run()
    ok(app)
    assert "mean over 3 sentences" in said(app)
    shown = table(app)
    assert "](http" not in shown
    assert "<img" not in shown.replace("\\<img", "")
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 7 for line in shown.splitlines())
    assert "from text A to text B" not in shown  # no pair, no such habit
    app.text_area(key="my_sentences").set_value("hi").run()
    ok(app)
    assert "too few for an interval" in said(app)


def test_a_line_break_in_a_cell_of_a_csv_file_ends_no_row_of_the_list(page: AppTest) -> None:
    page.query_params["heads_source"] = "file"
    app = ok(page.run())
    data = b'text\n"The river rose\nduring the night."\n"He was\r\n\r\nlate."\n'
    app.file_uploader(key="heads_upload").upload("x.csv", data, "text/csv").run()
    (shown,) = [m.value for m in ok(app).markdown if m.value.startswith("| ")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 7 for line in shown.splitlines())
    assert "The river rose during the night" in shown


def test_an_uploaded_treebank_measures_both(page: AppTest) -> None:
    page.query_params.update({"heads_source": "file", "heads_list": "to_head"})
    app = ok(page.run())
    assert "Upload a text or CSV file" in said(app)
    tree = ROW.format(1, "the", 2, "det") + ROW.format(2, "bank", 0, "root") + "\n"
    app.file_uploader(key="heads_upload").upload("x.conllu", tree.encode() * 6, "text/plain").run()
    ok(app)
    assert "mean over 6 sentences" in said(app)
    assert "| det\\: article\\, determiner |" in table(app)
    assert "100% (+1)" in table(app)
    assert "of our own" not in said(app)
    damaged = tree.replace("\t2\t", "\t9\t", 1).encode()
    app.file_uploader(key="heads_upload").upload("y.conllu", damaged, "text/plain").run()
    assert "Line 1 of" in app.error[0].value
    assert not app.exception


def test_sinks_with_their_words_and_numbers_and_none(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "No head gives half of its attention to one of [CLS]" in said(ok(page.run()))
    bert = bert_with_sink("idle")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(bert.save(tmp_path / "sink")))
    app = ok(page_of("heads", heads_view="sinks").run())
    (rows,) = [m.value for m in app.markdown if m.value.startswith("| head |")]
    found = find_sinks(bert, bundled_sentences().sentences)
    assert len(found) == len(rows.splitlines()) - 2 == 1
    assert {line.replace("\\|", "").count("|") for line in rows.splitlines()} == {9}  # 8 columns
    (row,) = rows.splitlines()[2:]
    assert row.startswith("| [**0.1**](attention?")
    numbers = " | ".join(
        f"{number:.0%}"
        for sink in found
        for number in (sink.attention, sink.value_norm, sink.share, sink.constancy, sink.rank_one)
    )
    assert row.endswith(f" | \\[CLS\\] | idle | {numbers} |")
    assert "Measured on 60 texts" in said(app)
