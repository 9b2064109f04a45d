"""Causal pretraining: transformers' loss, its class, and a checkpoint that predicts next tokens."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import BertLMHeadModel

from bertcore import Bert, load
from bertcore.analysis.words.next_words import next_surprise, predict_next
from bertcore.architecture.config import BertConfig
from bertcore.grammar import log_likelihoods
from bertcore.network import Network
from bertcore.network.initialize import initialize
from bertcore.pretraining import (
    OptimizerConfig,
    Pretraining,
    RunFolder,
    evaluate_pretraining,
)
from bertcore.pretraining.objectives import objective_named
from bertcore.training.probes import read_probes
from tests.bertcore.pretraining.objectives.test_objectives import DATA, TRAIN, build
from tests.support.batch_checks import assert_same_gradient
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_bert, tiny_config, tiny_network, tiny_tokenizer

CAUSAL = tiny_config(is_decoder=True)


def causal_bert() -> Bert:
    return Bert(tiny_network(CAUSAL, heads=frozenset({"mlm"})), tiny_tokenizer())


@pytest.mark.parity
def test_loss_and_gradients_are_those_of_transformers(tmp_path: Path) -> None:
    bert = causal_bert()
    theirs = BertLMHeadModel.from_pretrained(bert.save(tmp_path / "causal")).eval()
    assert theirs.config.is_decoder
    objective = objective_named("causal")
    module = objective.with_loss(bert.module, None, dtype="float32", is_compiled=False).eval()
    corpus, config = small_corpus(), replace(DATA, objective="causal", max_seq_length=40)
    batches = list(objective.held_out(corpus, tiny_tokenizer(), config, seed=0, num_rows=10**6))
    batch: Any
    for batch in (batches[0], batches[-1]):
        ids, mask = batch.masked.input_ids, batch.attention_mask
        expected = theirs(
            input_ids=ids,
            token_type_ids=batch.segment_ids,
            attention_mask=mask.long(),
            labels=ids.masked_fill(~mask, -100),
        )
        found = module(objective.tensors(batch, torch.device("cpu"), keep_mask=False))
        assert found.loss.item() == pytest.approx(expected.loss.item(), abs=1e-5)
    assert_same_gradient(bert.module, found.loss, theirs, expected)


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
    assert bert.report is not None
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


def test_a_perplexity_is_of_the_tokens_of_the_text_alone() -> None:
    bert = causal_bert()
    for text in (("the dog runs", None), ("the dog runs", "it was cold")):
        scored, encoding = next_surprise(bert, *text), bert.tokenize(*text)
        assert scored.tokens == tuple(t for t in encoding.tokens if not t.startswith("["))
        (log_p,) = log_likelihoods(bert, [encoding])
        expected = np.exp(-log_p / len(scored.tokens))
        assert scored.pseudo_perplexity == pytest.approx(expected, rel=1e-4)
    with pytest.raises(ValueError, match="no token of the text follows another"):
        next_surprise(bert, "")
    found = predict_next(bert, "the dog runs", positions=[3, 4, 5])
    assert found.originals == ("runs", None, None)  # of the text, the added [SEP], the end


def test_a_run_from_a_bert_and_on_from_its_own_checkpoint(tmp_path: Path) -> None:
    def go_on(path: Path, objective: str, shape: BertConfig, start: Network) -> Pretraining:
        return Pretraining(
            RunFolder(path),
            shape=shape,
            tokenizer=tiny_tokenizer(),
            train=small_corpus(),
            valid=small_corpus(8, seed=5),
            train_config=replace(TRAIN, steps=2, start="checkpoint"),
            data_config=replace(DATA, objective=objective),
            optimizer_config=OptimizerConfig(),
            start_from=start,
        )

    bert = tiny_bert()
    run = go_on(tmp_path / "a", "causal", bert.config, bert.module)
    assert torch.equal(run.network.token_table, bert.module.token_table)
    assert any("left out" in notice for notice in run.notices)
    scores = run.run()
    assert scores is not None
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


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    roberta = tiny_config(model_type="roberta", position_offset=1)
    with pytest.raises(ValueError, match="trains BERT itself, but the network is RoBERTa"):
        objective_named("causal").check(roberta, replace(DATA, objective="causal"))
    with pytest.raises(ValueError, match="mask_shares would have no effect"):
        build(tmp_path, "causal", mask_shares="100/0/0")
    with pytest.raises(ValueError, match="is_decoder is True with model_type 'electra'"):
        tiny_config(model_type="electra", is_decoder=True)
    values = roberta.to_hf_dict() | {"is_decoder": True}
    with pytest.raises(ValueError, match="is_decoder = True; RoBERTa"):
        BertConfig.from_hf_dict(values)
    assert "is_decoder" not in tiny_config().to_hf_dict()
    with pytest.raises(ValueError, match="has no mask"):
        evaluate_pretraining(causal_bert().module, [], tiny_tokenizer())
    network = initialize(Network(CAUSAL), torch.Generator())
    with pytest.raises(ValueError, match="has no mask"):
        network.mlm_logits(torch.zeros(1, 1, 32))
