"""The page BERT, GPT, ELMo: the core's numbers, with and without a twin; odd texts."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from app.screens.architectures import drawing, page
from app.screens.architectures.page import LEAKS, NUM, POSITIONS, TABLE, WRITES, Readers
from app.shell import cache, frame
from bertcore import load
from bertcore.analysis.space.position_table import position_tables
from bertcore.analysis.words.continuation import continue_text, write_with_masks
from bertcore.analysis.words.leakage import paths_back
from bertcore.analysis.words.readings import (
    ApartReading,
    Reading,
    read_apart,
    read_both_sides,
    read_left,
    read_one_side,
    read_three_ways,
)
from bertcore.lessons.papers import read_papers
from bertcore.model.checkpoints.source import CAUSAL, SHIPPED
from bertcore.model.network import ALL_HEADS
from tests.support.exhaustive import spread
from tests.support.opened import (
    PAIR,
    charts,
    component_data,
    numbers,
    ok,
    page_of,
    said,
    shown_names,
    with_results,
)
from tests.support.tiny import tiny_bert, tiny_config

TEXT = "The old man sat on the mat."
MAN = 3
HOSTILE = "</script><img src=x onerror=alert(1)> \u202eabc. $x$ `a` {b} [SEP] | <b>no</b>."


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("architectures")
    causal = tiny_config(is_decoder=True)
    unilm = tiny_bert(seed=3, heads=frozenset({"mlm"}))
    unilm.objective = "unilm"
    return {
        "unilm": unilm.save(root / "unilm"),
        "bert": tiny_bert(seed=1).save(root / "bert"),
        "twin": tiny_bert(causal, seed=2, heads=frozenset({"mlm"})).save(root / "twin"),
        "neither": tiny_bert(heads=ALL_HEADS - {"mlm"}).save(root / "neither"),
    }


@pytest.fixture
def open_page(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return what runs the page on a checkpoint, with the tiny ones in place of those that ship."""
    monkeypatch.setitem(SHIPPED, "default", folders["bert"])
    st.cache_resource.clear()  # what ships is kept by its name

    def opened(name: str, *, twin: bool = True, **query: str) -> AppTest:
        if twin:
            monkeypatch.setitem(SHIPPED, CAUSAL, folders["twin"])
        else:
            monkeypatch.delitem(SHIPPED, CAUSAL, raising=False)
        monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folders[name]))
        app = page_of("architectures")
        app.query_params.update({"text_a": TEXT, **query})
        return ok(with_results(app.run()))

    yield opened
    st.cache_resource.clear()


def sent(app: AppTest, key: str) -> dict[str, Any]:
    """Return what the page's drawing is sent that has this key."""
    found = component_data(app)
    one: dict[str, Any]
    *_, one = [data for data in found if key in data]  # that of the heading, if one is open
    for panel in one.get("panels", ()):
        for net in panel["nets"]:
            net["weights"] = decoded(net, len(panel["tokens"]))
    return one


def decoded(net: dict[str, Any], size: int) -> NDArray[np.float32]:
    """Return the weights of a network as its drawing reads them."""
    values = np.frombuffer(base64.b64decode(net["weights"]), "<u2")
    return (values * drawing.UNIT).astype(np.float32).reshape(net["layers"], size, size)


def guesses(panel: dict[str, Any]) -> list[tuple[str, float]]:
    return [(word, probability) for word, probability in panel["best"]]


@pytest.mark.parametrize("name", ["bert", "twin"])
def test_three_networks_are_the_cores(open_page: Any, folders: dict[str, Path], name: str) -> None:
    """Either checkpoint in the sidebar: the other one stands beside it."""
    app = open_page(name, word=str(MAN))
    panels = sent(app, "panels")["panels"]
    assert [panel["name"] for panel in panels] == ["BERT", "GPT", "ELMo"]
    bert, twin = load(folders["bert"]), load(folders["twin"])
    read_both = read_both_sides(bert, TEXT, None, MAN)
    from_left = read_left(twin, TEXT, None, (0, TEXT.index("man")))
    read_two = read_apart(bert, TEXT, None, MAN)
    expected: tuple[Reading | ApartReading, ...] = (read_both, from_left, read_two)
    for panel, reading in zip(panels, expected, strict=True):
        assert [word for word, _ in guesses(panel)] == [word for word, _ in reading.best]
        found = [probability for _, probability in guesses(panel)]
        assert found == pytest.approx([p for _, p in reading.best], rel=1e-4)
        assert (panel["token"], panel["rank"]) == ("man", reading.rank)
        assert panel["probability"] == pytest.approx(reading.probability, rel=1e-4)
    both, left, apart = panels
    for net, weights in (
        (both["nets"][0], read_both.weights),
        (left["nets"][0], from_left.weights),
        (apart["nets"][0], read_two.left.weights),
        (apart["nets"][1], read_two.right.weights),
    ):
        np.testing.assert_allclose(net["weights"], weights, atol=1e-4)
        np.testing.assert_array_equal(np.array(net["weights"]) > 0, weights > 0)
    assert (both["nets"][0]["reader"], left["nets"][0]["reader"]) == (MAN, MAN - 1)
    assert (both["unread"], left["unread"]) == (len(both["tokens"]), MAN)
    assert "trained on the next token" in left["note"]
    assert "not ELMo's LSTMs" in apart["note"]


