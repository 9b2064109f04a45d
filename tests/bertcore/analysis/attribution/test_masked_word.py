"""Attribution of a masked word's logit: captum, the integral by hand, and the axioms."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from bertcore import Bert, Model, load, untrained
from bertcore.analysis import predict_masks
from bertcore.analysis.attribution import attribute_word, check_random_weights
from tests.support.tiny import causal_bert, tiny_bert
from tests.support.tiny_families import make
from tests.support.tiny_others import make_other

TEXT = "the [MASK] bank was steep and the water ran down"
PLACE = 2


@pytest.mark.parity
def test_captum_on_transformers_own_bert(bert: Bert, tmp_path: Path) -> None:
    from captum.attr import IntegratedGradients
    from transformers import BertForMaskedLM

    theirs = BertForMaskedLM.from_pretrained(bert.save(tmp_path / "t")).eval()
    trace = bert.trace(TEXT, "it had rained")
    segments = torch.tensor([trace.segment_ids])
    river = bert.tokenizer.vocab.index("river")

    def logit(embeds: torch.Tensor) -> torch.Tensor:
        many = segments.expand(len(embeds), -1)
        return theirs(inputs_embeds=embeds, token_type_ids=many).logits[:, PLACE, river]

    ids = torch.tensor([trace.input_ids])
    hidden = torch.where(torch.tensor(trace.text_ids) >= 0, bert.tokenizer.mask_id, ids)
    table = theirs.bert.embeddings.word_embeddings
    inputs, start = table(ids).detach(), table(hidden).detach()
    expected, delta = IntegratedGradients(logit).attribute(
        inputs, start, n_steps=30, return_convergence_delta=True
    )
    result = attribute_word(bert, trace, None, "river", steps=30)
    np.testing.assert_allclose(result.shares, expected.sum(-1)[0].detach(), atol=1e-5)
    assert result.delta == pytest.approx(float(delta[0]), abs=1e-5)
    assert result.logit == pytest.approx(logit(inputs).item(), abs=1e-5)
    assert result.baseline == pytest.approx(logit(start).item(), abs=1e-5)
    assert (result.position, result.word) == (PLACE, "river")


@pytest.mark.parametrize("family", ["Bert", "Albert", "ModernBert", "DebertaV2", "MPNet"])
def test_the_sum_and_the_best_word(family: str, tmp_path: Path) -> None:
    opened: Model = tiny_bert()
    if family in ("DebertaV2", "MPNet"):
        make_other(f"{family}ForMaskedLM", tmp_path)
        opened = load(tmp_path, device="cpu")
    elif family != "Bert":
        make(f"{family}ForMaskedLM", tmp_path)
        opened = load(tmp_path, device="cpu")
    mask = opened.tokenizer.mask_token
    trace = opened.trace(f"the {mask} bank was steep")
    result = attribute_word(opened, trace, steps=120)
    assert result.word == predict_masks(opened, f"the {mask} bank was steep").words[0, 0]
    change = result.logit - result.baseline
    assert result.shares.sum() == pytest.approx(change, abs=0.02 * abs(change) + 1e-3)
    assert result.delta == pytest.approx(float(result.shares.sum()) - change, abs=1e-4)
    hidden = [text < 0 or i == result.position for i, text in enumerate(trace.text_ids)]
    assert not result.shares[hidden].any()


def test_the_integral_by_small_steps(bert: Bert) -> None:
    """Sum what the logit changes by while one token after the other moves a little."""
    trace = bert.trace(TEXT)
    network = copy.deepcopy(bert.module).double()
    ids, segments = torch.tensor([trace.input_ids]), torch.tensor([trace.segment_ids])
    river = bert.tokenizer.vocab.index("river")
    with torch.no_grad():
        parts = network.look_up(ids, segments)
        start = network.token_table[bert.tokenizer.mask_id].expand_as(parts.token)
        added = (torch.tensor(trace.text_ids) < 0)[None, :, None]
        way = parts.token - torch.where(added, parts.token, start)
        sums = torch.zeros(trace.num_tokens, dtype=torch.float64)
        for step in range(200):
            middle = parts.token - way * (1 - (step + 0.5) / 200)
            one = torch.eye(trace.num_tokens)[:, :, None] * way / 400
            many = torch.cat([middle + one, middle - one])
            hidden = network.run_embedded(parts._replace(token=many), ids, segments)
            logits = network.mlm_logits(hidden[:, PLACE])[:, river]
            sums += logits[: trace.num_tokens] - logits[trace.num_tokens :]
    result = attribute_word(bert, trace, PLACE, "river")
    np.testing.assert_allclose(result.shares, sums, atol=2e-4)


def test_random_weights_from_the_head_down(bert: Bert) -> None:
    trace, done = bert.trace(TEXT), []
    before = {name: weight.clone() for name, weight in bert.module.state_dict().items()}
    check = check_random_weights(bert, trace, num_draws=2, on_fraction=done.append)
    assert check.stages == ("masked-word head", "+ layer 1", "+ layer 0", "+ embeddings")
    assert done == sorted(done)
    assert done[-1] == pytest.approx(1)
    shares = attribute_word(bert, trace, steps=20).shares
    ranked = [i for i, text in enumerate(trace.text_ids) if text >= 0 and i != PLACE]
    assert check.num_tokens == len(ranked) == 13
    assert check.chance == pytest.approx(1.96 / 12**0.5)
    expected = np.empty((2, 2, 2))
    for seed in range(2):
        drawn = untrained(bert, seed)
        head = copy.deepcopy(bert.module)
        head.mlm.load_state_dict(drawn.module.mlm.state_dict())
        for number, twin in enumerate((Bert(head, bert.tokenizer), drawn)):
            other = attribute_word(twin, trace, PLACE, check.word, steps=20).shares
            pairs = (shares[ranked], other[ranked]), (abs(shares[ranked]), abs(other[ranked]))
            expected[number, :, seed] = [spearmanr(*pair).statistic for pair in pairs]
    stages = [0, 3]  # the head alone is random; everything is
    np.testing.assert_allclose(check.mean[stages], expected.mean(-1), atol=1e-6)
    np.testing.assert_allclose(check.low[stages], expected.min(-1), atol=1e-6)
    np.testing.assert_allclose(check.high[stages], expected.max(-1), atol=1e-6)
    assert all(torch.equal(before[name], now) for name, now in bert.module.state_dict().items())


def test_the_same_weights_give_the_same_order(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    def same(bert: Bert, seed: int) -> Bert:
        return Bert(copy.deepcopy(bert.module), bert.tokenizer)

    monkeypatch.setattr("bertcore.analysis.attribution.masked_word.untrained", same)
    check = check_random_weights(bert, bert.trace(TEXT), num_draws=1)
    assert check.low == pytest.approx(1)
    assert check.high == pytest.approx(1)


def test_what_cannot_be_attributed(bert: Bert, tmp_path: Path) -> None:
    trace = bert.trace(TEXT)
    for arguments, message in (
        ({"position": 99}, "position is 99"),
        ({"word": "no such word"}, "not a single piece"),
        ({"baseline": "noise"}, "baseline is 'noise'"),
        ({"steps": 1}, "steps is 1"),
    ):
        with pytest.raises(ValueError, match=message):
            attribute_word(bert, trace, **arguments)
    with pytest.raises(ValueError, match="no mask"):
        attribute_word(causal_bert(), causal_bert().trace("the river"))
    with pytest.raises(ValueError, match="at least 3"):
        check_random_weights(bert, bert.trace("the [MASK]"))
    make_other("MPNetForMaskedLM", tmp_path)
    other = load(tmp_path, device="cpu")
    with pytest.raises(ValueError, match="MPNet"):
        check_random_weights(other, other.trace("the river bank was steep"))
