"""Linear probes beside scikit-learn, control labels and baselines by hand."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from bertcore.analysis.probes.linear import L2S, Words, commonest_classes, control_classes, fit_best


def made(count: int = 300, noise: float = 1.0, seed: int = 0) -> Words:
    """Words of 3 classes around 3 centres."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(0, 3, count)
    centres = np.random.default_rng(9).normal(size=(3, 8)) * 1.5
    vectors = 5 + centres[classes] + noise * generator.normal(size=(count, 8))
    return Words(vectors.astype(np.float32), classes)


def test_the_probe_is_the_best_of_scikit_learns_on_dev() -> None:
    train, dev, test = made(), made(100, seed=1), made(100, seed=2)
    values = [words.vectors.astype(np.float64) for words in (train, dev, test)]
    mean, scale = values[0].mean(0), values[0].std(0)
    features = [
        np.pad((part - mean) / scale, ((0, 0), (0, 1)), constant_values=1) for part in values
    ]
    losses, peers = {}, {}
    for l2 in L2S:
        peer = LogisticRegression(C=1 / (300 * l2), fit_intercept=False, tol=1e-8, max_iter=5000)
        peers[l2] = peer.fit(features[0], train.classes)
        losses[l2] = log_loss(dev.classes, peer.predict_proba(features[1]))
    best = min(losses, key=losses.__getitem__)
    probe = fit_best(train, dev)
    assert probe.l2 == best
    chances = probe.classifier.predict_proba(probe.features(test.vectors))
    np.testing.assert_allclose(chances, peers[best].predict_proba(features[2]), atol=5e-3)
    np.testing.assert_array_equal(probe.predict(test.vectors), chances.argmax(1))


def test_odd_data_is_no_error() -> None:
    states = np.zeros((10, 2), dtype=np.float16)  # a constant dimension
    states[:5, 0] = 1
    halves = np.arange(10) // 5
    probe = fit_best(Words(states, halves), Words(states, halves + 1))  # a class that is new to dev
    assert probe.predict(states).tolist() == halves.tolist()
    alone = fit_best(Words(states, halves), Words(states, halves + 7))
    assert alone.predict(states).tolist() == halves.tolist()
    assert fit_best(made(40, noise=100), made(40, noise=100, seed=1)).l2 == L2S[0]
    one = fit_best(Words(states, np.full(10, 3)), Words(states, halves))
    assert one.predict(states).tolist() == [3] * 10


def test_control_classes_are_one_for_each_type_and_spread_like_the_real_ones() -> None:
    words = [f"w{n}" for n in range(4000)] * 2 + ["The", "the", "THE"]
    classes = np.array([0] * 6000 + [1] * 1500 + [2] * 503)
    is_train = np.ones(len(words), dtype=np.bool_)
    drawn = control_classes(words, classes, is_train, seed=4)
    assert (drawn[:4000] == drawn[4000:8000]).all()
    assert len(set(drawn[-3:].tolist())) == 1
    shares = np.bincount(drawn[:4000]) / 4000
    np.testing.assert_allclose(shares, [0.75, 0.187, 0.063], atol=0.02)
    assert (control_classes(words, classes, is_train, seed=4) == drawn).all()
    assert (control_classes(words, classes, is_train, seed=5) != drawn).any()
    only_first = np.arange(len(words)) < 6000
    assert set(control_classes(words, classes, only_first).tolist()) == {0}


def test_baselines_without_vectors_by_hand() -> None:
    words = ["a", "a", "A", "b", "c", "a", "d"]
    classes = np.array([1, 1, 0, 0, 0, 0, 2])
    is_train = np.array([True, True, True, True, True, False, False])
    majority, by_word = commonest_classes(words, classes, is_train)
    assert majority.tolist() == [0] * 7
    assert by_word.tolist() == [1, 1, 1, 0, 0, 1, 0]  # d is not in train: the majority
