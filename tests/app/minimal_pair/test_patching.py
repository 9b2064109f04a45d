"""Activation patching on the page: the core's numbers, its Python, and pairs it cannot patch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.minimal_pair import many_pairs, patching
from app.minimal_pair.page import MANY, WHERE
from app.minimal_pair.patching import PATCHING
from app.plots.formats import signed
from app.shell import uploads
from bertcore import Bert
from bertcore.analysis.patching import (
    PatchText,
    Place,
    class_answer,
    patch,
    patch_pair,
    patch_path,
    patch_texts,
    read_texts,
    word_answer,
)
from bertcore.data.files import BadRows
from bertcore.tasks.checkpoint_head import read_task_head
from tests.support.opened import complaints, named_charts, numbers, ok, page_of, said, with_results
from tests.support.telling_words import telling_words
from tests.support.tiny_others import make_other
from tests.support.tiny_tasks import make_task

FIRST, SECOND = "the cat [MASK] on the mat", "the dog [MASK] in the mat"


def opened(text_a: str, other_a: str, **query: str) -> AppTest:
    app = page_of(
        "minimal_pair", seconds=120, text_a=text_a, other_a=other_a, pair_view=WHERE, **query
    )
    return with_results(app.run())


@pytest.fixture(autouse=True)
def _on_tiny(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", checkpoint)


def charts(app: AppTest) -> dict[str, Any]:
    return named_charts(app, "minimal-pair")


@pytest.mark.parametrize("part", ["state", "head", "attention", "feed_forward"])
def test_the_map_is_the_cores(bert: Bert, part: Any) -> None:
    app = ok(opened(FIRST, SECOND, patch_part=part, patch_direction="noising"))
    pair = patch_pair(bert, (FIRST, None), (SECOND, None))
    answer = word_answer(bert, pair)
    found = patch(bert, pair, answer, part, "noising")
    drawn = charts(app)
    assert list(drawn) == ["patching", "path"]
    np.testing.assert_allclose(numbers(drawn["patching"][0]["z"]), found.shares, atol=1e-5)
    assert f"{signed(found.first)} in the first version" in said(app)
    assert f"{answer.name} − {answer.other}" in said(app)
    assert ("align token by token" in said(app)) == (part != "head")
    path = patch_path(bert, pair, answer, Place("attention", 0), Place("answer"), "noising")
    assert f"a share of **{path.share:+.1%}**" in said(app)
    code = [c.value for c in app.code if "patch" in c.value]
    assert len(code) == 2
    for shown, expected in zip(code, (found.shares, path.share), strict=True):
        names: dict[str, Any] = {}
        exec(shown, names)  # what the visitor would run
        result = names["found"]
        value = result.shares if "patch_path(" not in shown.splitlines()[-2] else result.share
        np.testing.assert_allclose(value, expected, atol=1e-5)


def test_words_and_the_path_are_chosen(bert: Bert) -> None:
    query = {"patch_word": "sat", "patch_other_word": "runs"}
    query |= {"patch_sender": "head 0.2", "patch_receiver": "feed-forward 1"}
    app = ok(opened(FIRST, SECOND, **query))
    pair = patch_pair(bert, (FIRST, None), (SECOND, None))
    answer = word_answer(bert, pair, "sat", "runs")
    found = patch_path(bert, pair, answer, Place("head", 0, 2), Place("feed_forward", 1))
    assert f"a share of **{found.share:+.1%}**" in said(app)
    receiver = next(box for box in app.selectbox if box.label == "Receiver")
    assert "attention 0" not in receiver.options  # it is not behind a head of layer 0
    assert receiver.options[-1] == "the answer"


def test_without_a_mask_a_common_token_is_hidden(bert: Bert) -> None:
    texts = "the cat sat on the mat", "the dog sat in the mat"
    app = ok(opened(*texts))
    box = next(box for box in app.selectbox if box.label == "Hidden in both")
    assert all("cat" not in option for option in box.options)
    box.set_value(6)
    app = ok(with_results(app.run()))
    pair = patch_pair(bert, (texts[0], None), (texts[1], None), hide=6)
    found = patch(bert, pair, word_answer(bert, pair))
    np.testing.assert_allclose(numbers(charts(app)["patching"][0]["z"]), found.shares, atol=1e-5)


def test_versions_that_cannot_be_patched_are_told(
    checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened("the cat [MASK]", "the cat [MASK]"))
    assert "versions are the same" in said(app)
    app = ok(opened("the cat [MASK]", "the CAT [MASK]"))
    assert "same tokens" in said(app)
    assert not charts(app)
    app = ok(opened("the old cat [MASK] on it", "the dogs [MASK] it"))
    assert "do not align token by token" in said(app)
    assert "patching" in charts(app)
    app = opened(FIRST, SECOND, patch_word="zebra")
    assert "'zebra' is not a single piece" in complaints(app)
    app = opened(FIRST, SECOND, patch_other_word="猫")
    assert "'猫' is unknown" in complaints(app)
    monkeypatch.setattr(patching, "MOST_TOKENS", 5)
    app = ok(opened(FIRST, SECOND))
    assert "at most 5 are patched here" in said(app)
    assert not charts(app)
    monkeypatch.setattr(patching, "MOST_TOKENS", 128)
    app = ok(opened("cat", "dog"))
    assert "no token in common" in said(app)


def test_classes_of_a_fine_tuned_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task(tmp_path, labels=("bad", "good", "so-so"))
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    texts = "the cat sat", "the dog sat"
    app = ok(opened(*texts, patch_class="good", patch_other_class="bad"))
    import bertcore

    model = bertcore.load(tmp_path, device="cpu")
    reader = read_task_head(model)
    assert reader is not None
    pair = patch_pair(model, (texts[0], None), (texts[1], None))
    found = patch(model, pair, class_answer(model, reader, pair, "good", "bad"))
    np.testing.assert_allclose(numbers(charts(app)["patching"][0]["z"]), found.shares, atol=1e-4)
    code = next(c.value for c in app.code if "class_answer(" in c.value)
    names: dict[str, Any] = {}
    exec(code, names)
    np.testing.assert_allclose(names["found"].shares, found.shares, atol=1e-4)


def test_the_score_of_a_regression(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_task(tmp_path, labels=("score",))
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path))
    app = ok(opened("the cat sat", "the dog sat"))
    assert "Logit **score**" in said(app)
    code = next(c.value for c in app.code if "class_answer(" in c.value)
    names: dict[str, Any] = {}
    exec(code, names)
    drawn = numbers(charts(app)["patching"][0]["z"])
    np.testing.assert_allclose(drawn, names["found"].shares, atol=1e-4)


def test_another_architecture_has_hidden_states_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_other("DebertaV2ForMaskedLM", tmp_path / "deberta")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path / "deberta"))
    app = ok(opened("The dog sat.", "The cat sat."))
    assert list(charts(app)) == ["patching"]
    make_other("XLNetLMHeadModel", tmp_path / "xlnet")
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(tmp_path / "xlnet"))
    assert "last hidden state alone" in complaints(opened("The dog sat.", "The cat sat."))


def test_many_pairs(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    good = PatchText(FIRST, SECOND, *telling_words(bert, FIRST, SECOND), 1)
    odd = PatchText("the cat [MASK]", "the old cat [MASK]", "sat", "runs", 2)
    monkeypatch.setattr(many_pairs, "bundled_texts", lambda: (good, odd))
    monkeypatch.setattr("bertcore.analysis.patching.many.LEAST_DIFFERENCE", 1e-3)
    found = patch_texts(bert, (good, odd))
    app = page_of("minimal_pair", seconds=120, pair_view=MANY, text_a=FIRST)
    app = ok(with_results(app.run()))
    drawn = numbers(charts(app)["many"][0]["z"])
    np.testing.assert_allclose(drawn, found.shares.mean, atol=1e-5)
    assert "1 pair is left out. Pair 2" in said(app)


def test_a_file_of_pairs_is_read_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"first,second,word_first,word_second\na [MASK],b [MASK],is,are\n,b,c,d\n"

    def read(name: str, data: bytes) -> many_pairs.PairSource:
        return many_pairs._read([uploads.write_copy(name, data, 10**9, "")])

    chosen = read("../x<b>.csv", data)
    assert chosen.texts == (PatchText("a [MASK]", "b [MASK]", "is", "are", 1),)
    assert "1 bad row" in chosen.notes[0]
    with pytest.raises(ValueError, match="no column 'first'") as caught:
        read("../x<b>.csv", b"a,b\n1,2\n")
    assert "/tmp" not in str(caught.value)
    many = data.splitlines()[0] + b"\n" + (data.splitlines()[1] + b"\n") * 501
    chosen = read("x.csv", many)
    assert len(chosen.texts) == 500
    (tmp_path / "x.csv").write_bytes(many + b",b,c,d\n")
    monkeypatch.chdir(tmp_path)
    names = {"read_texts": read_texts, "Path": Path, "BadRows": BadRows}
    assert eval(chosen.code, names) == chosen.texts


def test_the_caption_says_which_way(bert: Bert) -> None:
    for direction, word in (("denoising", "bring the answer back"), ("noising", "lost without it")):
        app = ok(opened(FIRST, SECOND, patch_direction=direction))
        assert word in said(app)
        assert PATCHING.name in json.dumps([c.proto.id for c in app.get("plotly_chart")])
