"""Probes against a trace and the model's own answers, and through stop and resume."""

from pathlib import Path

import numpy as np
import pytest
import torch

from bertcore import Bert
from bertcore.base.quantize import MAX_ERROR
from bertcore.training.engine.probes import (
    ProbeText,
    read_probe,
    read_probes,
    take_probe,
    write_probe,
)
from tests.bertcore.training.pretraining.test_loop import build
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer

TEXTS = (
    ProbeText("The dog sat on the mat.", None, "dog", "snvssn."),
    ProbeText("He went to the river bank.", "It had rained.", "river", "pvssnn.pvv."),
)


@pytest.fixture
def bert() -> Bert:
    return Bert(tiny_network(), tiny_tokenizer())


def test_a_probe_holds_what_the_model_itself_says(bert: Bert, tmp_path: Path) -> None:
    """In one padded batch, through a file: equal to traces and answers of each text alone."""
    path = write_probe(tmp_path, take_probe(bert.module, bert.tokenizer, 12, TEXTS))
    probe = read_probe(path)
    assert probe.step == 12
    assert [sentence.text for sentence in probe.sentences] == list(TEXTS)
    for text, found in zip(TEXTS, probe.sentences, strict=True):
        trace = bert.trace(text.text_a, text.text_b)
        assert found.tokens == trace.tokens
        assert found.word_ids == trace.word_ids
        assert np.abs(found.attention - trace.attentions.numpy()).max() <= MAX_ERROR + 1e-6
        assert found.hidden.dtype == np.float16
        np.testing.assert_allclose(found.hidden, trace.hidden_states[-1], rtol=1e-3, atol=1e-3)
        asked = text.text_a.replace(text.hidden, "[MASK]")
        best = bert.fill_mask(asked, text.text_b, top_k=5)[0]
        assert found.top_words == [word for word, _ in best]
        assert found.top_probabilities == pytest.approx([p for _, p in best], rel=1e-4)
        assert found.word == text.hidden
        everything = bert.fill_mask(asked, text.text_b, top_k=bert.tokenizer.vocab_size)[0]
        places = {word: (rank, p) for rank, (word, p) in enumerate(everything, start=1)}
        assert found.rank == places[text.hidden][0]
        assert found.probability == pytest.approx(places[text.hidden][1], rel=1e-4)
    alone, pair = probe.sentences
    assert alone.is_next is None
    expected = bert.next_sentence(TEXTS[1].text_a, TEXTS[1].text_b or "").is_next
    assert pair.is_next == pytest.approx(expected, rel=1e-4)


def test_a_probe_leaves_no_mark_on_the_training(bert: Bert) -> None:
    bert.module.train()
    before = torch.get_rng_state()
    take_probe(bert.module, bert.tokenizer, 0)
    assert bert.module.training
    assert torch.equal(torch.get_rng_state(), before)
    assert all(p.grad is None for p in bert.module.parameters())


def test_a_resumed_run_ends_with_the_probes_of_a_whole_one(tmp_path: Path) -> None:
    build(tmp_path / "whole").run()
    part = build(tmp_path / "part")
    part.run(should_stop=lambda: part.progress.step == 12)
    # As if killed at 20, after the checkpoint of step 12: that probe must not stay.
    network = tiny_network(tiny_config(num_hidden_layers=1))
    write_probe(tmp_path / "part" / "probes", take_probe(network, tiny_tokenizer(), 15))
    (tmp_path / "part" / "probes" / ".step-20.npz.partial").write_bytes(b"half")
    build(tmp_path / "part", resume=True).run()
    names = [sorted(p.name for p in (tmp_path / n / "probes").iterdir()) for n in ("whole", "part")]
    assert names[0] == names[1]
    for ours, theirs in zip(
        read_probes(tmp_path / "part"), read_probes(tmp_path / "whole"), strict=True
    ):
        for a, b in zip(ours.sentences, theirs.sentences, strict=True):
            np.testing.assert_array_equal(a.codes, b.codes)
            np.testing.assert_array_equal(a.hidden, b.hidden)


@pytest.mark.parametrize("damage", [b"", b"no archive", None])
def test_a_damaged_probe_is_one_sentence(bert: Bert, tmp_path: Path, damage: bytes | None) -> None:
    path = write_probe(tmp_path, take_probe(bert.module, bert.tokenizer, 3, TEXTS))
    path.write_bytes(path.read_bytes()[:400] if damage is None else damage)
    with pytest.raises(RuntimeError, match=r"step-3\.npz' is damaged"):
        read_probe(path)
