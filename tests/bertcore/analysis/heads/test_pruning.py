"""Pruned checkpoints: equal to the gated run, and transformers opens them with the same outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers

from bertcore import Bert, load
from bertcore.analysis.heads.pruning import prune, save_pruned
from bertcore.checkpoints import read_card
from bertcore.checkpoints.save import hf_config, zeroed_heads
from bertcore.interventions.what_if import Changes, every_head, parse_head
from tests.support.tiny import tiny_bert
from tests.support.tiny_families import make

A, B = "The river [MASK] was steep.", "It had rained."
HEADS = [(0, 3), (1, 0), (1, 2)]


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


@pytest.mark.parity
@pytest.mark.parametrize("heads", [HEADS, [(0, 1)], [(i, h) for i in range(2) for h in range(4)]])
def test_transformers_gives_what_our_gated_run_gives(
    bert: Bert, heads: list[tuple[int, int]], tmp_path: Path
) -> None:
    folder = save_pruned(bert, heads, tmp_path / "pruned")
    gated = bert.trace(A, B, changes=Changes(heads_off=frozenset(heads)))
    model, info = transformers.BertForPreTraining.from_pretrained(folder, output_loading_info=True)
    assert not any(info[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(A, B, return_tensors="pt")
    with torch.no_grad():
        out = model.eval()(**inputs, output_hidden_states=True)
        ours = bert.module.mlm_logits(gated.hidden_states[-1])
        answer = bert.module.nsp_logits(gated.hidden_states[-1][None])
    states = torch.stack([state[0] for state in out.hidden_states])
    torch.testing.assert_close(gated.hidden_states, states, atol=1e-5, rtol=0)
    torch.testing.assert_close(ours, out.prediction_logits[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(answer, out.seq_relationship_logits, atol=1e-5, rtol=0)
    again = load(folder, device="cpu").trace(A, B)
    torch.testing.assert_close(again.hidden_states, gated.hidden_states, atol=1e-6, rtol=0)
    # Queries and keys stay, so one can still see where a removed head looked.
    torch.testing.assert_close(again.attentions, gated.attentions, atol=1e-6, rtol=0)


def test_a_shared_layer_loses_a_head_in_all_its_runs_or_in_none(tmp_path: Path) -> None:
    make("AlbertForMaskedLM", tmp_path)
    albert = load(tmp_path, device="cpu")
    num_layers = albert.config.num_hidden_layers
    for heads in ([(0, 1)], [(layer, 1) for layer in range(num_layers)] + [(1, 0)]):
        with pytest.raises(ValueError, match=r"runs one layer .* Name it in each: 0\.[01],1\."):
            prune(albert, heads)
    every = [(layer, 1) for layer in range(num_layers)]
    gated = albert.trace("milk", changes=Changes(heads_off=frozenset(every)))
    pruned = prune(albert, every).trace("milk")
    torch.testing.assert_close(pruned.hidden_states, gated.hidden_states, atol=1e-5, rtol=0)


def test_the_config_and_the_card_name_the_heads(bert: Bert, tmp_path: Path) -> None:
    folder = save_pruned(bert, HEADS, tmp_path / "pruned")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    assert config["zeroed_heads"] == {"0": [3], "1": [0, 2]}
    said = (folder / "README.md").read_text(encoding="utf-8")
    assert "3 of 8 attention heads removed" in said
    assert "- layer 1: 0, 2" in said
    assert "Below is the card" not in said
    assert "zeroed_heads" not in hf_config(bert.module)


def test_pruning_again_adds_up_and_the_old_card_stays_below(bert: Bert, tmp_path: Path) -> None:
    first = save_pruned(bert, HEADS[:1], tmp_path / "first")
    card = first / "README.md"
    card.write_text("---\nlicense: mit\n---\n# My own card\n", encoding="utf-8")
    second = save_pruned(load(first, device="cpu"), HEADS[1:], tmp_path / "second")
    config = json.loads((second / "config.json").read_text(encoding="utf-8"))
    assert config["zeroed_heads"] == {"0": [3], "1": [0, 2]}
    whole = (second / "README.md").read_text(encoding="utf-8")
    assert whole.startswith("---\nlicense: mit\n---\n")
    body = read_card(second) or ""
    assert body.startswith("# first, 3 of 8 attention heads removed")
    assert body.endswith("# My own card")


def test_the_original_is_left_alone(bert: Bert) -> None:
    before = {name: p.clone() for name, p in bert.module.named_parameters()}
    pruned = prune(bert, HEADS)
    assert all(torch.equal(before[name], p) for name, p in bert.module.named_parameters())
    assert zeroed_heads(bert.module) == {}
    assert zeroed_heads(pruned.module) == {0: [3], 1: [0, 2]}


@pytest.mark.parametrize(
    ("heads", "message"),
    [([], "no head was chosen"), ([(2, 0)], r"no head 2\.0.*layers 0 to 1"), ([(0, -1)], "0.-1")],
)
def test_heads_that_are_not_there_are_refused(
    bert: Bert, heads: list[tuple[int, int]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        save_pruned(bert, heads, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_nothing_is_overwritten(bert: Bert, tmp_path: Path) -> None:
    own = bert.save(tmp_path / "own")
    file = tmp_path / "file"
    file.write_text("x")
    for target in (own, file):
        with pytest.raises(ValueError, match=r"already exists\. Choose a new folder"):
            save_pruned(load(own, device="cpu"), HEADS, target)
    (tmp_path / "empty").mkdir()
    assert save_pruned(bert, HEADS, tmp_path / "empty").is_dir()


@pytest.mark.parametrize("text", ["", "3", "0.", ".3", "a.b", "0.3.1", "-1.0", "0,3", "1" * 99])
def test_what_is_no_head_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a head; write layer\.head, such as 0\.3"):
        parse_head(text)


def test_heads_are_read_and_listed() -> None:
    assert parse_head(" 11.7 ") == (11, 7)
    assert every_head(tiny_bert().config)[:5] == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]
