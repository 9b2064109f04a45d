"""Linear probes beside scikit-learn, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from bertcore.probes.linear import cross_entropy, fit, fit_best


@pytest.fixture(scope="module")
def words() -> tuple[np.ndarray, np.ndarray]:
    """Two layers of 300 words of 3 classes; the second layer tells more."""
    generator = np.random.default_rng(0)
    classes = generator.integers(0, 3, 300)
    centres = generator.normal(size=(3, 8)) * 1.5
    noise = generator.normal(size=(2, 300, 8))
    states = 5 + np.stack([3 * noise[0], centres[classes] + noise[1]])
    return states.astype(np.float32), classes


@pytest.mark.parametrize("l2", [1e-1, 1e-3])
def test_probabilities_are_those_of_scikit_learn(
    words: tuple[np.ndarray, np.ndarray], l2: float
) -> None:
    states, classes = words
    probe = fit(states[1:], classes, 3, l2)
    values = states[1].astype(np.float64)
    features = (values - values.mean(0)) / values.std(0)
    features = np.concatenate([features, np.ones((300, 1))], axis=1)
    peer = LogisticRegression(C=1 / (300 * l2), fit_intercept=False, tol=1e-8, max_iter=5000)
    peer.fit(features, classes)
    found = probe.log_probabilities(states[1:]).exp().numpy()
    np.testing.assert_allclose(found, peer.predict_proba(features), atol=2e-3)
    np.testing.assert_allclose(probe.weight.numpy(), peer.coef_, atol=1e-2)
    expected = log_loss(classes, peer.predict_proba(features))
    assert cross_entropy(probe, states[1:], classes) == pytest.approx(expected, abs=1e-4)


def test_a_class_without_an_example_has_a_probability(
    words: tuple[np.ndarray, np.ndarray],
) -> None:
    states, classes = words
    probe = fit(states[1:], classes, 4, 1e-2)
    found = probe.log_probabilities(states[1:])[:, 3].exp()
    assert float(found.min()) > 0
    assert float(found.mean()) < 0.05


def test_a_mix_finds_the_layer_that_tells(words: tuple[np.ndarray, np.ndarray]) -> None:
    states, classes = words
    probe = fit(states, classes, 3, 1e-3)
    assert float(probe.mix.sum()) == pytest.approx(1)
    assert float(probe.mix[1]) > 0.75
    assert (probe.predict(states) == classes).mean() > 0.9
    # At the minimum of the loss that the docstring states, its gradient is zero.
    weight = probe.weight.clone().requires_grad_()
    raw = probe.mix.log().requires_grad_()
    values = torch.from_numpy(states)
    features = (values - probe.mean) / probe.scale
    mixed = torch.einsum("m,mnd->nd", torch.softmax(raw, 0), features)
    logits = mixed @ weight[:, :-1].T + weight[:, -1]
    loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(classes))
    (loss + 0.5 * probe.l2 * weight.square().sum()).backward()
    assert weight.grad is not None
    assert raw.grad is not None
    assert float(weight.grad.abs().max()) < 1e-3
    assert float(raw.grad.abs().max()) < 1e-3


def test_the_penalty_is_chosen_on_dev() -> None:
    generator = np.random.default_rng(3)
    noise = generator.normal(size=(1, 80, 30)).astype(np.float32)
    labels = generator.integers(0, 2, 80)
    train, dev = (noise[:, :40], labels[:40]), (noise[:, 40:], labels[40:])
    assert fit_best(train, dev, 2).l2 == 0.1  # vectors that tell nothing
    told = noise.copy()
    told[0, :, 0] += 8 * labels
    train, dev = (told[:, :40], labels[:40]), (told[:, 40:], labels[40:])
    best = fit_best(train, dev, 2)
    losses = {l2: cross_entropy(fit(*train, 2, l2), *dev) for l2 in (1e-1, 1e-2, 1e-3, 1e-4)}
    assert best.l2 == min(losses, key=losses.__getitem__)


def test_a_constant_dimension_does_no_harm() -> None:
    states = np.zeros((1, 10, 2), dtype=np.float16)
    states[0, :5, 0] = 1
    probe = fit(states, np.arange(10) // 5, 2, 1e-2)
    assert probe.predict(states).tolist() == [0] * 5 + [1] * 5
