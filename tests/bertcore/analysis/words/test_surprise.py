"""The surprise of each token, against one plain forward pass of transformers for each."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert, load
from bertcore.analysis.words.epoch_masks import corrupt
from bertcore.analysis.words.surprise import example_mask, suggest_mask, surprise

TEXT, PAIR = "The river banks was steep.", "It had rained."


@pytest.mark.parity
@pytest.mark.parametrize("pair", [None, PAIR])
def test_bits_and_perplexity_equal_transformers(
    bert: Bert, tmp_path: Path, pair: str | None
) -> None:
    transformers = pytest.importorskip("transformers")
    model = transformers.BertForMaskedLM.from_pretrained(bert.save(tmp_path / "t")).eval()
    encoding = bert.tokenize(TEXT, pair)
    positions, log_ps, best = [], [], []
    for position, token in enumerate(encoding.tokens):
        if token in ("[CLS]", "[SEP]"):
            continue
        ids = torch.tensor([encoding.input_ids])
        ids[0, position] = bert.tokenizer.mask_id
        with torch.inference_mode():
            logits = model(
                input_ids=ids, token_type_ids=torch.tensor([encoding.segment_ids])
            ).logits
        log_p = logits[0, position].log_softmax(-1)
        positions.append(position)
        log_ps.append(float(log_p[encoding.input_ids[position]]))
        best.append((bert.tokenizer.vocab[int(log_p.argmax())], float(log_p.max().exp())))

    found = surprise(bert, TEXT, pair)
    assert found.positions == tuple(positions)
    assert found.tokens == tuple(encoding.tokens[i] for i in positions)
    np.testing.assert_allclose(found.bits, -np.array(log_ps) / np.log(2), atol=1e-4)
    assert found.pseudo_perplexity == pytest.approx(np.exp(-np.mean(log_ps)), rel=1e-4)
    assert list(found.best_words) == [word for word, _ in best]
    np.testing.assert_allclose(found.best_probabilities, [p for _, p in best], atol=1e-5)


def test_small_batches_give_the_same_numbers(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = surprise(bert, TEXT, PAIR)
    monkeypatch.setattr("bertcore.analysis.shared.inputs.LOGITS_PER_CHUNK", 2)
    monkeypatch.setattr("bertcore.model.likelihood.TOKENS_PER_BATCH", 40)
    parts = surprise(bert, TEXT, PAIR)
    np.testing.assert_allclose(parts.bits, whole.bits, atol=1e-5)
    assert parts.best_words == whole.best_words


def test_a_typed_mask_stays_hidden_and_has_no_number(bert: Bert) -> None:
    found = surprise(bert, "the [MASK] was steep")
    assert found.tokens == ("the", "was", "steep")
    assert found.positions == (1, 3, 4)
    (_, was) = bert.fill_mask("the [MASK] [MASK] steep", top_k=10**6)
    assert 2 ** -float(found.bits[1]) == pytest.approx(dict(was)["was"], abs=1e-6)


@pytest.mark.parametrize("text", ["", "   ", "[MASK]", "\u200b"])
def test_nothing_to_hide_is_a_sentence(bert: Bert, text: str) -> None:
    with pytest.raises(ValueError, match="no token to mask"):
        surprise(bert, text)


def test_the_suggested_mask_is_the_best_guessed_whole_word(bert: Bert) -> None:
    text = "The river banks rained on a steep, steep house."
    found = surprise(bert, text)
    whole = {"river", "rained", "steep", "house"}  # "banks" has two pieces, the rest is short
    allowed = [i for i, token in enumerate(found.tokens) if token in whole]
    expected = min(allowed, key=lambda i: found.bits[i])
    assert suggest_mask(bert, text) == found.positions[expected]


def test_an_example_hides_a_word_that_occurs_once(bert: Bert) -> None:
    text = "The river banks rained on a steep, steep house."
    found = surprise(bert, text)
    unique = {"river", "rained", "house"}
    allowed = [i for i, token in enumerate(found.tokens) if token in unique]
    expected = min(allowed, key=lambda i: found.bits[i])
    assert example_mask(bert, text) == found.positions[expected]
    assert bert.tokenize("steep steep").tokens[example_mask(bert, "steep steep")] == "steep"


def test_an_example_in_a_long_text_costs_no_run(bert: Bert, monkeypatch) -> None:
    monkeypatch.setattr("bertcore.analysis.words.surprise._MOST_FOR_EXAMPLE", 6)
    monkeypatch.setattr("bertcore.analysis.words.surprise.log_p_at", None)
    text = "the river rained on a steep house"
    assert bert.tokenize(text).tokens[example_mask(bert, text)] == "rained"


def test_a_second_suggestion_is_another_token(bert: Bert) -> None:
    text = "the river bank was steep"
    chosen: list[int] = []
    for _ in range(5):
        chosen.append(suggest_mask(bert, text, None, chosen))
    assert sorted(chosen) == [1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="no token to mask"):
        suggest_mask(bert, text, None, chosen)


@pytest.mark.parametrize("text", ["a", "日", "xyzzy", "...", "a [MASK]"])
def test_something_can_always_be_suggested(bert: Bert, text: str) -> None:
    encoding = bert.tokenize(text)
    position = suggest_mask(bert, text)
    assert not encoding.special_tokens_mask[position]
    assert encoding.tokens[position] != "[MASK]"


def test_a_character_is_hidden_before_a_full_stop() -> None:
    bert = load("zh", device="cpu")
    encoding = bert.tokenize("我爱学习。")
    assert encoding.tokens[suggest_mask(bert, "我爱学习。")].isalpha()
    assert encoding.tokens[example_mask(bert, "我爱学习。")].isalpha()


def test_a_corruption_says_what_happened_to_each_token(bert: Bert) -> None:
    text = "the river bank was steep and the dog runs on the mat for milk and water"
    seen = set()
    for seed in range(60):
        drawn = corrupt(bert, text, PAIR, seed)
        assert drawn.tokens == tuple(bert.tokenize(text, PAIR).tokens)
        assert drawn.num_chosen == round(0.15 * len(drawn.tokens))
        for token, shown, action in zip(
            drawn.tokens, drawn.input_tokens, drawn.actions, strict=True
        ):
            if action == "mask":
                assert shown == "[MASK]"
            elif action in ("kept", None):
                assert shown == token
            if token in ("[CLS]", "[SEP]"):
                assert action is None
            seen.add(action)
    assert seen == {"mask", "kept", "random", None}


def test_the_shares_are_those_of_the_paper(bert: Bert) -> None:
    """All 60 tokens are chosen in each of 40 draws: 2,400 actions, so 3 sigma is 2.5%."""
    text = " ".join(["river"] * 60)
    actions = [a for seed in range(40) for a in corrupt(bert, text, None, seed, 0.999).actions if a]
    assert len(actions) == 2400
    for action, share in (("mask", 0.8), ("kept", 0.1), ("random", 0.1)):
        assert actions.count(action) / 2400 == pytest.approx(share, abs=0.025)
