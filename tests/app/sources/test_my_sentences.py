"""The visitor's list: one for all pages that offer it, with the numbers of the core."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.server import visits
from app.server.streamlit_internals import MAX_TYPED
from app.sources import my_sentences
from bertcore import Bert, load
from bertcore.analysis.words.next_sentence import CHANGES, pair_rates
from bertcore.data.texts import read_sentence_list
from tests.support.opened import charts, numbers, ok, page_of, said, shown_names, with_results
from tests.support.tiny import tiny_bert

PAGES = {
    "heads": {"heads_source": my_sentences.MINE},
    "layer_map": {"map_source": my_sentences.MINE, "map_method": "pca"},
    "sentence_pairs": {"sentences_source": my_sentences.MINE, "several": "1"},
}
PAIRS = "the river bank was steep\tthe dog bank was steep\nhe was late ||| she was late\n"
HOSTILE = (
    "</script><img src=x onerror=alert(1)> *x* ![e](http://evil)\t{braces} $c$\n"
    "\x00 a\x00b \u202eabc\tשלום *עולם*\n" + "word " * 700 + "\tthe bank\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    st.cache_resource.clear()
    place = tiny_bert().save(tmp_path_factory.mktemp("mine") / "tiny")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(place))
    return place


@pytest.fixture
def bert(folder: Path) -> Bert:
    return load(folder, device="cpu")


def opened(name: str, text: str | None = None, **query: str) -> AppTest:
    page = page_of(name, **PAGES[name], text_a="The river bank was steep.", text_b="", **query)
    app = page.run()
    if text is not None:
        app.text_area(key="my_sentences").set_value(text).run()
    return with_results(app)


def test_every_page_names_it_in_the_same_words_and_waits_for_it() -> None:
    for name in PAGES:
        app = ok(opened(name))
        assert my_sentences.NOTHING_YET in [info.value for info in app.info], name
        box = app.text_area(key="my_sentences")
        assert (box.label, box.help) == ("My sentences, one per line", my_sentences.FORMAT), name


def test_it_is_kept_across_pages_and_read_from_a_file() -> None:
    app = opened("heads")
    data = b"text,label\nthe *bank* was old,river\nmoney in the bank,cash\n"
    app.file_uploader(key="my_sentences_upload").upload("a.csv", data, "text/csv").run()
    written = "the *bank* was old\triver\nmoney in the bank\tcash"
    assert ok(app).text_area(key="my_sentences").value == written
    assert "mean over 2 sentences" in said(with_results(app))
    app.text_area(key="my_sentences").set_value(f"{written}\nthe dog").run()
    assert "mean over 3 sentences" in said(ok(with_results(app)))  # the file does not come back
    other = page_of("layer_map", **PAGES["layer_map"])
    other.session_state["_my_sentences"] = app.session_state["_my_sentences"]
    app = ok(with_results(other.run()))
    assert app.text_area(key="my_sentences").value == f"{written}\nthe dog"
    assert "1 word is marked" in said(app)
    assert "my_sentences" not in app.query_params


def test_how_often_b_follows_a(bert: Bert) -> None:
    text = "it had rained\nthe river rose\nhe was late\nthe dog sat on the mat"
    app = ok(opened("sentence_pairs", text))
    rates = pair_rates(bert, read_sentence_list(text).consecutive)
    (drawn,) = [c for c in charts(app) if "pairs in which" in str(c["layout"])]
    np.testing.assert_allclose(numbers(drawn["data"][0]["x"]), [rate.follows for rate in rates])
    names = str(drawn["layout"]["yaxis"])
    assert all(f"{change} (3)" in names for change in CHANGES)
    app = ok(opened("sentence_pairs", f"alone\n{PAIRS}"))
    assert any("as written (2)" in str(chart["layout"]["yaxis"]) for chart in charts(app))
    assert "Lines of one sentence are left out: 1." in said(app)
    assert shown_names(app, "pair_rates")["result"] == pair_rates(
        bert, read_sentence_list(PAIRS).pairs
    )


@pytest.mark.parametrize("name", PAGES)
def test_hostile_lines_are_a_sentence_and_no_crash(name: str) -> None:
    app = ok(opened(name, HOSTILE))
    assert "![e](http" not in " ".join(str(m.value) for m in (*app.markdown, *app.caption))
    assert read_sentence_list(app.session_state["_my_sentences"]).lines


def test_of_too_many_lines_the_first_are_kept_and_it_is_said() -> None:
    app = ok(opened("sentence_pairs", "\n".join(f"it {i}" for i in range(20_000))))
    assert "There were 20,000 sentences: the first 500 were taken." in said(app)
    assert len(app.text_area(key="my_sentences").value.splitlines()) == 500
    equal = ok(opened("sentence_pairs", "the same\n" * 500))
    assert "499 lines repeat an earlier one" in said(equal)
    assert any("as written (499)" in str(chart["layout"]["yaxis"]) for chart in charts(equal))


def test_a_file_is_added_to_what_is_written_as_far_as_a_box_sends_it_back() -> None:
    app = opened("heads", "the dog sat")
    data = "\n".join("word " * 200 + str(number) for number in range(400)).encode()
    app.file_uploader(key="my_sentences_upload").upload("a.txt", data, "text/plain").run()
    text = app.session_state["_my_sentences"]
    assert text.startswith("the dog sat\nword word")
    assert len(text) <= MAX_TYPED < len(text) + 1010
    assert "The list takes 200,000 characters" in said(app)
    assert app.text_area(key="my_sentences").value == text


def test_on_a_closed_server_it_is_the_visits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    closed = replace(my_sentences.policy(), is_closed=True)
    monkeypatch.setattr(my_sentences, "policy", lambda: closed)
    visit = visits.Visit(tmp_path)
    monkeypatch.setattr(visits, "current", lambda: visit)
    ok(opened("heads", "the dog sat\nthe bank"))
    again = ok(opened("heads"))  # another tab of the same browser
    assert again.text_area(key="my_sentences").value == "the dog sat\nthe bank"
    assert "mean over 2 sentences" in said(again)
    again.text_area(key="my_sentences").set_value("the dog sat\nthe bank\nit").run()
    (tmp_path / "my_sentences.txt").write_text("of a third tab", encoding="utf-8")
    assert again.run().text_area(key="my_sentences").value == "of a third tab"
    visits_of_others = visits.Visit(tmp_path / "other")
    monkeypatch.setattr(visits, "current", lambda: visits_of_others)
    assert not ok(opened("heads")).text_area(key="my_sentences").value
