"""Causal pretraining: a checkpoint of transformers' class that predicts next tokens."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertLMHeadModel

from bertcore import BertConfig, load
from bertcore.analysis import next_surprise, predict_next
from bertcore.model.network import Network
from bertcore.model.network.initialize import initialize
from bertcore.training.engine.probes import read_probes
from bertcore.training.pretraining import Pretraining, evaluate_pretraining
from tests.support.tiny import causal_bert, tiny_bert, tiny_config, tiny_tokenizer
from tests.support.tiny_runs import build


def test_no_token_sees_what_follows(tmp_path: Path) -> None:
    bert = causal_bert()
    opened = load(bert.save(tmp_path / "causal"), device="cpu")
    trace = opened.trace("the dog runs to the river", "it was cold")
    later = torch.ones(trace.num_tokens, trace.num_tokens, dtype=torch.bool).triu(1)
    assert not trace.attentions[:, :, later].any()
    torch.testing.assert_close(trace.attentions.sum(-1), torch.ones(2, 4, trace.num_tokens))
    other = opened.trace("the dog runs to the shop", "he was good")
    same = 5  # [CLS] the dog runs to the
    torch.testing.assert_close(
        trace.hidden_states[:, : same + 1], other.hidden_states[:, : same + 1]
    )
    # The same through the fast path, and in a padded batch.
    ids = torch.tensor([[*trace.input_ids, 0, 0]])
    mask = torch.tensor([[True] * trace.num_tokens + [False] * 2])
    segments = torch.tensor([[*trace.segment_ids, 0, 0]])
    hidden = opened.module(ids, segments, mask)[0, : trace.num_tokens]
    torch.testing.assert_close(hidden, trace.hidden_states[-1], atol=1e-5, rtol=0)


def test_the_checkpoint_predicts_next_tokens_and_fills_no_masks(tmp_path: Path) -> None:
    folder = causal_bert().save(tmp_path / "causal")
    assert json.loads((folder / "config.json").read_text())["is_decoder"] is True
    bert = load(folder, device="cpu")
    assert "next" in bert.capabilities
    assert not {"mlm", "nsp", "pooler", "mask"} & bert.capabilities
    assert bert.report.heads == ("next",)
    with pytest.raises(ValueError, match="has no mask: it predicts each token"):
        bert.fill_mask("the [MASK] runs")
    theirs = BertLMHeadModel.from_pretrained(folder).eval()
    trace = bert.trace("the dog runs")
    with torch.no_grad():
        logits = theirs(torch.tensor([trace.input_ids])).logits[0]
    found = predict_next(bert, "the dog runs", positions=[2], top_k=3)
    best = logits[1].softmax(-1).topk(3)
    assert found.words[0].tolist() == [bert.tokenizer.id_to_token(i) for i in best.indices.tolist()]
    assert found.probabilities[0].tolist() == pytest.approx(best.values.tolist(), abs=1e-5)
    # Of itself it says what comes after the text, where [SEP] stands.
    assert predict_next(bert, "the dog runs").positions == (trace.num_tokens - 1,)
    scored = next_surprise(bert, "the dog runs")
    actual = torch.tensor(trace.input_ids[1:-1])[:, None]  # [SEP], which was added, is not scored
    expected = -logits[:-2].log_softmax(-1).gather(1, actual)[:, 0] / torch.tensor(2.0).log()
    assert scored.bits.tolist() == pytest.approx(expected.tolist(), abs=1e-4)


def test_a_run_from_a_bert_and_on_from_its_own_checkpoint(tmp_path: Path) -> None:
    def go_on(path: Path, objective: str, shape: BertConfig, start: Network) -> Pretraining:
        return build(path, objective, shape=shape, start_from=start, steps=2, start="checkpoint")

    bert = tiny_bert()
    run = go_on(tmp_path / "a", "causal", bert.config, bert.module)
    assert torch.equal(run.network.token_table, bert.module.token_table)
    assert any("left out" in notice for notice in run.notices)
    scores = run.run()
    assert {"loss", "next_loss", "next_top1"} <= scores.to_dict().keys()
    own = load(run.folder.checkpoints()[-1], device="cpu")
    (probed,) = [probe.sentences[0] for probe in read_probes(tmp_path / "a") if probe.step == 2]
    assert not np.triu(probed.codes, 1).any()
    words = probed.text.text_a
    before = own.module(torch.tensor([own.tokenizer.encode(words).input_ids[: probed.masked]]))
    p = own.module.next_logits(before[0, -1]).softmax(-1)
    assert probed.top_probabilities[0] == pytest.approx(float(p.max()), rel=1e-3)
    again = go_on(tmp_path / "b", "causal", own.config, own.module)  # type: ignore[arg-type]
    assert again.run() is not None
    for objective in ("mlm", "mlm+nsp", "wwm"):
        masked = go_on(tmp_path / objective, objective, own.config, own.module)  # type: ignore[arg-type]
        assert any("attend to both sides" in notice for notice in masked.notices)
        assert torch.equal(masked.network.token_table, own.module.token_table)
        assert masked.run() is not None
        opened = load(masked.folder.checkpoints()[-1], device="cpu")
        assert not opened.config.is_decoder
        before, after = (
            opened.trace(text).attentions[0] for text in ("the dog runs", "the dog sat")
        )
        assert float(before[..., 1, 3].max()) > 0  # an early token attends to a late one
        assert not torch.equal(before[..., 1, :], after[..., 1, :])


def test_a_causal_network_fills_no_masks() -> None:
    with pytest.raises(ValueError, match="has no mask"):
        evaluate_pretraining(causal_bert().module, [], tiny_tokenizer())
    network = initialize(Network(tiny_config(is_decoder=True)), torch.Generator())
    with pytest.raises(ValueError, match="has no mask"):
        network.mlm_logits(torch.zeros(1, 1, 32))
