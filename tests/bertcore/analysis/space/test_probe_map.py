"""The map of the probes against scikit-learn's PCA, in one projection for all moments."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from bertcore.analysis.space.probe_map import probe_map
from bertcore.training.probes import PROBE_TEXTS, Probe, take_probe
from tests.support.tiny import tiny_network, tiny_tokenizer


@pytest.fixture(scope="module")
def probes() -> list[Probe]:
    return [take_probe(tiny_network(seed=seed), tiny_tokenizer(), seed) for seed in range(3)]


def words(probe: Probe) -> np.ndarray:
    kept = [s.hidden[np.array(s.word_ids) >= 0] for s in probe.sentences]
    return np.concatenate(kept).astype(np.float64)


def test_the_last_moment_is_its_pca(probes: list[Probe]) -> None:
    found = probe_map(probes)
    expected = PCA(2).fit(words(probes[-1]))
    theirs = expected.transform(words(probes[-1]))
    np.testing.assert_allclose(np.abs(found.coordinates[-1]), np.abs(theirs), atol=1e-4)
    assert found.explained[-1] == pytest.approx(expected.explained_variance_ratio_.sum())


def test_the_other_moments_are_seen_along_the_same_axes(probes: list[Probe]) -> None:
    found = probe_map(probes)
    axes = PCA(2).fit(words(probes[-1])).components_
    first = words(probes[0])
    theirs = (first - first.mean(0)) @ axes.T
    np.testing.assert_allclose(np.abs(found.coordinates[0]), np.abs(theirs), atol=1e-4)
    assert found.steps == [0, 1, 2]
    assert (found.explained > 0).all()
    assert found.explained.max() <= 1


def test_each_point_is_named(probes: list[Probe]) -> None:
    found = probe_map(probes)
    assert "[CLS]" not in found.tokens
    assert "[SEP]" not in found.tokens
    for token, sentence, position, kind in zip(
        found.tokens, found.sentences, found.positions, found.kinds, strict=True
    ):
        probe = probes[0].sentences[sentence]
        assert probe.tokens[position] == token
        assert kind == PROBE_TEXTS[sentence].kinds[probe.word_ids[position]]
    assert len(found.tokens) == found.coordinates.shape[1]


def test_no_probe_is_one_sentence() -> None:
    with pytest.raises(ValueError, match="no probe yet"):
        probe_map([])
