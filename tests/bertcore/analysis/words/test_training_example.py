"""A training example: the batch of pretraining, its loss, and where its sentences are from."""

import copy
import math
from pathlib import Path

import pytest
import torch

from bertcore import Bert, load
from bertcore.analysis import epoch_masks, one_step, training_example
from bertcore.analysis.words.surprise import example_mask
from bertcore.analysis.words.training_example import TrainingExample, example_version, network_after
from bertcore.training.pretraining import pretraining_loss
from tests.support.tiny import tiny_bert
from tests.support.tiny_others import make_other

TEXT = (
    "The film was very good. She sat on the mat. It had rained all night.\n"
    "The man went to the river bank. He was old."
)
OTHERS = ("A dog ran in the house. The cat was a fish. No.", "The water was very steep.")


def draws(bert: Bert, **options: object) -> list[TrainingExample]:
    return [training_example(bert, TEXT, OTHERS, seed=seed, **options) for seed in range(40)]  # type: ignore[arg-type]


def test_the_loss_is_that_of_a_training_step(bert: Bert) -> None:
    for found in draws(bert, masked_lm_prob=0.3)[:10]:
        name = bert.tokenizer.id_to_token
        assert tuple(map(name, found.input_ids)) == found.input_tokens
        assert [name(label) for label in found.labels] == [g.token for g in found.guesses]
        true = pretraining_loss(bert.module, _batch(found))
        assert found.mlm_loss == pytest.approx(float(true["mlm_loss"].detach()), abs=1e-5)
        assert found.nsp_loss == pytest.approx(float(true["nsp_loss"].detach()), abs=1e-5)
        assert found.loss == pytest.approx(float(true["loss"].detach()), abs=1e-5)


def test_tokens_are_the_sentences_that_are_named(bert: Bert) -> None:
    for found in draws(bert):
        for part, segment in (("A", 0), ("B", 1)):
            sources = [one for one in found.sentences if one.part == part]
            assert sources
            ids = [i for one in bert.tokenizer.encode_ids([s.text for s in sources]) for i in one]
            shown = [
                token
                for token, own in zip(found.tokens, found.text_ids, strict=True)
                if own == segment
            ]
            # Short texts: nothing is cut.
            assert shown == [bert.tokenizer.id_to_token(i) for i in ids]
            assert all(one.num_kept == one.num_tokens for one in sources)
        from_other = {one.document for one in found.sentences if one.part == "B"}
        assert (from_other != {0}) == found.is_random
        assert {one.document for one in found.sentences if one.part == "A"} == {0}


def test_the_coin_falls_on_both_sides(bert: Bert) -> None:
    found = draws(bert)
    assert 10 <= sum(one.is_random for one in found) <= 35
    assert len({one.tokens for one in found}) > 10
    again = draws(bert)
    assert [one.input_tokens for one in again] == [one.input_tokens for one in found]


def test_a_lone_sentence_always_gets_a_random_one(bert: Bert) -> None:
    for seed in range(10):
        found = training_example(bert, "The film was very good.", OTHERS, seed=seed)
        assert found.is_random


def test_actions_and_guesses(bert: Bert) -> None:
    for found in draws(bert, actions=(0.0, 0.0, 1.0), masked_lm_prob=0.5)[:5]:
        assert {guess.became for guess in found.guesses} == {"random"}
    for found in draws(bert, actions=(0.0, 1.0, 0.0), masked_lm_prob=0.5)[:5]:
        assert found.input_tokens == found.tokens
    found = draws(bert, masked_lm_prob=0.5)[0]
    assert [guess for guess in found.guess_at if guess is not None] == [*found.guesses]
    assert len(found.guess_at) == len(found.tokens)
    for guess in found.guesses:
        assert found.guess_at[guess.position] is guess
        assert found.tokens[guess.position] == guess.token
        assert guess.loss == pytest.approx(-math.log(guess.probability), rel=1e-4)
        values = [p for _, p in guess.best]
        assert values == sorted(values, reverse=True)
        assert guess.probability <= values[0] + 1e-7


