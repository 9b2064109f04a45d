"""SpanBERT's two losses against the formulas written out, and the head in a run's checkpoints."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

from bertcore import load
from bertcore.training.pretraining import Batches, DataConfig
from bertcore.training.pretraining.objectives.spans import (
    HEAD_FILE,
    LONGEST,
    BoundaryHead,
    SpanBoundary,
)
from tests.support.small_corpus import small_corpus
from tests.support.tiny import tiny_config, tiny_network, tiny_tokenizer
from tests.support.tiny_runs import build

CONFIG = DataConfig.for_length(64, objective="span-sbo", batch_size=6)
CPU = torch.device("cpu")


@pytest.mark.parity
@pytest.mark.parametrize("embedding_size", [None, 16])
def test_losses_are_the_formulas(embedding_size: int | None) -> None:
    """One token at a time: z = LN(GELU(W2 LN(GELU(W1 [left; right; p])))), logits = E z + b."""
    changes = {} if embedding_size is None else {"embedding_size": 16, "model_type": "electra"}
    network = tiny_network(tiny_config(**changes), heads=frozenset({"mlm"}))
    head = BoundaryHead(network.config, torch.Generator().manual_seed(1))
    with torch.no_grad():
        for parameter in head.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=torch.Generator()))
    batch: Any = Batches(small_corpus(), tiny_tokenizer(), CONFIG, seed=1).batch(0)
    module = SpanBoundary(network, head).eval()
    found = module(batch.to(CPU))
    hidden = network(batch.input_ids, batch.segment_ids, batch.attention_mask)
    by_word, by_span = [], []
    for row in range(6):
        places = batch.positions[row][batch.weights[row] == 1].tolist()
        ids = dict(zip(places, batch.labels[row].tolist(), strict=False))
        for place in places:
            label = torch.tensor([ids[place]])
            by_word.append(F.cross_entropy(network.mlm_logits(hidden[row, place])[None], label))
            start = max(p for p in range(place + 1) if p - 1 not in ids)
            end = min(p for p in range(place, 64) if p not in ids)
            p = head.positions.weight[place - start]
            z = torch.cat([hidden[row, start - 1], hidden[row, end], p])
            z = head.norm(F.gelu(head.dense(z)))
            z = head.output_norm(F.gelu(head.output(z)))
            logits = network.token_table @ z + head.word_bias
            by_span.append(F.cross_entropy(logits[None], label))
    expected = torch.stack(by_word).mean(), torch.stack(by_span).mean()
    assert found["mlm_loss"].item() == pytest.approx(expected[0].item(), abs=1e-5)
    assert found["sbo_loss"].item() == pytest.approx(expected[1].item(), abs=1e-5)
    assert found["loss"].item() == pytest.approx(sum(expected).item(), abs=1e-5)  # type: ignore[union-attr]
    trained = [*network.parameters(), *head.parameters()]
    ours = torch.autograd.grad(found["loss"], trained, allow_unused=True)
    theirs = torch.autograd.grad(sum(expected), trained, allow_unused=True)  # type: ignore[arg-type]
    for one, other in zip(ours, theirs, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, atol=1e-5, rtol=0)


def test_tokens_far_inside_a_span_are_left_out() -> None:
    network = tiny_network(heads=frozenset({"mlm"}))
    head = BoundaryHead(network.config, torch.Generator().manual_seed(1))
    batch: Any = Batches(small_corpus(), tiny_tokenizer(), CONFIG, seed=1).batch(0)
    module = SpanBoundary(network, head).eval()
    found = module({**batch.to(CPU), "offset": torch.where(batch.offset > 0, LONGEST + 1, 0)})
    assert found["sbo_loss"].item() == 0
    assert found["mlm_loss"].item() > 0


def test_spans_have_the_share_and_random_tokens_are_from_the_text() -> None:
    config = replace(CONFIG, mask_shares="0/0/100")
    corpus = small_corpus()
    seen = set(corpus.ids.tolist())
    batches = Batches(corpus, tiny_tokenizer(), config, seed=2)
    for step in range(8):
        batch: Any = batches.batch(step)
        text = torch.tensor([int(row[1] - row[0]) for row in batches._instances_at(step).spans])
        assert batch.weights.sum(1).tolist() == torch.ceil(0.15 * text).tolist()
        put = batch.input_ids.gather(1, batch.positions)[batch.weights == 1]
        assert set(put.tolist()) <= seen


def test_the_head_is_kept_with_the_checkpoint(tmp_path: Path) -> None:
    run = build(tmp_path, "span-sbo", steps=2)
    scores = run.run()
    assert {"span_loss", "sbo_loss", "sbo_top1", "mlm_loss"} <= scores.to_dict().keys()
    folder = run.folder.checkpoints()[-1]
    stored = load_file(folder / HEAD_FILE)
    for name, tensor in run.companion.state_dict().items():
        assert torch.equal(stored[name], tensor)
    bert = load(folder, device="cpu")
    assert bert.fill_mask("the [MASK] runs", top_k=1)
    assert not bert.report.unexpected