def test_without_a_twin_bert_reads_the_left(open_page: Any, folders: dict[str, Path]) -> None:
    panels = sent(open_page("bert", twin=False, word=str(MAN)), "panels")["panels"]
    found = read_one_side(load(folders["bert"]), TEXT, None, MAN, "left")
    assert dict(guesses(panels[1])) == pytest.approx(dict(found.best), rel=1e-4)
    assert "not trained this way" in panels[1]["note"]
    assert panels[1]["unread"] == MAN + 1


def test_the_python_gives_what_is_drawn(open_page: Any) -> None:
    for twin in (True, False):
        app = open_page("bert", twin=twin, word=str(MAN))
        panels = sent(app, "panels")["panels"]
        sights = shown_names(app, "read_three_ways")["result"]
        readings = (sights.both, sights.left, sights.apart)
        for panel, reading in zip(panels, readings, strict=True):
            assert dict(guesses(panel)) == pytest.approx(dict(reading.best), rel=1e-4)


def test_a_token_of_the_twin_is_found_in_bert(folders: dict[str, Path]) -> None:
    """GPT reads a pair as running text, without the separator between."""
    keys = [cache.bert_key(str(folders[name])) for name in ("bert", "twin")]
    readers = Readers(frame.Page(keys[0], *PAIR.values(), True, False), keys[1])
    joined = cache.trace(keys[1], " ".join(PAIR.values()))
    found = read_three_ways(readers.bert, *PAIR.values(), MAN, cache.opened(keys[1]))
    tokens = readers.trace.tokens
    for number, token in enumerate(joined.tokens):
        place = page.same_token(readers, found, "GPT", number)
        if joined.text_ids[number] < 0:
            assert place is None
        else:
            assert place is not None
            assert tokens[place] == token
    assert page.same_token(readers, found, "BERT", tokens.index("[SEP]")) is None
    assert page.same_token(readers, found, "ELMo", 3) == 3


def test_what_comes_back(open_page: Any, folders: dict[str, Path]) -> None:
    app = open_page("bert", word=str(MAN), architectures_view=LEAKS)
    bert, twin = load(folders["bert"]), load(folders["twin"])
    paths = paths_back(bert, bert.trace(TEXT))
    both, left = sent(app, "panels")["panels"]
    assert f"{paths.returned[MAN]:.1%}" in both["result"]
    assert left["result"] == "Nothing comes back"
    first, second = np.array(both["nets"][0]["weights"])
    clear = paths.out[:, MAN] >= drawing.NOTHING
    np.testing.assert_allclose(first[clear, MAN], paths.out[clear, MAN], atol=1e-4)
    assert not np.delete(first, MAN, axis=1).any()
    assert not np.delete(second, MAN, axis=0).any()
    chart = charts(app)[0]["data"]
    assert list(numbers(chart[0]["y"])) == pytest.approx(paths.returned.tolist(), abs=1e-5)
    assert np.abs(numbers(chart[1]["y"])).max() < 1e-5
    assert chart[1]["name"] == "GPT: nothing"
    own = paths_back(twin, twin.trace(TEXT))
    assert np.abs(own.reaches_the_one_before).max() < 1e-6


def test_what_reaches_the_vector_before_by_hand(folders: dict[str, Path]) -> None:
    bert = load(folders["bert"])
    paths = paths_back(bert, bert.trace(TEXT))
    found = paths.reaches_the_one_before
    assert found[0] == 0
    for place in (1, MAN):
        expected = sum(
            paths.back[place - 1, j] * paths.out[j, place] for j in range(len(paths.out))
        )
        assert found[place] == pytest.approx(expected, rel=1e-4)