@pytest.mark.parametrize(
    ("text", "others", "options", "sentence"),
    [
        ("", OTHERS, {}, "the text has no word"),
        (" \n ", OTHERS, {}, "the text has no word"),
        (TEXT, (" ",), {}, "no other document"),
        (TEXT, OTHERS, {"masked_lm_prob": 0.0}, "above 0, below 1"),
        (TEXT, OTHERS, {"masked_lm_prob": 1.0}, "above 0, below 1"),
        (TEXT, OTHERS, {"actions": (0.9, 0.2, 0.1)}, "1 in all"),
    ],
)
def test_bad_input_is_a_sentence(
    bert: Bert, text: str, others: tuple[str, ...], options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        training_example(bert, text, others, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["T5ForConditionalGeneration", "EuroBertForMaskedLM"])
def test_a_tokenizer_without_special_tokens_is_refused(name: str, tmp_path: Path) -> None:
    make_other(name, tmp_path)
    other = load(tmp_path, device="cpu")
    assert "mlm" in other.capabilities
    with pytest.raises(ValueError, match="the tokenizer lacks one of the tokens"):
        training_example(other, TEXT, OTHERS, seed=0)
    with pytest.raises(ValueError, match="the tokenizer lacks one of the tokens"):
        epoch_masks(other, "She sat.", seed=0)


def test_one_step_is_adams_first(bert: Bert) -> None:
    """Against torch's own Adam on a copy; the opened network stays as it is."""
    found = draws(bert, masked_lm_prob=0.3)[3]
    before = {name: p.clone() for name, p in bert.module.named_parameters()}
    effect = one_step(bert, found, learning_rate=1e-3)
    for name, parameter in bert.module.named_parameters():
        torch.testing.assert_close(parameter, before[name], atol=0, rtol=0)
    network = copy.deepcopy(bert.module)
    for parameter in network.parameters():
        parameter.requires_grad_()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    batch = _batch(found)
    pretraining_loss(network, batch)["loss"].backward()
    optimizer.step()
    after = pretraining_loss(network, batch)
    assert effect.mlm_loss == pytest.approx(float(after["mlm_loss"].detach()), rel=1e-3)
    assert effect.nsp_loss == pytest.approx(float(after["nsp_loss"].detach()), rel=1e-3)
    assert effect.loss < found.loss
    stepped = dict(network_after(bert, found, learning_rate=1e-3).named_parameters())
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(stepped[name], parameter, atol=1e-5, rtol=0)
    assert len(effect.probabilities) == len(found.guesses)
    assert effect.pair_probability == pytest.approx(math.exp(-(effect.nsp_loss or 0)), rel=1e-4)
    with pytest.raises(ValueError, match="expected above 0"):
        one_step(bert, found, learning_rate=0)


def _batch(found: TrainingExample) -> dict[str, torch.Tensor]:
    return {
        "input_ids": torch.tensor([found.input_ids]),
        "segment_ids": torch.tensor([found.segment_ids]),
        "positions": torch.tensor([[guess.position for guess in found.guesses]]),
        "labels": torch.tensor([found.labels]),
        "weights": torch.ones(1, len(found.guesses)),
        "next_sentence_labels": torch.tensor([int(found.is_random)]),
        "total_masked": torch.tensor(float(len(found.guesses))),
        "total_pairs": torch.tensor(1.0),
    }


@pytest.fixture(scope="module")
def shipped() -> Bert:
    return load("default", device="cpu")


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("Paris is the capital of France.", None),
        ("He went to the shop.", "Then he bought some milk."),
        ("  The OLD man   sat by the river. ", None),
    ],
)
def test_one_word_is_replaced_by_the_best_other(shipped: Bert, text: str, pair: str | None) -> None:
    version = example_version(shipped, text, pair)
    before, after = text + (pair or ""), version.text + (version.text_pair or "")
    assert before != after
    assert before.replace(version.original, version.replacement, 1) == after
    position = example_mask(shipped, text, pair)
    encoding = shipped.tokenize(text, pair)
    assert encoding.tokens[position] == version.original.lower()
    assert version.original[0].isupper() == version.replacement[0].isupper()
    (best,) = shipped.fill_mask(
        text.replace(version.original, "[MASK]"),
        pair and pair.replace(version.original, "[MASK]"),
        top_k=20,
    )
    words = [w for w, _ in best if w.isalpha() and w != version.original.lower()]
    assert version.replacement.lower() == words[0]


def test_no_example_version(shipped: Bert) -> None:
    assert example_version(shipped, "!? 3 . ;") is None
    with pytest.raises(ValueError, match="no token"):
        example_version(tiny_bert(), "[MASK]")
