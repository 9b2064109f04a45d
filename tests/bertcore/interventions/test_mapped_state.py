"""A mapped hidden state against the layers run by hand; folded, against transformers."""

from pathlib import Path

import pytest
import torch

from bertcore import Bert, load
from bertcore.bert import with_parts
from bertcore.interventions.mapped_state import StateMap, fold_map, map_state, why_not_folded
from bertcore.network import ALL_HEADS, Network
from bertcore.trace import trace_network
from tests.support.tiny import tiny_bert, tiny_network
from tests.support.tiny_families import make

TEXT = "the old man sat on the river"


def a_map(network: Network, state: int) -> StateMap:
    width = network.config.hidden_size
    generator = torch.Generator().manual_seed(3)
    weight = torch.eye(width, dtype=torch.float64)
    weight += 0.2 * torch.randn(width, width, dtype=torch.float64, generator=generator)
    bias = torch.randn(width, dtype=torch.float64, generator=generator)
    return StateMap(state, weight, bias)


def inputs(bert: Bert) -> tuple[torch.Tensor, torch.Tensor]:
    encoding = bert.tokenize(TEXT)
    return torch.tensor([encoding.input_ids]), torch.tensor([encoding.segment_ids])


@torch.inference_mode()
def by_hand(network: Network, change: StateMap, ids: torch.Tensor) -> torch.Tensor:
    """The layers one by one, the map between two of them."""
    hidden, mask = network.embed(ids)
    weight, bias = change.weight.float(), change.bias.float()
    for number in range(network.config.num_hidden_layers + 1):
        if number:
            hidden = network.run_layers(hidden, mask, layers=[number - 1])
        if number == change.state:
            hidden = hidden @ weight.T + bias
    return hidden


def family(name: str, folder: Path) -> Bert:
    if name == "Bert":
        return tiny_bert()
    make(f"{name}ForMaskedLM", folder)
    return with_parts(load(folder, device="cpu"))


@pytest.mark.parametrize("name", ["Bert", "Albert", "ModernBert", "Electra", "DistilBert"])
def test_every_way_of_running_reads_mapped_states(tmp_path: Path, name: str) -> None:
    bert = family(name, tmp_path)
    ids, segments = inputs(bert)
    places = torch.tensor([2])
    with torch.inference_mode():
        before = bert.module(ids)
    for state in range(bert.config.num_hidden_layers + 1):
        change = a_map(bert.module, state)
        mapped = map_state(bert.module, change)
        expected = by_hand(bert.module, change, ids)
        positions = mapped.default_ids(ids[0], None, None)[1]
        with torch.inference_mode():
            found = {
                "forward": mapped(ids),
                "one place": mapped.word_states_at(ids, segments, None, places),
                "all": mapped.every_state(ids, segments, torch.ones_like(ids).bool())[-1],
                "with attention": mapped.word_states_and_attention(
                    ids, segments, torch.ones_like(ids).bool()
                )[0],
                "trace": trace_network(mapped, ids[0], segments[0], positions).hidden_states[-1:],
            }
        for way, states in found.items():
            wanted = expected[:, 2] if way == "one place" else expected
            torch.testing.assert_close(states, wanted, atol=1e-4, rtol=1e-4, msg=f"{way} {state}")
    with torch.inference_mode():
        assert torch.equal(bert.module(ids), before)  # the original runs as it did


def test_weights_are_shared() -> None:
    network = tiny_network()
    mapped = map_state(network, a_map(network, 1))
    addresses = {each.data_ptr() for each in network.parameters()}
    assert {each.data_ptr() for each in mapped.parameters()} == addresses


@pytest.mark.parity
def test_folded_answers_equal_those_of_transformers(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    bert = tiny_bert()
    change = a_map(bert.module, bert.config.num_hidden_layers)
    live = map_state(bert.module, change)
    folder = Bert(fold_map(bert.module, change), bert.tokenizer).save(tmp_path / "folded")
    theirs = transformers.BertForPreTraining.from_pretrained(folder).eval()
    ids, segments = inputs(bert)
    with torch.inference_mode():
        out = theirs(input_ids=ids, token_type_ids=segments)
        hidden = live(ids, segments)
        words, pair = live.mlm_logits(hidden), live.nsp_logits(hidden)
        plain = bert.module.mlm_logits(bert.module(ids, segments))
    torch.testing.assert_close(out.prediction_logits, words, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(out.seq_relationship_logits, pair, atol=1e-5, rtol=1e-5)
    assert (words - plain).abs().max() > 0.1


@pytest.mark.parity
def test_the_matrix_behind_albert_embeddings_takes_a_map(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    bert = family("Albert", tmp_path / "a")
    change = a_map(bert.module, 0)
    assert why_not_folded(bert.module, change) is None
    folder = Bert(fold_map(bert.module, change), bert.tokenizer).save(tmp_path / "folded")
    theirs = transformers.AlbertForMaskedLM.from_pretrained(folder).eval()
    ids, segments = inputs(bert)
    live = map_state(bert.module, change)
    with torch.inference_mode():
        words = live.mlm_logits(live(ids, segments))
        out = theirs(input_ids=ids, token_type_ids=segments).logits
    torch.testing.assert_close(out, words, atol=1e-5, rtol=1e-5)


def test_what_cannot_be_folded_says_why(tmp_path: Path) -> None:
    bert = tiny_bert()
    for state in (0, 1):
        with pytest.raises(ValueError, match="residual connection"):
            fold_map(bert.module, a_map(bert.module, state))
    bare = tiny_network(heads=frozenset())
    assert "neither a head nor a pooler" in str(why_not_folded(bare, a_map(bare, 2)))
    modern = family("ModernBert", tmp_path).module
    last = modern.config.num_hidden_layers
    assert "no bias" in str(why_not_folded(modern, a_map(modern, last)))
    kept = a_map(modern, last)._replace(bias=torch.zeros(modern.config.hidden_size).double())
    assert why_not_folded(modern, kept) is None


def test_states_and_widths_that_do_not_exist_are_refused() -> None:
    network = tiny_network(heads=ALL_HEADS)
    with pytest.raises(ValueError, match="no hidden state 3"):
        map_state(network, a_map(network, 3))
    with pytest.raises(ValueError, match="32 wide"):
        map_state(network, StateMap(1, torch.eye(3).double(), torch.zeros(3).double()))
