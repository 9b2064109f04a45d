"""Which version is more probable: the exam's scores, token by token, and where it is shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.minimal_pair import answers
from app.minimal_pair.compared import EXAMPLES
from app.plots import plain
from bertcore import Bert, load
from bertcore.checkpoints.source import SHIPPED
from bertcore.grammar import (
    MinimalPair,
    log_likelihoods,
    score_pairs,
    token_log_likelihoods,
)
from tests.support.opened import finish_jobs, named_charts, numbers, ok, page_of, said
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_others import make_other

FIRST, SECOND = "the dogs had rained", "the dog had not rained"


@pytest.fixture
def causal() -> Bert:
    network = tiny_network(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    return Bert(network, tiny_tokenizer())


@pytest.fixture
def opened(checkpoint: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    def page(folder: str = checkpoint, **query: str) -> AppTest:
        monkeypatch.setenv("BERTSCOPE_CHECKPOINT", folder)
        texts = {"text_a": FIRST, "text_b": "", "other_a": SECOND}
        return ok(page_of("minimal_pair", seconds=120, **{**texts, **query}).run())

    return page


def exam(bert: Bert) -> tuple[float, float]:
    (score,) = next(score_pairs(bert, [MinimalPair(FIRST, SECOND, (), 1)]))
    return score.good, score.bad


def test_tokens_sum_to_the_exams_scores(bert: Bert, causal: Bert) -> None:
    for one in (bert, causal):
        found = [token_log_likelihoods(one, text) for text in (FIRST, SECOND)]
        assert [np.nansum(scores) for scores in found] == pytest.approx(exam(one), abs=1e-5)
        for scores, text in zip(found, (FIRST, SECOND), strict=True):
            assert len(scores) == one.trace(text).num_tokens
            assert np.isnan(scores[[0, -1]]).all()  # [CLS] and [SEP]
            assert not np.isnan(scores[1:-1]).any()


def test_what_no_token_begins_is_scored_from_its_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_other("GPT2LMHeadModel", tmp_path)
    gpt = load(tmp_path, device="cpu")
    scores = token_log_likelihoods(gpt, "the river bank")
    assert not np.isnan(scores).any()
    expected = log_likelihoods(gpt, [gpt.tokenize("the river bank")])[0]
    assert scores.sum() == pytest.approx(expected, abs=1e-5)
    monkeypatch.setattr("bertcore.likelihood.longest_sentence", lambda bert: 2)
    with pytest.raises(ValueError, match=r"tokens; expected at most 2"):
        token_log_likelihoods(gpt, "the river bank")


def test_the_page_gives_the_exams_verdict(opened: Callable[..., AppTest], bert: Bert) -> None:
    app = opened()
    first, second = exam(bert)
    text = said(app)
    ahead = "first" if first > second else "second"
    assert f"The {ahead} version scores higher by {abs(first - second):.2f} nats" in text
    assert f"−{-first:.2f} and −{-second:.2f}" in text
    rows, difference = named_charts(app, "minimal-pair")["likelihood"]
    drawn = numbers(rows["z"])
    assert [np.nansum(row) for row in drawn[:2]] == pytest.approx([first, second], abs=1e-4)
    np.testing.assert_allclose(numbers(difference["z"])[2], drawn[0] - drawn[1], atol=1e-5)
    # dogs is "dog" and "##s" here: the second version lacks one, and the first lacks "not"
    assert np.isnan(drawn[:2]).sum(1).tolist() == [1, 1]
    assert "no question" not in text


def test_the_python_shown_gives_the_sums(opened: Callable[..., AppTest], bert: Bert) -> None:
    names: dict[str, Any] = {}
    code = next(c.value for c in opened().code if "pseudo_log_likelihoods(" in c.value)
    exec(f"{code}\nsums = pseudo_log_likelihoods(bert, texts)", names)
    assert names["sums"].tolist() == pytest.approx(exam(bert))


def test_a_model_that_reads_from_the_left(
    opened: Callable[..., AppTest], causal: Bert, tmp_path: Path
) -> None:
    app = opened(str(causal.save(tmp_path / "causal")))
    first, second = exam(causal)
    assert f"−{-first:.2f} and −{-second:.2f}" in said(app)
    assert "from those before it" in said(app)
    exec(next(c.value for c in app.code if "log_likelihoods(" in c.value), {})


@pytest.mark.parametrize(
    "query",
    [
        {"text_a": "the dog had [MASK]"},
        {"other_a": "the dog had [MASK]"},
        {"text_b": "it had rained"},
    ],
)
def test_it_is_not_shown_beside_another_question(
    opened: Callable[..., AppTest], query: dict[str, str]
) -> None:
    assert "likelihood" not in named_charts(opened(**query), "minimal-pair")


def test_a_long_text_waits_in_line(
    opened: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "AT_ONCE", 3)
    app = opened()
    finish_jobs()
    assert "likelihood" in named_charts(ok(app.run()), "minimal-pair")


@pytest.mark.skipif(
    not (SHIPPED["default"] / "model.safetensors").is_file(), reason="it is not here"
)
def test_the_example_of_agreement_says_what_the_shipped_checkpoint_does() -> None:
    bert = load(SHIPPED["default"], device="cpu")
    example = next(one for one in EXAMPLES if one.title == "Agreement")
    lengths = {bert.trace(text).num_tokens for text in (example.first, example.second)}
    assert len(lengths) == 1

    def best(text: str) -> str:
        return bert.fill_mask(text, top_k=1)[0][0][0]

    assert [best(text) for text in (example.first, example.second)] == ["was", "were"]
    quoted = "The books that the man found [MASK] old."
    assert plain("[MASK]").join(quoted.split("[MASK]")) in example.note
    (plural, likely), (singular, nearly) = bert.fill_mask(quoted, top_k=2)[0]
    assert (plural, singular) == ("were", "was")
    assert likely < 1.5 * nearly
