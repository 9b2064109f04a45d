"""The prediction at each layer, against transformers' own head on transformers' hidden states."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.analysis.words.lens import layer_predictions, ranks_of, word_trajectories
from bertcore.analysis.words.predictions import fill_in_turn, predict_masks, tracked_words

TEXT, PAIR = "The river bank was steep.", "It had rained."


@pytest.mark.parity
def test_every_layer_equals_the_head_of_transformers(bert: Bert, tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    reference = transformers.BertForPreTraining.from_pretrained(bert.save(tmp_path / "t")).eval()
    encoding = masked_encoding(bert, TEXT, PAIR, (3, 8))
    with torch.inference_mode():
        states = reference.bert(
            input_ids=torch.tensor([encoding.input_ids]),
            token_type_ids=torch.tensor([encoding.segment_ids]),
            output_hidden_states=True,
        ).hidden_states
        expected = torch.stack([reference.cls.predictions(h)[0].softmax(-1) for h in states])
    vocab = np.array(bert.tokenizer.vocab)

    lens = layer_predictions(bert, TEXT, PAIR, (3, 8), None, 4)
    best = expected.topk(4)
    assert lens.words.shape == (3, len(encoding), 4)
    assert (lens.words == vocab[best.indices.numpy()]).all()
    np.testing.assert_allclose(lens.probabilities, best.values.numpy(), atol=1e-5)
    entropy = -(expected * expected.log2()).sum(-1)
    np.testing.assert_allclose(lens.entropy, entropy.numpy(), atol=1e-4)
    assert lens.tokens == tuple(encoding.tokens)

    words = ("river", "##ing", "the")
    path = word_trajectories(bert, TEXT, PAIR, (3, 8), 8, words)
    ids = [bert.tokenizer.vocab.index(word) for word in words]
    order = expected[:, 8].argsort(-1, descending=True).argsort(-1)
    np.testing.assert_allclose(path.probabilities, expected[:, 8, ids].numpy(), atol=1e-5)
    assert (path.ranks == order[:, ids].numpy() + 1).all()


def test_chunks_of_logits_do_not_change_the_numbers(
    bert: Bert, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = layer_predictions(bert, TEXT)
    monkeypatch.setattr("bertcore.analysis.shared.inputs.LOGITS_PER_CHUNK", 5)
    parts = layer_predictions(bert, TEXT)
    assert (whole.words == parts.words).all()
    np.testing.assert_allclose(whole.probabilities, parts.probabilities, atol=1e-6)


def test_equal_scores_share_the_better_rank() -> None:
    scores = torch.tensor([[1.0, 3.0, 3.0, 2.0]])
    assert ranks_of(scores, torch.tensor([2, 1, 3, 0])).tolist() == [[1, 1, 3, 4]]


def test_predictions_are_those_of_fill_mask_with_the_hidden_word(bert: Bert) -> None:
    text = "the [MASK] was steep and the river rained"
    found = predict_masks(bert, text, PAIR, (3, 7), 4)
    everything = bert.fill_mask("the [MASK] [MASK] steep and the [MASK] rained", PAIR, top_k=10**6)
    assert found.positions == (2, 3, 7)
    assert found.originals == (None, "was", "river")
    for index, filled in enumerate(everything):
        order = [word for word, _ in filled]
        assert found.words[index].tolist() == order[:4]
        np.testing.assert_allclose(
            found.probabilities[index], [p for _, p in filled[:4]], atol=1e-6
        )
        original = found.originals[index]
        if original is None:
            assert found.original_ranks[index] is None
            assert found.original_probabilities[index] is None
        else:
            assert found.original_ranks[index] == order.index(original) + 1
            assert found.original_probabilities[index] == pytest.approx(dict(filled)[original])


def test_masks_are_filled_the_surest_first_each_seeing_the_others(bert: Bert) -> None:
    words = "the [MASK] was [MASK] and the [MASK] runs".split()
    steps = fill_in_turn(bert, "the dog was [MASK] and the [MASK] runs", None, (2,))
    assert sorted(step.position for step in steps) == [2, 4, 7]
    for step in steps:
        left = [i for i, word in enumerate(words) if word == "[MASK]"]
        filled = bert.fill_mask(" ".join(words), top_k=10**6)
        best = {
            place: next((w, p) for w, p in row if not w.startswith("["))
            for place, row in zip(left, filled, strict=True)
        }
        place = max(best, key=lambda i: best[i][1])
        assert (step.position, step.word) == (place + 1, best[place][0])  # [CLS] comes first
        assert step.probability == pytest.approx(best[place][1], abs=1e-6)
        if step.word.startswith("##"):  # cannot be typed: it would be cut in another way
            break
        words[place] = step.word


def test_tracked_words_are_the_hidden_the_best_and_ones_own(bert: Bert) -> None:
    found = predict_masks(bert, "the [MASK] was steep", None, (4,), 5)
    best = [str(word) for word in found.words[1, :3]]
    own = ["Milk", "rivers", best[0]]
    assert tracked_words(bert, found, 4, own) == tuple(dict.fromkeys(["steep", *best, "milk"]))
    assert tracked_words(bert, found, 2) == tuple(map(str, found.words[0, :3]))
    with pytest.raises(ValueError, match="token 3 is not"):
        tracked_words(bert, found, 3)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda b: layer_predictions(b, TEXT, None, (0,)), "token 0 cannot be masked"),
        (lambda b: predict_masks(b, TEXT), "nothing is hidden"),
        (lambda b: fill_in_turn(b, TEXT), "nothing is hidden"),
        (lambda b: predict_masks(b, TEXT, None, (6, 99)), "token 99 cannot be masked"),
        (lambda b: predict_masks(b, TEXT, None, (1,), 0), "top_k is 0"),
        (
            lambda b: word_trajectories(b, TEXT, None, (), 1, ["rivers"]),
            "'rivers' is not a single piece",
        ),
    ],
)
def test_wrong_input_gets_a_sentence(bert: Bert, call, sentence: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=sentence):
        call(bert)
