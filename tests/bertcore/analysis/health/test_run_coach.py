"""Each rule of the coach on metrics made to trip it, and silence on a healthy run."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

from bertcore.analysis.heads.entropy_history import HeadHistory, head_history
from bertcore.analysis.health.run_coach import SEVERITIES, check_run
from bertcore.base.quantize import quantize
from bertcore.training.probes import Probe, ProbeText, SentenceProbe

ENTROPY = 6.0
NUM_LINES = 100


def healthy_run(num_lines: int = NUM_LINES) -> list[dict[str, Any]]:
    """Return metrics of a run that learns: words from step 0, pairs from a quarter of the run."""
    rng = Random(0)
    lines: list[dict[str, Any]] = []
    for index in range(1, num_lines + 1):
        share = index / num_lines
        mlm = 2.5 + 4.5 * (1 - share) ** 2 + rng.gauss(0, 0.08)
        nsp = 0.69 if share < 0.25 else 0.69 - 0.5 * (share - 0.25)
        line: dict[str, Any] = {
            "step": 20 * index,
            "loss": mlm + nsp,
            "mlm_loss": mlm,
            "nsp_loss": nsp,
            "gradient_norm": 1.0 + 4 * (1 - share) + rng.random(),
        }
        if index % 10 == 0:
            line |= {
                "valid_mlm_loss": 2.7 + 4.3 * (1 - share) ** 2,
                "valid_mlm_top1": 0.5 * share,
                "valid_nsp_accuracy": 0.5 if share < 0.25 else 0.5 + 0.55 * (share - 0.25),
                "valid_num_pairs": 512,
                "valid_share_random": 0.5,
            }
        lines.append(line)
    return lines


def heads(*, uniform: int = 0, stuck: int = 0, total: int = 8) -> HeadHistory:
    spread = np.full((4, 1, total), 0.6)
    favourite = np.full((4, 1, total), 0.4)
    spread[:, 0, :uniform] = 0.999
    spread[:, 0, uniform : uniform + stuck] = 0.01
    favourite[:, 0, uniform : uniform + stuck] = 0.99
    return HeadHistory([0, 100, 200, 300], spread, favourite)


def found(lines: list[dict[str, Any]], share: float = 1.0, **more: Any) -> dict[str, str]:
    findings = check_run(lines, fraction_done=share, unigram_entropy=ENTROPY, **more)
    for finding in findings:
        assert finding.sentence.endswith(".")
        assert finding.severity in SEVERITIES
    return {finding.rule: finding.severity for finding in findings}


def change_scores(lines: list[dict[str, Any]], **values: Any) -> list[dict[str, Any]]:
    return [line | values if "valid_mlm_loss" in line else line for line in lines]


def test_a_healthy_run_has_no_finding() -> None:
    lines = healthy_run()
    assert found(lines, heads=heads()) == {}
    for num in (0, 1, 10, 25, 60):  # and none on its way
        assert found(lines[:num], share=num / NUM_LINES, heads=heads()) == {}


def test_pairs_at_chance() -> None:
    lines = change_scores(healthy_run(), valid_nsp_accuracy=0.53)
    assert found(lines) == {"nsp_chance": "warning"}
    assert found(lines[:25], share=0.25) == {}  # too early to say
    # Where three of four pairs are random, always saying so is chance.
    lines = change_scores(healthy_run(), valid_nsp_accuracy=0.76, valid_share_random=0.75)
    assert found(lines) == {"nsp_chance": "warning"}


def test_pairs_right_before_words_are_known() -> None:
    lines = healthy_run()
    lines[9] |= {"valid_nsp_accuracy": 1.0}
    assert found(lines) == {"nsp_too_good": "warning"}
    lines = healthy_run()
    lines[-1] |= {"valid_nsp_accuracy": 1.0}  # words are known by then
    assert found(lines) == {}
    lines[9] |= {"valid_nsp_accuracy": 1.0}
    rules = {finding.rule for finding in check_run(lines, fraction_done=1.0)}
    assert rules == {"nsp_too_good"}  # without an entropy top-1 decides


def test_the_plateau_at_the_unigram_entropy() -> None:
    lines = change_scores(healthy_run(), valid_mlm_loss=5.95)
    lines = [line | {"mlm_loss": 5.95} for line in lines]
    assert found(lines) == {"unigram_plateau": "warning"}
    assert found(lines[:25], share=0.25) == {}
    assert not [f for f in check_run(lines, fraction_done=1.0) if f.rule == "unigram_plateau"]


def test_exploding_gradients() -> None:
    lines = healthy_run()
    for line in lines[-5:]:
        line["gradient_norm"] *= 30
    assert found(lines) == {"gradients": "problem"}
    lines = healthy_run()
    lines[-1]["gradient_norm"] = 1e6  # one odd batch is no explosion
    assert found(lines) == {}


def test_a_loss_spike_that_stays_and_one_that_comes_back() -> None:
    lines = healthy_run()
    for line in lines[-8:]:
        line["loss"] += 3
    assert found(lines) == {"loss_spike": "problem"}
    lines = healthy_run()
    for line in lines[50:55]:
        line["loss"] += 3
    assert found(lines) == {"loss_spike": "note"}
    spike = check_run(lines, fraction_done=1.0)[0]
    assert spike.step is not None
    assert 51 * 20 <= spike.step <= 60 * 20
    assert spike.evidence["loss"] - spike.evidence["loss_before"] == pytest.approx(3, abs=1.0)
    lines = healthy_run()
    lines[50]["loss"] += 3  # one odd batch
    assert found(lines) == {}


def test_dead_heads() -> None:
    lines = healthy_run()
    assert found(lines, heads=heads(uniform=1)) == {"dead_heads": "note"}
    assert found(lines, heads=heads(uniform=2, stuck=2)) == {"dead_heads": "warning"}
    assert found(lines[:20], share=0.2, heads=heads(uniform=8)) == {}
    finding = check_run(lines, fraction_done=1.0, heads=heads(uniform=1, stuck=1))[0]
    assert "layer 0 head 0, layer 0 head 1" in finding.sentence
    assert finding.evidence == {"dead": 2.0, "heads": 8.0}


def test_over_fitting() -> None:
    lines = healthy_run()
    for line, loss in zip(lines[69::10], (3.0, 3.2, 3.4, 3.6), strict=True):
        line["valid_mlm_loss"] = loss
    assert found(lines) == {"over_fitting": "warning"}
    sentence = check_run(lines, fraction_done=1.0)[0].sentence
    assert "best at step 1,400 (3.00) and is 3.60 now" in sentence


def test_over_fitting_of_another_objective_is_seen_in_its_own_loss() -> None:
    """Such runs have no masked-word loss on the training text."""
    lines = [
        {
            name.replace("valid_mlm_loss", "valid_loss"): value
            for name, value in line.items()
            if "nsp" not in name and not name.startswith("mlm_")
        }
        for line in healthy_run()
    ]
    assert found(lines) == {}
    for line, loss in zip(lines[69::10], (3.0, 3.2, 3.4, 3.6), strict=True):
        line["valid_loss"] = loss
    assert found(lines) == {"over_fitting": "warning"}


def test_a_stop_by_nan_comes_first() -> None:
    lines = change_scores(healthy_run(), valid_nsp_accuracy=0.5)
    lines.append({"step": 2021, "diverged": "loss nan", "loss": None})
    assert list(found(lines)) == ["diverged", "nsp_chance"]
    assert "step 2,021" in check_run(lines, fraction_done=1.0)[0].sentence


def probe(weights: np.ndarray) -> Probe:
    """Return a probe of one sentence with the given attention [L, H, T, T]."""
    import torch

    codes = quantize(torch.tensor(weights))
    num_tokens = weights.shape[-1]
    sentence = SentenceProbe(
        text=ProbeText("a", None, "a"),
        tokens=["a"] * num_tokens,
        word_ids=[0] * num_tokens,
        masked=0,
        codes=codes,
        hidden=np.zeros((num_tokens, 2), np.float16),
        top_words=[],
        top_probabilities=[],
        probability=0.0,
        rank=1,
        is_next=None,
    )
    return Probe(5, [sentence])


def test_spread_and_favourite_of_known_heads() -> None:
    even = np.full((8, 8), 1 / 8)
    first = np.zeros((8, 8))
    first[:, 0] = 1
    history = head_history([probe(np.stack([even, np.eye(8), first])[None])])
    assert history.steps == [5]
    np.testing.assert_allclose(history.spread[0, 0], [1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(history.favourite[0, 0], [1 / 8, 1 / 8, 1], atol=1e-3)
    assert history.uniform[0, 0].tolist() == [True, False, False]
    assert history.stuck[0, 0].tolist() == [False, False, True]


def test_spread_in_a_causal_network_is_over_the_tokens_before() -> None:
    even = np.tril(np.ones((8, 8))) / np.arange(1, 9)[:, None]
    history = head_history([probe(np.stack([even, np.eye(8)])[None])])
    np.testing.assert_allclose(history.spread[0, 0], [1, 0], atol=1e-4)
    assert history.uniform[0, 0].tolist() == [True, False]
    # One head that attends to later tokens, and the network is not causal.
    free = head_history([probe(np.stack([even, np.full((8, 8), 1 / 8)])[None])])
    np.testing.assert_allclose(free.spread[0, 0], [math.lgamma(9) / 8 / math.log(8), 1], atol=1e-3)


def test_no_probe_is_one_sentence() -> None:
    with pytest.raises(ValueError, match="no probe yet"):
        head_history([])


def test_a_run_without_next_sentences_is_not_asked_about_them() -> None:
    words = [
        {
            name: value
            for name, value in line.items()
            if name not in ("valid_nsp_accuracy", "valid_num_pairs", "valid_share_random")
        }
        for line in healthy_run()
    ]
    assert found(words) == {}
    stuck = change_scores(words, valid_mlm_loss=ENTROPY)
    assert "unigram_plateau" in found(stuck)
