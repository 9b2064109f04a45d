"""The minimal-pair page on a tiny checkpoint, without a browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.plots.formats import signed
from app.screens.minimal_pair import page as minimal_pair
from bertcore import Bert, load
from bertcore.analysis import aligned_attention, aligned_likelihoods, compare_pair, patch_versions
from bertcore.analysis import patching as core_patching
from bertcore.analysis.words.training_example import example_version
from bertcore.model.checkpoints.source import SHIPPED
from bertcore.model.network import ALL_HEADS
from bertcore.training.grammar import PairFile, accuracies, bundled_pairs, exam, score_bundled_pairs
from tests.support.opened import (
    button,
    complaints,
    finish_jobs,
    named_charts,
    numbers,
    ok,
    page_of,
    said,
    with_results,
)
from tests.support.tiny import tiny_bert, tiny_config

A, B = "the cat [MASK] on the mat", "it had rained"
OTHER = "the dogs [MASK] not on the mat"
SCORED = {"text_a": "the dogs had rained", "text_b": "", "other_a": "the dog had not rained"}
PATCHED = {"text_a": "the cat [MASK] on the mat", "other_a": "the dog [MASK] in the mat"}

Opened = Callable[..., AppTest]


@pytest.fixture
def opened(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> Opened:
    def page(folder: str | Path = checkpoint, **query: str) -> AppTest:
        monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
        texts = {"text_a": A, "text_b": B, "other_a": OTHER}
        return page_of("minimal_pair", seconds=120, **{**texts, **query}).run()

    return page


def charts(app: AppTest) -> dict[str, Any]:
    return named_charts(ok(app), "minimal-pair")


def cells(app: AppTest, name: str) -> np.ndarray:
    return numbers(charts(app)[name][0]["z"])


def test_every_picture_is_the_cores(opened: Opened, bert: Bert) -> None:
    app = opened(pair_attention="1", pair_vectors="1")
    drawn = charts(app)
    assert list(drawn) == ["words", "next-sentence", "vectors", "heads", "attention"]
    wanted = compare_pair(bert, A, OTHER, (B, B))
    change = wanted.attention_change
    layer, head = map(int, np.unravel_index(change.argmax(), change.shape))
    attention = aligned_attention(bert, A, OTHER, (B, B), layer, head)
    difference = attention.second - attention.first
    np.testing.assert_allclose(cells(app, "attention"), difference, atol=1e-6)
    np.testing.assert_allclose(cells(app, "vectors"), wanted.hidden_change, atol=1e-6)
    np.testing.assert_allclose(cells(app, "heads"), change, atol=1e-6)
    assert wanted.next_first is not None
    assert wanted.next_second is not None
    answers = [numbers(bar["x"]) for bar in drawn["next-sentence"][:2]]
    is_next = [[wanted.next_first.is_next], [wanted.next_second.is_next]]
    np.testing.assert_allclose(answers, is_next, atol=1e-6)
    (shift,) = wanted.shifts
    for bar, p in zip(drawn["words"], (shift.before, shift.after), strict=False):
        np.testing.assert_allclose(numbers(bar["x"]), p, atol=1e-6)
    strip = next(e.proto.body for e in app.get("html") if "aligned" in e.proto.body)
    assert all(f">{token}</bdi>" in strip for token in ("cat", "dog", "##s", "not"))
    gaps = sum(None in column for column in wanted.alignment.columns)
    assert strip.count('title="no token here"') == gaps == 2


@pytest.mark.parametrize("other", ["", "  \n"])
def test_without_a_second_version_an_example_is_shown(
    opened: Opened, bert: Bert, other: str
) -> None:
    app = ok(opened(other_a=other, pair_vectors="1"))
    version = example_version(bert, A, B)
    assert version is not None
    assert f"{version.replacement} in place of {version.original}" in said(app).replace("*", "")
    assert "vectors" in charts(app)
    app = ok(button(app, "Edit it").click().run())
    assert app.session_state["other_a"] == version.text
    assert app.session_state["other_b"] == version.text_pair


def test_the_same_text_says_so_and_draws_nothing(opened: Opened) -> None:
    app = ok(opened(other_a=A, pair_vectors="1"))
    assert "The two versions are the same" in said(app)
    assert not charts(app)
    app = ok(button(app, "Copy the first version").click().run())
    assert (app.session_state["other_a"], app.session_state["other_b"]) == (A, B)
    app = ok(app.text_area(key="other_a").set_value(A.replace("cat", "dog")).run())
    assert "vectors" in charts(app)


@pytest.mark.parametrize("example", minimal_pair.EXAMPLES, ids=lambda e: e.title)
def test_examples(opened: Opened, example: minimal_pair.Example) -> None:
    app = ok(button(ok(opened(other_b="he bought milk")), example.title).click().run())
    boxes = [app.session_state[name] for name in ("text_a", "text_b", "other_a")]
    assert boxes == [example.first, example.text_b, example.second]
    names = set(charts(app))
    assert ("words" in names) == ("[MASK]" in example.first)
    assert ("next-sentence" in names) == bool(example.text_b)


def test_a_checkpoint_without_heads_shows_what_differs_inside(
    opened: Opened, tmp_path: Path
) -> None:
    app = opened(tiny_bert(heads=ALL_HEADS - {"mlm", "nsp"}).save(tmp_path), pair_many="1")
    assert "no masked-word (MLM) head" in said(app)
    assert list(charts(app)) == ["vectors"]


# ---- which version is more probable ----


@pytest.mark.parametrize("is_causal", [False, True])
def test_the_more_probable_version(
    opened: Opened, bert: Bert, tmp_path: Path, *, is_causal: bool
) -> None:
    if is_causal:
        bert = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    app = opened(bert.save(tmp_path), **SCORED)
    both = aligned_likelihoods(bert, SCORED["text_a"], SCORED["other_a"])
    first, second = both.sums
    text, ahead = said(app), "first" if first > second else "second"
    comparison = "is more probable" if is_causal else "scores higher"
    assert f"The {ahead} version {comparison} by {abs(first - second):.2f} nats" in text
    assert f"−{-first:.2f} and −{-second:.2f}" in text
    assert ("from those before it" in text) == is_causal
    drawn = cells(app, "likelihood")
    np.testing.assert_allclose(np.nansum(drawn[:2], 1), both.sums, atol=1e-4)
    np.testing.assert_allclose(drawn[2], drawn[0] - drawn[1], atol=1e-5)
    # dogs is "dog" and "##s" here: the second version lacks one, and the first lacks "not"
    assert np.isnan(drawn[:2]).sum(1).tolist() == [1, 1]
    assert "no question" not in text


@pytest.mark.parametrize(
    "query",
    [
        {"text_a": "the dog had [MASK]"},
        {"other_a": "the dog had [MASK]"},
        {"text_b": "it had rained"},
    ],
)
def test_it_is_not_shown_beside_another_question(opened: Opened, query: dict[str, str]) -> None:
    assert "likelihood" not in charts(opened(**{**SCORED, **query}))


def test_a_long_text_waits_in_line(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minimal_pair, "AT_ONCE", 3)
    app = ok(opened(**SCORED))
    finish_jobs()
    assert "likelihood" in charts(app.run())


@pytest.mark.skipif(
    not (SHIPPED["default"] / "model.safetensors").is_file(), reason="it is not here"
)
def test_the_example_of_agreement_says_what_the_shipped_checkpoint_does() -> None:
    bert = load(SHIPPED["default"], device="cpu")
    example = next(each for each in minimal_pair.EXAMPLES if each.title == "Agreement")
    lengths = {bert.trace(text).num_tokens for text in (example.first, example.second)}
    assert len(lengths) == 1

    def best(text: str) -> str:
        return bert.fill_mask(text, top_k=1)[0][0][0]

    assert [best(text) for text in (example.first, example.second)] == ["was", "were"]
    found = patch_versions(bert, example.first, example.second)
    assert (found.word, found.other) == ("was", "were")  # what the text speaks of


# ---- which states carry the difference ----


def patched(opened: Opened, **query: str) -> AppTest:
    return with_results(opened(**{"text_b": "", "pair_states": "1", **query}))


@pytest.mark.parametrize("words", [(), ("sat", "runs")])
@pytest.mark.parametrize(
    ("direction", "told"),
    [("denoising", "bring the answer back"), ("noising", "lost without it")],
)
def test_the_map_is_the_cores(
    opened: Opened, bert: Bert, direction: Any, told: str, words: Any
) -> None:
    typed = dict(zip(("patch_word", "patch_other_word"), words, strict=False))
    app = ok(patched(opened, **PATCHED, patch_direction=direction, **typed))
    wanted = patch_versions(bert, *PATCHED.values(), None, direction, *words)
    np.testing.assert_allclose(cells(app, "patching"), wanted.patched.shares, atol=1e-5)
    assert f"{signed(wanted.patched.first)} in the first version" in said(app)
    assert f"{wanted.word} − {wanted.other}" in said(app)
    assert told in said(app)


def test_without_a_mask_a_token_is_hidden(opened: Opened, bert: Bert) -> None:
    texts = ("the cat sat on the mat", "the dog sat in the mat")
    app = ok(patched(opened, text_a=texts[0], other_a=texts[1]))
    wanted = patch_versions(bert, *texts)
    assert wanted.hidden is not None
    np.testing.assert_allclose(cells(app, "patching"), wanted.patched.shares, atol=1e-5)
    assert "is hidden in both versions" in said(app)


@pytest.mark.parametrize(
    ("first", "second", "query", "sentence"),
    [
        (*PATCHED.values(), {"patch_word": "zebra"}, "'zebra' is not a single piece"),
        ("cat", "dog", {}, "no token in common"),
        ("the cat [MASK] " * 6, "the dog [MASK] " * 6, {}, "at most 12 are patched here"),
    ],
)
def test_versions_that_cannot_be_patched(
    opened: Opened,
    first: str,
    second: str,
    query: dict[str, str],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(core_patching, "MOST_PLACES", 12)
    assert sentence in complaints(patched(opened, text_a=first, other_a=second, **query))


def test_versions_of_unequal_length_are_told(opened: Opened) -> None:
    app = patched(opened, text_a="the old cat [MASK] on it", other_a="the dogs [MASK] it")
    assert "The versions have" in said(app)
    assert cells(app, "patching").size


# ---- many pairs ----


def test_many_pairs(opened: Opened, bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = bundled_pairs()
    few = PairFile(ours.pairs[:40:4], ours.columns)
    monkeypatch.setattr(exam, "bundled_pairs", lambda: few)
    app = with_results(opened(pair_many="1"))
    everything, *groups = accuracies(score_bundled_pairs(bert), few.columns)
    assert f"**{everything.accuracy:.1%}**" in said(app)
    (dots,) = charts(app)["many"]
    wanted = sorted((g.accuracy for g in groups if g.column == "phenomenon"), reverse=True)
    np.testing.assert_allclose(numbers(dots["x"]), wanted)
