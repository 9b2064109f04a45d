"""Patching and many pairs on the page: the core's numbers, its Python, pairs that do not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.minimal_pair import many_pairs, patching
from app.plots.formats import signed
from bertcore import Bert
from bertcore.analysis.patching import patch, patch_pair, telling_token, word_answer
from bertcore.data.files import BadRows
from bertcore.grammar import PairFile, accuracies, bundled_pairs, score_pairs
from tests.support.opened import complaints, named_charts, numbers, ok, page_of, said, with_results
from tests.support.tiny import tiny_bert
from tests.support.tiny_others import make_other

FIRST, SECOND = "the cat [MASK] on the mat", "the dog [MASK] in the mat"


def opened(text_a: str, other_a: str, **query: str) -> AppTest:
    texts = {"text_a": text_a, "other_a": other_a, "text_b": ""}
    app = page_of("minimal_pair", seconds=120, pair_states="1", **texts, **query)
    return with_results(app.run())


@pytest.fixture(autouse=True)
def _on_tiny(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)


def shares(app: AppTest) -> np.ndarray:
    return numbers(named_charts(app, "minimal-pair")["patching"][0]["z"])


@pytest.mark.parametrize("words", [(), ("sat", "runs")])
@pytest.mark.parametrize(
    ("direction", "told"),
    [("denoising", "bring the answer back"), ("noising", "lost without it")],
)
def test_the_map_is_the_cores(bert: Bert, direction: Any, told: str, words: Any) -> None:
    typed = dict(zip(("patch_word", "patch_other_word"), words, strict=False))
    app = ok(opened(FIRST, SECOND, patch_direction=direction, **typed))
    pair = patch_pair(bert, (FIRST, None), (SECOND, None))
    answer = word_answer(bert, pair, *words)
    expected = patch(bert, pair, answer, direction)
    np.testing.assert_allclose(shares(app), expected.shares, atol=1e-5)
    assert f"{signed(expected.first)} in the first version" in said(app)
    assert f"{answer.word} − {answer.other}" in said(app)
    assert told in said(app)
    names: dict[str, Any] = {}
    exec(next(c.value for c in app.code if "patch_pair" in c.value), names)
    np.testing.assert_allclose(names["patched"].shares, expected.shares, atol=1e-5)


def test_without_a_mask_the_telling_token_is_hidden(bert: Bert) -> None:
    first, second = ("the cat sat on the mat", None), ("the dog sat in the mat", None)
    app = ok(opened(first[0], second[0]))
    hidden = telling_token(bert, patch_pair(bert, first, second))
    pair = patch_pair(bert, first, second, hide=hidden)
    expected = patch(bert, pair, word_answer(bert, pair)).shares
    np.testing.assert_allclose(shares(app), expected, atol=1e-5)
    assert "is hidden in both versions" in said(app)


@pytest.mark.parametrize(
    ("first", "second", "query", "sentence"),
    [
        (FIRST, SECOND, {"patch_word": "zebra"}, "'zebra' is not a single piece"),
        ("cat", "dog", {}, "no token in common"),
        ("the cat [MASK] " * 6, "the dog [MASK] " * 6, {}, "at most 12 are patched here"),
    ],
)
def test_versions_that_cannot_be_patched(
    first: str, second: str, query: dict[str, str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patching, "MOST_TOKENS", 12)
    assert sentence in complaints(opened(first, second, **query))


def test_versions_of_unequal_length_are_told() -> None:
    app = ok(opened("the old cat [MASK] on it", "the dogs [MASK] it"))
    assert "The versions have" in said(app)
    assert shares(app).size


def test_another_architecture_says_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_other("DebertaV2ForMaskedLM", tmp_path)
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    app = ok(opened("The dog sat.", "The cat sat."))
    assert "read through transformers" in said(app)
    assert "patching" not in named_charts(app, "minimal-pair")


def test_many_pairs(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = bundled_pairs()
    few = PairFile(ours.pairs[:40:4], ours.columns)
    monkeypatch.setattr(many_pairs, "bundled_pairs", lambda: few)
    app = page_of("minimal_pair", seconds=120, pair_many="1", text_a=FIRST)
    app = ok(with_results(app.run()))
    bad_rows = BadRows(skip=True)
    scores = [s for part in score_pairs(bert, few.pairs, bad_rows=bad_rows) for s in part]
    everything, *groups = accuracies(scores, few.columns)
    by_name = {each.group: each for each in groups if each.column == "phenomenon"}
    assert f"**{everything.accuracy:.1%}**" in said(app)
    (dots,) = named_charts(app, "minimal-pair")["many"]
    expected = sorted((each.accuracy for each in by_name.values()), reverse=True)
    np.testing.assert_allclose(numbers(dots["x"]), expected)
    worst = min(by_name.values(), key=lambda each: each.accuracy).accuracy
    (table,) = (frame.value for frame in app.dataframe)
    name = app.selectbox(key="pair_group").options[-1]
    assert by_name[name].accuracy == worst
    assert len(table) == by_name[name].num_pairs
    assert table["good − bad"].is_monotonic_increasing
    assert all(link.startswith("minimal-pair?") for link in table["Minimal pair"])
    app = ok(with_results(app.selectbox(key="pair_group").set_value(next(iter(by_name))).run()))
    assert set(app.dataframe[0].value["phenomenon"]) == {next(iter(by_name))}
    names: dict[str, Any] = {}
    code = next(c.value for c in app.code if "bundled_pairs" in c.value)
    exec(code.replace("file = bundled_pairs()", ""), names | {"file": few})


def test_many_pairs_need_a_head_for_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny_bert(heads=frozenset()).save(tmp_path / "bare")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    app = ok(page_of("minimal_pair", seconds=120, pair_many="1", text_a=FIRST).run())
    assert "no masked-word" in said(app)