def test_both_write(open_page: Any, folders: dict[str, Path]) -> None:
    app = open_page("bert", architectures_view=WRITES, written_tokens="5")
    bert, twin = load(folders["bert"]), load(folders["twin"])
    start = page.first_half(TEXT)
    assert start == "The old man"
    went_on, filled = continue_text(twin, start, 5), write_with_masks(bert, start, 5)
    data = sent(app, "masks")
    assert [one["token"] for one in data["next"]["written"]] == [w.token for w in went_on.written]
    found = [one["probability"] for one in data["next"]["written"]]
    assert found == pytest.approx([w.probability for w in went_on.written], rel=1e-4)
    assert data["next"]["before"] == ["the", "old", "man"]
    assert data["masks"]["places"] == list(filled.places)
    for shown, step in zip(data["masks"]["steps"], filled.steps, strict=True):
        assert (shown["position"], shown["word"]) == (step.position, step.word)
        np.testing.assert_allclose(shown["weights"], step.weights, atol=1e-4)


def test_draws_have_a_temperature_and_a_seed(open_page: Any, folders: dict[str, Path]) -> None:
    query = {"architectures_view": WRITES, "temperature": "1.5", "written_tokens": "8"}
    app = open_page("bert", written_seed="7", **query)
    twin = load(folders["twin"])
    expected = continue_text(twin, "The old man", 8, temperature=1.5, seed=7)
    first = [one["token"] for one in sent(app, "masks")["next"]["written"]]
    assert first == [one.token for one in expected.written]
    again = next(one for one in app.button if one.label == "Draw again")
    app = ok(with_results(again.click().run()))
    assert [one["token"] for one in sent(app, "masks")["next"]["written"]] != first


def test_without_a_twin_bert_writes_alone(open_page: Any) -> None:
    app = open_page("bert", twin=False, architectures_view=WRITES)
    data = sent(app, "masks")
    assert data["next"] is None
    assert len(data["masks"]["steps"]) == NUM.default
    assert "No next-token network is open" in said(app)


def test_a_unilm_writes_in_both_ways(open_page: Any, folders: dict[str, Path]) -> None:
    app = open_page("unilm", twin=False, architectures_view=WRITES)
    data = sent(app, "masks")
    assert data["next"]["name"].startswith("UniLM: ")
    unilm = load(folders["unilm"])
    found = continue_text(unilm, page.first_half(TEXT), NUM.default)
    assert [one["token"] for one in data["next"]["written"]] == [t.token for t in found.written]
    assert shown_names(app, "write_both")["result"].following == found


def test_positions_and_the_table(open_page: Any, folders: dict[str, Path]) -> None:
    app = open_page("twin", architectures_view=POSITIONS)
    tables = position_tables(load(folders["twin"]))
    maps, lines = (chart["data"] for chart in charts(app))
    for drawn, cosines in zip(maps, (tables.learned_cosines, tables.sinusoid_cosines), strict=True):
        np.testing.assert_allclose(numbers(drawn["z"]), cosines, atol=1e-3)
    drawn = [numbers(line["y"]) for line in lines]
    np.testing.assert_allclose(drawn[0], tables.learned_by_distance, atol=1e-3)
    np.testing.assert_allclose(drawn[1], tables.sinusoids_by_distance, atol=1e-3)
    assert f"{tables.cosines.mean():z.2f}" in said(app)
    shown = said(open_page("bert", architectures_view=TABLE))
    for contrast in read_papers().contrasts:
        assert f"| {contrast.elmo} | {contrast.gpt} | {contrast.bert} |" in shown


def test_a_checkpoint_that_guesses_nothing(open_page: Any) -> None:
    app = open_page("neither", word=str(MAN))
    assert "predicts neither masked nor next tokens" in said(app)
    assert [panel["name"] for panel in sent(app, "panels")["panels"]] == ["BERT", "GPT", "ELMo"]


@pytest.mark.parametrize(
    ("text", "view"),
    spread(
        [HOSTILE, "it", "The [MASK] sat", "mat " * 200],
        ["", LEAKS, WRITES],
    ),
)
def test_odd_texts(open_page: Any, text: str, view: str) -> None:
    query = {"architectures_view": view} if view else {}
    app = open_page("bert", text_a=text, text_b="It had rained." if view else "", **query)
    assert not app.exception
    if not view:
        for panel in sent(app, "panels")["panels"]:
            assert len(panel["tokens"]) <= drawing.MOST_ROWS
            assert 0 <= panel["place"] <= len(panel["tokens"])
            assert 0 <= panel["nets"][0]["reader"] < len(panel["tokens"])
        if "[MASK]" in text:
            assert {panel["token"] for panel in sent(app, "panels")["panels"]} == {None}


@pytest.mark.parametrize("place", ["-3", "999", "x"])
def test_an_address_with_another_place(open_page: Any, place: str) -> None:
    panels = sent(open_page("bert", word=place), "panels")["panels"]
    assert panels[0]["tokens"][panels[0]["place"]] == "[MASK]"
