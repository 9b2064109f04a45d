"""Activation patching: equal to hooks on `transformers`, and the properties of its definition."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import Tensor, nn

import bertcore
from bertcore import Bert
from bertcore.analysis import (
    PatchPair,
    PatchText,
    bundled_texts,
    masked_encoding,
    patch,
    patch_pair,
    patch_pairs,
    word_answer,
)
from bertcore.analysis.patching import Answer, regions, telling_token
from tests.support.telling_words import telling_words
from tests.support.tiny import tiny_bert, tiny_config
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

FIRST, SECOND = "the cat [MASK] on the old mat", "the dog [MASK] in the old house"
SHORTER = "the dog [MASK] on mat"
WORDS = "sat", "runs"
LAYERS = 3
TOLERANCE = {"atol": 1e-5, "rtol": 1e-5}
SUBJECTS = ("cat", "house", "man", "film", "fish", "water")
LEAST = 0.02
"""A random network tells little apart."""


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert(tiny_config(num_hidden_layers=LAYERS))


@pytest.fixture(scope="module")
def theirs(bert: Bert, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = bert.save(tmp_path_factory.mktemp("tiny"))
    return transformers.BertForMaskedLM.from_pretrained(folder).eval()


@pytest.fixture
def _tells_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertcore.analysis.patching.LEAST_DIFFERENCE", LEAST)


def pair_of(bert: Bert, second: str = SECOND) -> tuple[PatchPair, Answer]:
    pair = patch_pair(bert, (FIRST, None), (second, None))
    return pair, word_answer(bert, pair, *WORDS)


class Hooks:
    """The plain alternative: hooks on the modules of `transformers`, one whole run a place."""

    def __init__(self, model: Any, bert: Bert, pair: PatchPair, direction: str) -> None:
        self.model = model
        sides = (1, 0) if direction == "denoising" else (0, 1)
        encodings = (pair.first, pair.second)
        self.base, self.source = (torch.tensor([encodings[s].input_ids]) for s in sides)
        self.mine, self.theirs = ([column[s] for column in pair.columns] for s in sides)
        self.mask_id = bert.tokenizer.mask_id
        self.words = [bert.tokenizer.token_to_id(word) for word in WORDS]
        self.states = model(input_ids=self.source, output_hidden_states=True).hidden_states

    def answer(self, ids: Tensor) -> float:
        logits = self.model(input_ids=ids).logits[0]
        at = ids[0].tolist().index(self.mask_id)
        return float(logits[at, self.words[0]] - logits[at, self.words[1]])

    def patched(self, state: int, column: int) -> float:
        def change(module: nn.Module, inputs: Any, output: Any) -> Any:
            hidden = (output[0] if isinstance(output, tuple) else output).clone()
            hidden[0, self.mine[column]] = self.states[state][0, self.theirs[column]]
            return (hidden, *output[1:]) if isinstance(output, tuple) else hidden

        bert = self.model.bert
        module = bert.encoder.layer[state - 1] if state else bert.embeddings
        handle = module.register_forward_hook(change)
        try:
            return self.answer(self.base)
        finally:
            handle.remove()


@pytest.mark.parity
@pytest.mark.parametrize("second", [SECOND, SHORTER])
@pytest.mark.parametrize("direction", ["denoising", "noising"])
@torch.no_grad()
def test_equal_to_hooks_on_transformers(
    bert: Bert, theirs: Any, direction: Any, second: str
) -> None:
    pair, answer = pair_of(bert, second)
    hooks = Hooks(theirs, bert, pair, direction)
    found = patch(bert, pair, answer, direction)
    ends = (found.second, found.first) if direction == "denoising" else (found.first, found.second)
    expected = (hooks.answer(hooks.base), hooks.answer(hooks.source))
    np.testing.assert_allclose(ends, expected, **TOLERANCE)
    values = [
        [hooks.patched(state, n) for n in range(len(pair.columns))] for state in range(LAYERS + 1)
    ]
    np.testing.assert_allclose(found.values, values, **TOLERANCE)


@pytest.mark.parametrize("family", ["DistilBert", "Roberta", "Albert", "ModernBert"])
@torch.no_grad()
def test_nothing_is_the_base_and_everything_is_the_source(family: str, tmp_path: Path) -> None:
    make(f"{family}ForMaskedLM", tmp_path)
    model = bertcore.load(tmp_path, device="cpu")
    mask = model.tokenizer.mask_token
    texts = [f"The {word} {mask} to the shop." for word in ("dog", "cat")]
    pair = patch_pair(model, (texts[0], None), (texts[1], None))
    answer = word_answer(model, pair)
    assert pair.is_aligned
    found = patch(model, pair, answer, groups=[[], range(len(pair.columns))])
    np.testing.assert_allclose(found.shares[:, 0], 0, atol=1e-3)
    np.testing.assert_allclose(found.shares[:, 1], 1, atol=1e-3)
    states = patch(model, pair, answer)
    assert np.abs(states.shares[1:-1]).max() > 0.01
    # The last state is read at the mask alone.
    place = pair.first.input_ids.index(model.tokenizer.mask_id)
    expected = np.eye(len(pair.columns))[place]
    np.testing.assert_allclose(states.shares[-1], expected, atol=1e-3)


@torch.no_grad()
def test_the_order_of_many_rows_is_kept(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    pair, answer = pair_of(bert)
    whole = patch(bert, pair, answer).values
    monkeypatch.setattr("bertcore.analysis.patching.CPU_TOKENS_PER_BATCH", 20)
    done: list[float] = []
    found = patch(bert, pair, answer, on_fraction=done.append)
    np.testing.assert_allclose(found.values, whole, atol=1e-6)
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1)


def test_the_telling_token_is_that_of_one_run_each(bert: Bert) -> None:
    texts = [("the old cat sat on the mat", None), ("the old dog sat on mat", None)]
    pair = patch_pair(bert, *texts)  # type: ignore[arg-type]
    found = {}
    for column, (i, j) in enumerate(pair.columns):
        if pair.changed[column] or pair.first.special_tokens_mask[i]:
            continue
        log_p = []
        for text, place in zip(texts, (i, j), strict=True):
            encoding = masked_encoding(bert, text[0], None, (place,))
            log_p.append(bert.mask_probabilities(encoding)[1][0].log())
        found[i] = float((log_p[0].exp() * (log_p[0] - log_p[1])).sum())
    assert telling_token(bert, pair) == max(found, key=found.__getitem__)
    assert len(found) == 5


@pytest.mark.parametrize(
    ("first", "second", "hide", "words", "sentence"),
    [
        (FIRST, FIRST, None, (), "the two versions are the same tokens"),
        (FIRST, FIRST.replace("cat", "CAT"), None, (), "the two versions are the same tokens"),
        ("the cat sat", "the dog sat", 2, (), "the two versions are the same tokens"),
        ("the old cat sat", "the cat sat", 2, (), "token 2 of the first version is not"),
        ("the cat sat", "the dog sat", None, (), r"the versions have no \[MASK\]"),
        (FIRST, SECOND, None, ("zebra",), "'zebra' is not a single piece"),
        (FIRST, SECOND, None, ("猫",), "'猫' is not a single piece"),
        (FIRST, SECOND, None, ("sat", "sat"), "'sat' is given twice"),
    ],
)
def test_what_cannot_be_patched(
    bert: Bert, first: str, second: str, hide: int | None, words: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        word_answer(bert, patch_pair(bert, (first, None), (second, None), hide=hide), *words)


def test_what_gives_no_share(bert: Bert, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one version is a pair"):
        patch_pair(bert, (FIRST, None), (SECOND, "it had rained"))
    pair, _ = pair_of(bert)
    still = Answer("sat", "runs", (3, 3), lambda states: torch.ones(len(states)))
    with pytest.raises(ValueError, match="both versions give"):
        patch(bert, pair, still)
    broken = Answer("sat", "runs", (3, 3), lambda states: torch.full((len(states),), torch.nan))
    with pytest.raises(ValueError, match="the answer is NaN"):
        patch(bert, pair, broken)
    make_other("DebertaV2ForMaskedLM", tmp_path)
    with pytest.raises(ValueError, match="transformers"):
        patch_pairs(bertcore.load(tmp_path, device="cpu"), bundled_texts())


def text(subject: str, other: str, word: str = "sat", against: str = "runs") -> PatchText:
    first, second = (f"the {each} on it [MASK] in the house" for each in (subject, other))
    return PatchText(first, second, word, against)


def telling(bert: Bert) -> list[PatchText]:
    """Return pairs that this random network tells apart, with the words in the order that fits."""
    found = []
    for one, two in itertools.pairwise(SUBJECTS):
        words = telling_words(bert, *text(one, two)[:2])
        pair = patch_pair(bert, (text(one, two).first, None), (text(one, two).second, None))
        ends = patch(bert, pair, word_answer(bert, pair, *words), groups=[[]])
        if ends.first - ends.second >= LEAST:
            found.append(text(one, two, *words))
    assert len(found) >= 2
    return found


def test_regions_of_a_text(bert: Bert) -> None:
    pair = patch_pair(bert, (text("cat", "dog").first, None), (text("cat", "dog").second, None))
    # [CLS] the cat on it [MASK] in the house [SEP]
    assert regions(pair, 5) == [[0, 1], [2], [3, 4], [5], [6, 7, 8, 9]]
    first, second = "the [MASK] sat on the old mat", "the [MASK] sat on the new mat"
    pair = patch_pair(bert, (first, None), (second, None))
    assert regions(pair, 2) == [[0, 1], [6], [3, 4, 5], [2], [7, 8]]


@pytest.mark.usefixtures("_tells_apart")
@pytest.mark.parametrize("direction", ["denoising", "noising"])
def test_the_mean_is_of_the_pairs(bert: Bert, direction: Any) -> None:
    texts = telling(bert)
    found = patch_pairs(bert, texts, direction)
    assert found.num_pairs == len(texts)
    singles = []
    for each in texts:
        pair = patch_pair(bert, (each.first, None), (each.second, None))
        answer = word_answer(bert, pair, each.word, each.other)
        singles.append(patch(bert, pair, answer, direction, groups=regions(pair, 5)).shares)
    np.testing.assert_allclose(found.shares.mean, np.mean(singles, 0), atol=1e-6)
    assert (found.shares.low <= found.shares.mean + 1e-6).all()
    assert (found.shares.high >= found.shares.mean - 1e-6).all()
    assert found.difference.mean >= LEAST


@pytest.mark.usefixtures("_tells_apart")
def test_pairs_that_cannot_be_used_are_left_out(bert: Bert) -> None:
    good = telling(bert)[0]
    odd = {
        ("the cat [MASK]", "the old cat [MASK]", "sat", "runs"): "do not align",
        ("the cat [MASK]", "the dog [MASK]", "zebra", "runs"): "'zebra' is not a single piece",
        ("the cat [MASK]", "the cat [MASK]", "sat", "runs"): "the same",
        (good.first, good.second, good.other, good.word): "nats",
        ("the cat sat", "the dog sat", "sat", "runs"): "[MASK]",
    }
    found = patch_pairs(bert, [good, *odd])
    assert found.num_pairs == 1
    for number, (told, part) in enumerate(zip(found.left_out, odd.values(), strict=True), start=2):
        assert told.startswith(f"Pair {number}: ")
        assert part in told
    with pytest.raises(ValueError, match="no pair is left"):
        patch_pairs(bert, list(odd))


def test_our_own_pairs_are_well_formed() -> None:
    texts = bundled_texts()
    assert len({each.first for each in texts}) == 40
    for each in texts:
        one, two = each.first.split(), each.second.split()
        assert len(one) == len(two)
        assert sum(a != b for a, b in zip(one, two, strict=True)) == 1
        assert one.count("[MASK]") == two.count("[MASK]") == 1
        assert (each.word, each.other) in {("is", "are"), ("was", "were")}
