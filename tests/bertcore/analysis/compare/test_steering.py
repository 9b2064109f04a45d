"""Steering against transformers with a hook that adds the vector, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert, Changes, load
from bertcore.analysis import masked_encoding
from bertcore.analysis.compare.steering import (
    NUM_RANDOM,
    find_direction,
    random_directions,
    steer,
    steered,
)
from bertcore.model.bert import with_parts
from bertcore.model.network import Network
from bertcore.model.trace import trace_network
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make

A, B = "The river bank was steep.", "It had rained."
GOOD, BAD = ("good", "very new"), ("bad", "old")


@pytest.mark.parametrize("template", ["{}", "This is {} , and {that."])
def test_a_direction_is_the_difference_of_mean_states(bert: Bert, template: str) -> None:
    def mean(words: tuple[str, ...], state: int) -> torch.Tensor:
        vectors = []
        for word in words:
            trace = bert.trace(template.replace("{}", word))
            start = 1 + len(bert.tokenize(template.partition("{}")[0]).input_ids) - 2
            count = len(word.split())
            vectors.append(trace.hidden_states[state][start : start + count].mean(0))
        return torch.stack(vectors).mean(0)

    for state in range(3):
        found = find_direction(bert, GOOD, BAD, state, template)
        torch.testing.assert_close(found, mean(BAD, state) - mean(GOOD, state))


@pytest.mark.parity
@pytest.mark.parametrize("state", [0, 1, 2])
def test_answers_are_those_of_transformers_with_the_vector_added(
    bert: Bert, state: int, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    reference = transformers.BertForPreTraining.from_pretrained(bert.save(tmp_path / "t")).eval()
    encoding = masked_encoding(bert, A, B, (2,))
    direction = find_direction(bert, GOOD, BAD, state)
    fractions: list[float] = []
    word, following = steer(bert, encoding, B, state, direction, 2.0, on_fraction=fractions.append)
    assert fractions[-1] == 1
    assert len(fractions) == NUM_RANDOM + 2
    assert (word.kind, word.position, following.kind) == ("word", 2, "next")
    modules = [reference.bert.embeddings, *reference.bert.encoder.layer]
    ids = torch.tensor([encoding.input_ids])
    segments = torch.tensor([encoding.segment_ids])

    def run(vector: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        def add(module: object, inputs: object, output: object) -> object:
            if isinstance(output, tuple):
                return output[0] + vector, *output[1:]
            return output + vector  # type: ignore[operator]

        handle = modules[state].register_forward_hook(add)
        with torch.inference_mode():
            out = reference(input_ids=ids, token_type_ids=segments)
        handle.remove()
        return (
            out.prediction_logits[0, 2].softmax(-1),
            out.seq_relationship_logits[0].softmax(-1),
        )

    shown = [bert.tokenizer.token_to_id(choice) for choice in word.choices]
    plain, plain_next = run(torch.zeros_like(direction))
    for vector, p, q in (
        (torch.zeros_like(direction), word.before, following.before),
        (2 * direction, word.after, following.after),
        *(
            (2 * each, word.random[i], following.random[i])
            for i, each in enumerate(random_directions(direction))
        ),
    ):
        words, both = run(vector)
        np.testing.assert_allclose(p, words[shown], atol=1e-5)
        np.testing.assert_allclose(q, both, atol=1e-5)
    moved = run(2 * direction)[0]
    expected = float((plain * (plain / moved).log()).sum())
    assert word.divergence == pytest.approx(expected, rel=1e-3)
    assert set(shown) >= set(moved.topk(5).indices.tolist()) | set(plain.topk(5).indices.tolist())
    assert plain_next.sum() == pytest.approx(1)


def test_random_directions_have_the_same_length_and_are_the_same_each_time(bert: Bert) -> None:
    direction = find_direction(bert, GOOD, BAD, 1)
    drawn = random_directions(direction)
    torch.testing.assert_close(torch.stack(drawn).norm(dim=1), direction.norm().repeat(NUM_RANDOM))
    assert all(map(torch.equal, drawn, random_directions(direction)))
    assert not torch.equal(drawn[0], random_directions(direction, seed=1)[0])


def test_strength_0_changes_nothing_and_changes_hold_in_all_runs(bert: Bert) -> None:
    encoding, changes = masked_encoding(bert, A, None, (2,)), Changes(layers_skipped=frozenset({1}))
    direction = find_direction(bert, GOOD, BAD, 1)
    (word,) = steer(bert, encoding, None, 1, direction, 0.0, changes=changes)
    np.testing.assert_array_equal(word.before, word.after)
    np.testing.assert_array_equal(word.random, word.before[None].repeat(NUM_RANDOM, 0))
    assert word.divergence == 0
    hidden = bert.trace(A, encoding=encoding, changes=changes).hidden_states[-1, 2]
    log_p = bert.module.mlm_logits(hidden).log_softmax(-1).detach()
    assert word.before.max() == pytest.approx(float(log_p.exp().max()), rel=1e-5)
    assert steer(bert, bert.tokenize(A), None, 1, direction, 1.0) == ()


def test_refused(bert: Bert) -> None:
    long = ["good"] * 51
    for words, template, state, what in (
        (((), BAD), "{}", 0, "list A has 0"),
        ((GOOD, long), "{}", 0, "list B has 51"),
        ((GOOD, GOOD), "{}", 0, "same mean"),
        ((GOOD, BAD), "{} {}", 0, "2 places"),
        ((GOOD, BAD), "{}", 3, "no hidden state 3"),
        ((("\u200b",), BAD), "{}", 0, "no vector"),
        ((("good",), BAD), "the " * 80 + "{}", 0, "cut"),
    ):
        with pytest.raises(ValueError, match=what):
            find_direction(bert, *words, state, template)
    direction = find_direction(bert, GOOD, BAD, 1)
    changes = Changes(layers_skipped=frozenset({0}))
    with pytest.raises(ValueError, match=r"layer 0 is skipped, so nothing .* hidden state 1"):
        steer(bert, bert.tokenize(A), None, 1, direction, 1.0, changes=changes)
    for strength in (101, float("nan")):
        with pytest.raises(ValueError, match="strength"):
            steer(bert, bert.tokenize(A), None, 1, direction, strength)
    with pytest.raises(ValueError, match="wide"):
        steered(bert, 1, direction[:-1])


@torch.inference_mode()
def by_hand(network: Network, state: int, vector: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """The layers one by one, the vector between two of them."""
    hidden, mask = network.embed(ids)
    for number in range(network.config.num_hidden_layers + 1):
        if number:
            hidden = network.run_layers(hidden, mask, layers=[number - 1])
        if number == state:
            hidden = hidden + vector
    return hidden


@pytest.mark.parametrize("name", ["Bert", "Albert", "ModernBert", "Electra"])
def test_every_way_of_running_reads_steered_states(tmp_path: Path, name: str) -> None:
    bert = tiny_bert()
    if name != "Bert":
        make(f"{name}ForMaskedLM", tmp_path)
        bert = with_parts(load(tmp_path, device="cpu"))
    encoding = bert.tokenize("the old man sat on the river")
    ids, segments = torch.tensor([encoding.input_ids]), torch.tensor([encoding.segment_ids])
    places, are_tokens = torch.tensor([2]), torch.ones_like(ids).bool()
    vector = torch.randn(bert.config.hidden_size, generator=torch.Generator().manual_seed(3))
    with torch.inference_mode():
        before = bert.module(ids)
    for state in range(bert.config.num_hidden_layers + 1):
        changed = steered(bert, state, vector).module
        assert {each.data_ptr() for each in changed.parameters()} == {
            each.data_ptr() for each in bert.module.parameters()
        }
        expected = by_hand(bert.module, state, vector, ids)
        positions = changed.default_ids(ids[0], None, None)[1]
        with torch.inference_mode():
            found = {
                "forward": changed(ids),
                "one place": changed.word_states_at(ids, segments, None, places),
                "all": changed.every_state(ids, segments, are_tokens)[-1],
                "trace": trace_network(changed, ids[0], segments[0], positions).hidden_states[-1:],
            }
        for way, states in found.items():
            wanted = expected[:, 2] if way == "one place" else expected
            torch.testing.assert_close(states, wanted, atol=1e-4, rtol=1e-4, msg=f"{way} {state}")
    with torch.inference_mode():
        assert torch.equal(bert.module(ids), before)  # the original runs as it did
