"""The map of an encoded corpus: fit and transform, kept beside the corpus, hostile input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bertcore import load
from bertcore.analysis.space.corpus_map import (
    CorpusMapSettings,
    corpus_map,
    dense_regions,
    kept_map,
)
from bertcore.analysis.space.map_quality import faithfulness
from bertcore.analysis.space.projection import fit, map_layers, pca
from bertcore.configs.maps import PacmapSettings, TsneSettings, UmapSettings
from bertcore.corpus import EncodedCorpus, EncodeSettings, encode_corpus, open_encoded
from bertcore.corpus.parts import about
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_bert


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory) -> EncodedCorpus:
    folder = tmp_path_factory.mktemp("map")
    bert = load(tiny_bert().save(folder / "tiny"), device="cpu")
    text = write_documents(folder / "text.txt", small_documents(20))
    settings = EncodeSettings(layers=(0, 2), dtype="float32")
    encode_corpus(bert, [text], folder / "encoded", settings)
    return open_encoded(folder / "encoded")


def vectors_of(corpus: EncodedCorpus, rows: np.ndarray) -> np.ndarray:
    return np.stack([corpus.vectors(layer)[rows] for layer in corpus.layers]).astype("f4")


def test_a_corpus_that_is_fitted_whole_has_the_map_of_its_layers(encoded: EncodedCorpus) -> None:
    found = corpus_map(encoded, CorpusMapSettings(layers=(0, 2), num_fitted=200_000), keep=False)
    assert (found.rows == np.arange(len(encoded))).all()
    vectors = vectors_of(encoded, found.rows)
    expected = map_layers(vectors)
    np.testing.assert_allclose(found.coordinates, expected.coordinates, atol=1e-3)
    np.testing.assert_allclose(found.explained, expected.explained, atol=1e-3)


def test_the_rows_beyond_the_sample_are_transformed(encoded: EncodedCorpus) -> None:
    settings = CorpusMapSettings(layers=(2,), num_fitted=60, num_points=150, seed=3)
    found = corpus_map(encoded, settings, keep=False)
    assert (len(found.rows), found.num_fitted, found.coordinates.shape) == (150, 60, (1, 150, 2))
    assert (np.diff(found.rows) > 0).all()
    rng = np.random.default_rng(3)
    rows = np.sort(rng.choice(len(encoded), 150, replace=False))
    sample = np.sort(rng.choice(rows, 60, replace=False))
    np.testing.assert_array_equal(found.rows, rows)
    of_sample = vectors_of(encoded, sample)[1]
    size = np.sqrt(((of_sample - of_sample.mean(0)) ** 2).sum(1).mean())
    levelled = (vectors_of(encoded, rows)[1] - of_sample.mean(0)) / size
    plane = pca((of_sample - of_sample.mean(0)) / size, 2)
    np.testing.assert_allclose(found.coordinates[0], plane.transform(levelled), atol=1e-3)
    inside = np.isin(rows, sample)
    quality = faithfulness(levelled[None, inside], found.coordinates[:, inside])
    assert found.quality.trustworthiness[0] == pytest.approx(quality.trustworthiness[0])
    assert found.quality.continuity[0] == pytest.approx(quality.continuity[0])


def test_a_map_is_kept_and_read_back(encoded: EncodedCorpus) -> None:
    settings = CorpusMapSettings(layers=(0, 2), num_fitted=100)
    path = kept_map(encoded, settings)
    heard: list[str] = []
    first = corpus_map(encoded, settings, progress=lambda share, stage: heard.append(stage))
    assert path.is_file()
    assert any("Placing" in stage for stage in heard)
    again = corpus_map(encoded, settings, progress=lambda share, stage: pytest.fail("computed"))
    for name in ("rows", "coordinates", "explained"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert again.quality.k == first.quality.k
    path.write_bytes(path.read_bytes()[:100])  # cut off by a full disk
    third = corpus_map(encoded, settings)
    np.testing.assert_array_equal(first.coordinates, third.coordinates)
    assert not list(about(encoded.folder).glob("*.partial"))


def test_other_settings_and_other_content_have_other_files(encoded: EncodedCorpus) -> None:
    settings = CorpusMapSettings(layers=(0, 2))
    changed = open_encoded(encoded.folder)
    changed.manifest.sources[0]["sha256"] = "0"
    names = {
        kept_map(encoded, settings),
        kept_map(encoded, CorpusMapSettings(layers=(0, 2), seed=1)),
        kept_map(encoded, CorpusMapSettings(layers=(2,))),
        kept_map(encoded, CorpusMapSettings(layers=(0, 2), umap=UmapSettings(n_neighbors=5))),
        kept_map(encoded, CorpusMapSettings(layers=(0, 2), method="tsne")),
        kept_map(
            encoded,
            CorpusMapSettings(layers=(0, 2), method="tsne", tsne=TsneSettings(perplexity=5)),
        ),
        kept_map(encoded, CorpusMapSettings(layers=(0, 2), method="pacmap")),
        kept_map(changed, settings),
    }
    assert len(names) == 8
    unused = CorpusMapSettings(layers=(0, 2), tsne=TsneSettings(perplexity=5))
    assert kept_map(encoded, unused) == kept_map(encoded, settings)
    assert kept_map(open_encoded(encoded.folder), settings) == kept_map(encoded, settings)


def test_a_progress_that_raises_leaves_nothing(encoded: EncodedCorpus) -> None:
    settings = CorpusMapSettings(layers=(0,), seed=9)

    def stop(share: float, stage: str) -> None:
        if "Placing" in stage:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        corpus_map(encoded, settings, progress=stop)
    assert not kept_map(encoded, settings).is_file()


@pytest.mark.slow  # opening UMAP compiles its kernels
def test_umap_is_fitted_to_the_sample_and_places_the_rest(encoded: EncodedCorpus) -> None:
    settings = CorpusMapSettings(
        layers=(0, 2), method="umap", num_fitted=200, num_points=300, umap=UmapSettings(seed=1)
    )
    found = corpus_map(encoded, settings, keep=False)
    assert found.coordinates.shape == (2, 300, 2)
    assert np.isfinite(found.coordinates).all()
    assert np.isnan(found.explained).all()
    assert found.num_fitted == 100
    assert (found.quality.trustworthiness > 0.7).all()
    # Those that were placed lie among those that were fitted.
    low, high = found.coordinates.min((0, 1)), found.coordinates.max((0, 1))
    assert (high - low < 100).all()


@pytest.mark.slow  # opening PaCMAP compiles its kernels
@pytest.mark.parametrize("method", ["tsne", "pacmap"])
def test_tsne_and_pacmap_place_the_rest_by_their_own_transform(
    encoded: EncodedCorpus, method: str
) -> None:
    given = {
        "tsne": TsneSettings(perplexity=9, n_iter=100),
        "pacmap": PacmapSettings(n_neighbors=7),
    }
    settings = CorpusMapSettings(
        layers=(2,),
        method=method,
        num_fitted=120,
        num_points=200,
        seed=3,
        **{method: given[method]},
    )
    found = corpus_map(encoded, settings, keep=False)
    rng = np.random.default_rng(3)
    rows = np.sort(rng.choice(len(encoded), 200, replace=False))
    sample = np.sort(rng.choice(rows, 120, replace=False))
    np.testing.assert_array_equal(found.rows, rows)
    of_sample = vectors_of(encoded, sample)[1]
    mean = of_sample.mean(0, dtype=np.float64)
    size = np.float32(np.sqrt(((of_sample - mean) ** 2).sum(1).mean()))
    level = [
        (each - mean.astype("f4")) / size for each in (of_sample, vectors_of(encoded, rows)[1])
    ]
    reference = fit(np.unique(level[0], axis=0), 2, given[method])
    np.testing.assert_allclose(found.coordinates[0], reference.transform(level[1]), atol=1e-3)
    assert (found.quality.trustworthiness > 0.7).all()
    assert np.isnan(found.explained).all()
    again = corpus_map(encoded, settings, keep=False)
    np.testing.assert_array_equal(found.coordinates, again.coordinates)


def test_a_perplexity_beyond_the_sample_is_a_sentence(encoded: EncodedCorpus) -> None:
    settings = CorpusMapSettings(
        layers=(2,), method="tsne", num_fitted=40, tsne=TsneSettings(perplexity=60)
    )
    with pytest.raises(ValueError, match=r"perplexity is 60 and there are .* expected less"):
        corpus_map(encoded, settings, keep=False)


def test_rows_that_are_not_finite_are_left_out(
    encoded: EncodedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = EncodedCorpus.vectors

    def broken(self: EncodedCorpus, layer: int) -> np.ndarray:
        vectors = np.array(real(self, layer))
        vectors[[3, 8], 0] = np.nan
        return vectors

    monkeypatch.setattr(EncodedCorpus, "vectors", broken)
    found = corpus_map(encoded, CorpusMapSettings(layers=(0, 2), seed=4), keep=False)
    assert found.num_left_out == 2
    assert not np.isin([3, 8], found.rows).any()
    assert np.isfinite(found.coordinates).all()


def test_equal_vectors_and_missing_layers_are_a_sentence(
    encoded: EncodedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match=r"layer 1 is not stored .* expected one of 0, 2"):
        corpus_map(encoded, CorpusMapSettings(layers=(1,)))
    monkeypatch.setattr(
        EncodedCorpus, "vectors", lambda self, layer: np.ones((len(self), 16), np.float16)
    )
    with pytest.raises(ValueError, match="1 different vectors in a layer; a map needs at least 4"):
        corpus_map(encoded, CorpusMapSettings(layers=(2,), seed=7))
    few = np.eye(16, dtype=np.float16)
    monkeypatch.setattr(EncodedCorpus, "vectors", lambda self, layer: few[np.arange(len(self)) % 6])
    with pytest.raises(ValueError, match="6 different vectors; UMAP needs 8"):
        corpus_map(encoded, CorpusMapSettings(layers=(2,), method="umap", seed=7))
    found = corpus_map(encoded, CorpusMapSettings(layers=(2,), seed=7), keep=False)
    assert len(np.unique(found.coordinates, axis=1)[0]) <= 6  # duplicates lie on one place


@pytest.mark.parametrize(
    "changes", [{"layers": ()}, {"method": "isomap"}, {"num_points": 10**6}, {"num_fitted": 1}]
)
def test_settings_out_of_range(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes)).removesuffix("s")):
        CorpusMapSettings(**{"layers": (0,), **changes})


def test_regions_are_dense_and_named_by_what_they_are_rich_in() -> None:
    rng = np.random.default_rng(0)
    places = np.concatenate(
        [
            rng.normal([0.2, 0.2], 0.01, (300, 2)),
            rng.normal([0.8, 0.7], 0.01, (200, 2)),
            rng.uniform(0, 1, (100, 2)),
        ]
    )
    names = ["the", "bank", "bank"] * 100 + ["the", "river"] * 100 + ["the"] * 100
    found = dense_regions(places, names, most=2)
    assert [region.name for region in found] == ["bank", "river"]
    assert np.allclose([(r.x, r.y) for r in found], [(0.2, 0.2), (0.8, 0.7)], atol=0.02)
    assert found[0].num_points > 250
    assert dense_regions(np.zeros((0, 2)), []) == ()
    one = dense_regions(np.zeros((5, 2)), ["a"] * 5)
    assert [(r.name, r.num_points) for r in one] == [("a", 5)]


def test_the_manifest_is_not_touched(encoded: EncodedCorpus) -> None:
    path: Path = about(encoded.folder) / "manifest.json"
    before = path.read_bytes()
    corpus_map(encoded, CorpusMapSettings(layers=(0,), seed=21))
    assert path.read_bytes() == before
    assert json.loads(before)["complete"]
