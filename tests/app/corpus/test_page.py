"""The page Corpus: the core's neighbours, odd corpora, other checkpoints, closed servers."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.corpus import senses as senses_view
from app.shell import stored
from app.sources import encoded_corpus as source
from bertcore import load
from bertcore.corpus import EncodeSettings, encode_corpus, open_encoded
from bertcore.corpus.search import Neighbours, Places, neighbours, open_index, query_of, word_senses
from bertcore.corpus.search.index import index_folder
from bertcore.corpus.search.places import tag_shares
from tests.support.encoded_table import encode_trees
from tests.support.opened import charts, complaints, ok, page_of, said, with_results
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_bert

TEXT = "The river bank was steep."
HOSTILE = "<img src=x onerror=alert(1)> [bank](http://x) $x$ `a` the bank \u202eabc"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert().save(tmp_path_factory.mktemp("corpus") / "tiny")


@pytest.fixture(scope="module")
def encoded(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("encoded")
    documents = [*small_documents(30), [HOSTILE]]
    corpus = write_documents(place / "text.txt", documents)
    encode_corpus(load(folder, device="cpu"), corpus, place / "a", EncodeSettings(layers=(0, 1, 2)))
    return place / "a"


@pytest.fixture(autouse=True)
def _checkpoint(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    st.cache_resource.clear()
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))


def opened(place: Path | str, **query: str) -> AppTest:
    asked = {"corpus": "folder", "corpus_folder": str(place), "text_a": TEXT, **query}
    return with_results(page_of("corpus", **asked).run())


def expected(folder: Path, place: Path, position: int, layer: int, k: int = 25) -> Neighbours:
    found = open_encoded(place)
    query = query_of(load(folder, device="cpu").trace(TEXT), position, found)
    index = open_index(found, layer)
    return neighbours(index, Places(found), query, layer, k, own_text=TEXT)


def rounded(found: Neighbours) -> Any:
    """Return what the cosines of the hits are, to the three digits of the page."""
    return pytest.approx([hit.cosine for hit in found.hits], abs=6e-4)


class _Rows(HTMLParser):
    """The cells of a table as a browser reads them: their texts, and the addresses of links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self._is_in_cell = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {*"div table colgroup col thead tbody tr th td bdi a span".split()}, tag
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._is_in_cell = True
        elif tag == "a":
            self.links.append(dict(attrs)["href"] or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._is_in_cell = False

    def handle_data(self, data: str) -> None:
        if self._is_in_cell:
            self.rows[-1][-1] += data


def shown(app: AppTest) -> pd.DataFrame:
    (table,) = [element.proto.body for element in app.get("html") if "<table" in element.proto.body]
    found = _Rows(table)
    names, *cells = found.rows
    rows = pd.DataFrame(cells, columns=names)
    rows["cosine"] = rows["cosine"].astype(float)
    if len(found.links) == len(rows):
        rows["open"] = found.links
    return rows


def test_the_hits_are_the_cores(folder: Path, encoded: Path) -> None:
    app = ok(opened(encoded, corpus_token="3", corpus_layer="1"))
    found = expected(folder, encoded, 3, 1)
    table = shown(app)
    assert table["cosine"].tolist() == rounded(found)
    assert table["token"].tolist() == [hit.text[hit.start : hit.end] for hit in found.hits]
    for row, hit in zip(table.to_dict("records"), found.hits, strict=True):
        assert " ".join(hit.text.split()).startswith(row["before"].strip("…")[:5])
        address = urlsplit(row["open"])
        assert address.path == "attention"
        assert parse_qs(address.query)["text_a"] == [hit.text]
    assert "bank" in said(app)
    names: dict[str, Any] = {}
    exec(compile(app.code[0].value, "shown", "exec"), names)
    assert names["found"].same_word == found.same_word


def test_the_stories_are_read_on_first_use_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(source.CACHE, str(tmp_path))
    monkeypatch.setattr(source, "STARTS", {"part": 0.02, "whole": 1.0})
    app = ok(with_results(page_of("corpus", text_a=TEXT).run()))
    assert len(shown(app)) == 25
    (place,) = tmp_path.iterdir()
    manifest = open_encoded(place).manifest
    assert manifest.settings.sample == 0.02
    assert manifest.layers == (0, 1, 2)
    before = (place / "_about" / "manifest.json").stat().st_mtime_ns
    assert len(shown(ok(page_of("corpus", text_a=TEXT).run()))) == 25
    assert (place / "_about" / "manifest.json").stat().st_mtime_ns == before
    shutil.rmtree(place)  # as when others needed the room
    assert len(shown(ok(with_results(page_of("corpus", text_a=TEXT).run())))) == 25
    assert place.is_dir()


def test_the_first_hits_are_stored_and_the_stories_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(source.CACHE, str(tmp_path))
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", "default")
    monkeypatch.setattr(stored, "_is_of_sources", lambda called: True)
    app = ok(page_of("corpus").run())
    assert not app.get("progress")
    assert len(shown(app)) == 25
    assert [button.label for button in app.button if button.key == "anew_nearest"]
    assert "sentences. *The Wind in the Willows*" in said(app)
    (code,) = {element.value.partition("\n\nencoded")[0] for element in app.code}
    assert "encode_corpus(bert, STORIES, 'vectors', " in code.replace('"', "'")
    assert shown(ok(app.select_slider(key="corpus_layer").set_value(1).run())).size
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(source, "_encode", _is_refused)
    other = with_results(page_of("corpus", corpus_token="2").run())  # is not stored
    assert "It is read now" in complaints(other)
    anew = with_results(app.button(key="anew_nearest").click().run())
    assert "It is read now" in complaints(anew)


def _is_refused(*_: object) -> None:
    raise ValueError("It is read now")


def test_the_longest_unused_stories_make_room(tmp_path: Path) -> None:
    for age in range(6):
        (tmp_path / f"stories-{age}").mkdir()
        os.utime(tmp_path / f"stories-{age}", (1e9 - age, 1e9 - age))
    (tmp_path / ".stories-left").mkdir()
    os.utime(tmp_path / ".stories-left", (1e9, 1e9))
    (tmp_path / ".stories-at-work").mkdir()
    source._delete_old(tmp_path)
    kept = {".stories-at-work", "stories-0", "stories-1", "stories-2"}
    assert {path.name for path in tmp_path.iterdir()} == kept


@pytest.mark.parametrize("unit", ["word", "sentence"])
def test_rows_of_words_and_of_sentences(folder: Path, tmp_path: Path, unit: str) -> None:
    corpus = write_documents(tmp_path / "text.txt", small_documents(20))
    settings = EncodeSettings(layers=(1,), unit=unit)  # type: ignore[arg-type]
    encode_corpus(load(folder, device="cpu"), corpus, tmp_path / "out", settings)
    app = ok(opened(tmp_path / "out", corpus_token="3"))
    found = expected(folder, tmp_path / "out", 3, 1)
    assert shown(app)["cosine"].tolist() == pytest.approx(
        [hit.cosine for hit in found.hits], abs=6e-4
    )
    caption = "the whole text at layer 1" if unit == "sentence" else "the framed token's word"
    assert f"{unit}s " in said(app)
    assert caption in said(app)
    assert ("framed token" in said(app)) == (unit == "word")


def cosines(folder: Path, place: Path) -> Any:
    found = expected(folder, place, 3, 2)
    return pytest.approx([hit.cosine for hit in found.hits], abs=6e-4)


def test_every_row_is_compared_until_an_index_is_built(
    folder: Path, encoded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(shutil.copytree(encoded, tmp_path / "copy"))
    index = index_folder(open_encoded(place), 2)
    shutil.rmtree(index, ignore_errors=True)
    monkeypatch.setattr(source, "EXACT_ROWS", 10)
    app = ok(opened(place, corpus_token="3", corpus_layer="2"))
    assert "Every row is compared: layer 2 has no index" in said(app)
    assert shown(app)["cosine"].tolist() == cosines(folder, place)
    assert not index.is_dir()
    assert "open_index(encoded, 2, exact=True)" in " ".join(code.value for code in app.code)
    app.button(key="build_corpus_index").click().run()
    app = ok(with_results(app))
    assert (index / "about.json").is_file()
    assert shown(app)["cosine"].tolist() == cosines(folder, place)
    assert "no index" not in said(app)
    (snippet,) = {code.value for code in app.code if "found.same_before" in code.value}
    assert "open_index(encoded, 2)" in snippet
    names: dict[str, Any] = {}
    exec(compile(snippet, "shown", "exec"), names)
    assert shown(app)["cosine"].tolist() == rounded(names["found"])


def test_without_usearch_every_row_is_still_compared(
    folder: Path, encoded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise ValueError("usearch is not installed. Install it.")

    place = Path(shutil.copytree(encoded, tmp_path / "copy"))
    shutil.rmtree(index_folder(open_encoded(place), 2), ignore_errors=True)
    monkeypatch.setattr(source, "EXACT_ROWS", 10)
    monkeypatch.setattr("bertcore.corpus.search.index.check_usearch", missing)
    app = ok(opened(place, corpus_token="3", corpus_layer="2"))
    app.button(key="build_corpus_index").click().run()
    app = with_results(app)
    assert "search is not installed" in complaints(app)
    assert shown(app)["cosine"].tolist() == cosines(folder, place)


def test_larger_corpora_get_an_index(
    folder: Path, encoded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "EXACT_ROWS", 10)
    monkeypatch.setattr(source, "SCANNED_ROWS", 10)
    app = ok(opened(encoded, corpus_token="3", corpus_layer="2"))
    assert (index_folder(open_encoded(encoded), 2) / "about.json").is_file()
    found = expected(folder, encoded, 3, 2)
    assert shown(app)["cosine"].tolist() == pytest.approx(
        [hit.cosine for hit in found.hits], abs=6e-4
    )
    (about,) = [index_folder(open_encoded(encoded), 2) / "about.json"]
    text = about.read_text()
    about.write_text(text.replace('"fingerprint": "', '"fingerprint": "0'))
    assert "was made by the checkpoint" in complaints(opened(encoded, corpus_layer="2"))
    about.write_text(text)


def test_a_corpus_of_another_checkpoint_is_refused_with_both_names(
    encoded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tiny_bert(seed=5).save(tmp_path / "other")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(other))
    wrong = complaints(opened(encoded))
    assert "tiny" in wrong
    assert "other" in wrong


def test_folders_that_are_none(tmp_path: Path) -> None:
    assert "bertscope encode" in said(ok(opened("")))
    assert "has no encoded corpus" in complaints(opened(tmp_path))


@pytest.mark.parametrize("text", [HOSTILE, "和平 שלום 🕊️", "[MASK]", "zq" * 500])
def test_any_text_is_shown_as_text(encoded: Path, text: str) -> None:
    app = ok(opened(encoded, text_a=text, corpus_token="3", corpus_count="100"))
    assert len(shown(app)) == 100


def test_an_address_that_asks_for_too_much(encoded: Path) -> None:
    query = {"corpus_token": "999", "corpus_layer": "77", "corpus_count": "-1"}
    assert len(shown(ok(opened(encoded, corpus_target="nowhere", **query)))) == 25


def test_a_closed_server_opens_no_folder(
    encoded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = replace(source.policy(), is_closed=True)
    monkeypatch.setattr(source, "policy", lambda: closed)
    monkeypatch.setattr(source.visits, "root", lambda: tmp_path)
    monkeypatch.setattr(source, "STARTS", {"part": 0.02, "whole": 1.0})
    app = ok(opened(encoded))
    assert [path.name for path in tmp_path.iterdir()] == ["corpora"]
    assert str(tmp_path) not in app.code[0].value
    assert str(encoded) not in str(shown(app)) + said(app)


def test_tags_of_a_treebank_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoded: Path
) -> None:
    trees = encode_trees(tmp_path)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path / "tiny"))
    app = ok(opened(trees.folder, text_a="the river rained", corpus_token="2", corpus_layer="0"))
    assert "How they are tagged" in [heading.value for heading in app.header]
    titles = [
        [note["text"] for note in chart["layout"].get("annotations", [])] for chart in charts(app)
    ]
    assert ["upos", "xpos", "deprel"] in titles
    bars = charts(app)[titles.index(["upos", "xpos", "deprel"])]["data"]
    found = expected_tags(tmp_path / "tiny", trees.folder)
    for bar, (_, listed) in zip(bars, found.items(), strict=True):
        assert bar["customdata"] == [share.word for share in listed]
        assert bar["x"] == [share.num / 25 for share in listed]
    names: dict[str, Any] = {}
    snippet = next(code.value for code in app.code if "tag_shares(found" in code.value)
    exec(compile(snippet, "shown", "exec"), names)
    assert names["tag_shares"](names["found"].hits) == found
    plain = ok(opened(encoded))
    assert "How they are tagged" not in [heading.value for heading in plain.header]


def expected_tags(folder: Path, place: Path) -> Any:
    found = open_encoded(place)
    query = query_of(load(folder, device="cpu").trace("the river rained"), 2, found)
    index = open_index(found, 0)
    near = neighbours(index, Places(found), query, 0, 25, own_text="the river rained")
    return tag_shares(near.hits)


def test_senses_are_the_cores_and_their_python_gives_them(encoded: Path) -> None:
    app = ok(opened(encoded, corpus_view="senses", corpus_layer="1", senses_groups="2"))
    found = word_senses(Places(open_encoded(encoded)), "bank", (0, 1, 2), num_groups=2)
    senses = found.by_layer[1]
    assert f"bank occurs {found.num_found} times in the corpus" in said(app)
    titles = [heading.value for heading in app.subheader]
    assert len(titles) == len(senses.groups) == 2
    for sense, title in zip(senses.groups, titles, strict=True):
        assert f"{sense.num} occurrences" in title
    text = found.occurrences[senses.groups[0].examples[0]].text
    assert text.split()[0] in said(app)
    names: dict[str, Any] = {}
    exec(compile(app.code[-1].value, "shown", "exec"), names)
    assert names["found"].by_layer[1].silhouette == senses.silhouette


def test_a_split_word_is_told_once_where_its_place_is_pointed_at(encoded: Path) -> None:
    found = word_senses(Places(open_encoded(encoded)), "bank", (1,))
    hit = found.occurrences[0]
    place = hit.text.lower().index("bank")
    split = replace(hit, word=hit.text[place : place + 4], start=place, end=place + 2)
    drawn = replace(found, occurrences=(split, *found.occurrences[1:]))
    fig = senses_view.occurrence_map(senses_view.AtLayer(drawn, found.by_layer[0]))
    first = fig.traces[int(found.by_layer[0].labels[0])]["customdata"][0]
    assert f"<b>{split.word}</b>{hit.text[place + 4 :][:5]}" in first


@pytest.mark.parametrize("word", ["zebra", "<img src=x>", "[a](b)"])
def test_words_that_are_not_there(encoded: Path, word: str) -> None:
    wrong = complaints(opened(encoded, corpus_view="senses", senses_word=word))
    assert word in wrong
    assert "at least 8" in wrong
    assert "Type a word" in said(ok(opened(encoded, corpus_view="senses", senses_word=" ")))
