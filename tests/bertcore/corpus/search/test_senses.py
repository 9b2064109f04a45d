"""Groups of a word's occurrences: planted ones are found, a cloud has none, words are counted."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2_contingency
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, silhouette_score

from bertcore.corpus import EncodeSettings, encode_corpus, open_encoded
from bertcore.corpus.search import Places, WordSenses, word_senses
from bertcore.corpus.search.places import Hit
from bertcore.corpus.search.senses import (
    NUM_NULLS,
    best_grouping,
    chance_silhouette,
    likelihood_ratio,
    one_thread,
    principal_components,
    typical_words,
    words_around,
)
from tests.support.small_corpus import write_documents
from tests.support.tiny import tiny_bert

RIVER = ["the bank was steep.", "the river bank was old.", "they saw the bank and the water."]
MONEY = ["he had money in the bank.", "the man went to the bank with money.", "a new Bank."]
WIDTH = 32


def planted(folder: Path, vectors: list[np.ndarray]) -> Places:
    """Encode sentences with "bank", and put vectors of our own in the place of its rows."""
    folder.mkdir(exist_ok=True)
    texts = [(RIVER if i % 2 else MONEY)[i // 2 % 3] for i in range(len(vectors))]
    corpus = write_documents(folder / "text.txt", [[text] for text in texts])
    encode_corpus(tiny_bert(), corpus, folder / "out", EncodeSettings(layers=(0, 1)))
    encoded = open_encoded(folder / "out")
    words = encoded.rows(("word",))["word"].to_pylist()
    rows = [i for i, word in enumerate(words) if word.lower() == "bank"]
    assert len(rows) == len(vectors)
    for layer in encoded.layers:
        stored = np.array(encoded.vectors(layer))
        stored[rows] = np.stack(vectors)
        np.save(folder / "out" / "_about" / f"vectors-layer-{layer}.npy", stored)
    return Places(open_encoded(folder / "out"))


@pytest.fixture
def two(tmp_path: Path) -> WordSenses:
    """Two groups: money at even places, rivers at odd ones."""
    rng = np.random.default_rng(0)
    ends = rng.normal(size=(2, WIDTH))
    vectors = [ends[i % 2] + 0.15 * rng.normal(size=WIDTH) for i in range(60)]
    return word_senses(planted(tmp_path, vectors), " BANK", (0, 1))


def test_planted_groups_are_found(two: WordSenses) -> None:
    assert (two.word, two.num_found, len(two.occurrences)) == ("BANK", 60, 60)
    assert two.num_copies == 60  # of six sentences
    for found in two.by_layer:
        is_river = ["money" not in hit.text and "Bank" not in hit.text for hit in two.occurrences]
        assert adjusted_rand_score(is_river, found.labels) == 1
        assert [sense.num for sense in found.groups] == [30, 30]
        assert found.has_groups
        assert found.silhouette > found.chance + 0.2
        assert found.stability == pytest.approx(1)
        assert {len(sense.examples) for sense in found.groups} == {3}  # each text once
        for number, sense in enumerate(found.groups):
            assert {found.labels[place] for place in sense.examples} == {number}
            expected = {"was", "water"} if is_river[sense.examples[0]] else {"money"}
            assert expected & {*sense.words}


def test_the_numbers_are_scikit_learns(two: WordSenses, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(50, WIDTH)) + 1
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = PCA(10).fit_transform(unit)
    found = principal_components(vectors)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-8)
    again = word_senses(planted(tmp_path / "b", list(vectors)), "bank", (1,), num_groups=3)
    (layer,) = again.by_layer
    assert len(layer.groups) == 3
    stored = np.float16(vectors).astype(float)
    expected_score = silhouette_score(principal_components(stored), layer.labels)
    assert layer.silhouette == pytest.approx(expected_score, abs=1e-6)


def test_a_cloud_has_no_more_groups_than_chance(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    found = word_senses(planted(tmp_path, list(rng.normal(size=(80, WIDTH)))), "bank", (0,))
    (layer,) = found.by_layer
    assert layer.silhouette == pytest.approx(layer.chance, abs=0.06)
    assert layer.stability < 0.8
    assert not layer.has_groups


def test_few_clouds_stand_out_of_the_clouds_of_chance() -> None:
    rng = np.random.default_rng(3)
    clouds = [rng.normal(size=(40, 4)) for _ in range(12)]
    again = np.random.default_rng(0)
    nulls = [again.normal(size=(40, 4)) * clouds[0].std(0) for _ in range(NUM_NULLS)]
    with one_thread():
        scores = [best_grouping(cloud, [2], 0).silhouette for cloud in clouds]
        chances = [chance_silhouette(cloud, [2], 0) for cloud in clouds]
        of_nulls = [best_grouping(null, [2], 0).silhouette for null in nulls]
    assert chances[0] == max(of_nulls)
    # About half would stand out of the mean.
    assert sum(score > np.mean(of_nulls) for score in scores) >= 3
    assert sum(score > chance for score, chance in zip(scores, chances, strict=True)) <= 2


def test_equal_vectors_and_vectors_without_a_direction(tmp_path: Path) -> None:
    vectors = [np.ones(WIDTH)] * 10 + [np.full(WIDTH, np.nan), np.zeros(WIDTH)]
    found = word_senses(planted(tmp_path, vectors), "bank", (0,))
    assert (found.num_found, len(found.occurrences)) == (12, 10)
    (layer,) = found.by_layer
    assert [sense.num for sense in layer.groups] == [10]
    assert not layer.has_groups
    assert (layer.silhouette, layer.stability) == (0, 0)


def test_what_is_refused(tmp_path: Path) -> None:
    places = planted(tmp_path, [np.ones(WIDTH)] * 7)
    with pytest.raises(ValueError, match=r"'bank' 7 times.*at least 8"):
        word_senses(places, "bank", (0,))
    with pytest.raises(ValueError, match="'zebra' nowhere"):
        word_senses(places, "zebra", (0,))
    with pytest.raises(ValueError, match="num_groups is 9"):
        word_senses(places, "bank", (0,), num_groups=9)
    with pytest.raises(ValueError, match="layer 4"):
        word_senses(places, "bank", (4,), num_groups=2)


def test_words_around_a_hit_are_whole_and_not_its_own() -> None:
    text = f"{'x' * 200} the WILLOWS by the river 42 and {'y' * 200}"
    start = text.index("WILL")
    hit = Hit(0, 1.0, 0, 0, 1, "WILLOWS", "will", text, start, start + 4, "the", "by")
    assert words_around(hit) == {"the", "river", "and"}


def test_typical_words_by_hand() -> None:
    inside = [{"river", "the"}, {"river", "the"}, {"boat"}, {"the", "river"}]
    outside = [{"money", "the"}, {"the", "boat"}, {"the"}, {"the"}]
    # "boat" stands once inside; "the" is rarer inside.
    assert typical_words(inside, outside) == ("river",)
    assert typical_words(inside, []) == ()
    more = [*inside, {"oar", "river"}, {"oar"}]
    assert typical_words(more, outside) == ("river", "oar")


def test_the_likelihood_ratio_is_scipys() -> None:
    for a, n, b, m in ((4, 6, 0, 4), (3, 9, 2, 30), (5, 5, 1, 8)):
        table = [[a, n - a], [b, m - b]]
        expected = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
        assert likelihood_ratio(a, n, b, m) == pytest.approx(expected / 2)


def test_marked_words_are_grouped_as_those_that_are_found(tmp_path: Path) -> None:
    texts = (RIVER + MONEY) * 2
    corpus = write_documents(tmp_path / "text.txt", [[text] for text in texts])
    settings = EncodeSettings(layers=(0, 1), split=False)
    encode_corpus(tiny_bert(), corpus, tmp_path / "out", settings)
    places = Places(open_encoded(tmp_path / "out"))
    starts = [text.lower().index("bank") for text in texts]
    marked = [(number, start, start + 4) for number, start in enumerate(starts)]
    found = word_senses(places, "these", (1,), marked=marked)
    wanted = word_senses(places, "bank", (1,))
    assert found.word == "these"
    assert [hit.row for hit in found.occurrences] == [hit.row for hit in wanted.occurrences]
    np.testing.assert_array_equal(found.by_layer[0].labels, wanted.by_layer[0].labels)
    with pytest.raises(
        ValueError, match=r"has these 7 times; grouping needs at least 8\. Mark more"
    ):
        word_senses(places, "these", (1,), marked=[*marked[:7], (3, 900, 901)])
