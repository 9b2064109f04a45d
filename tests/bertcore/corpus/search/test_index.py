"""Both indexes against a plain product of matrices; odd vectors; indexes of something else."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bertcore.corpus import EncodedCorpus
from bertcore.corpus.parts import about
from bertcore.corpus.search import ExactIndex, GraphIndex, VectorIndex, build_graph, open_index
from bertcore.corpus.search.index import index_folder
from tests.support.encoded_arrays import encoded_arrays

WIDTH = 24


def clouds(num: int, *, seed: int = 0, width: int = WIDTH) -> NDArray[np.float16]:
    """Return vectors in clouds, as tokens lie, [num, width]."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, num // 20), width))
    chosen = centres[rng.integers(0, len(centres), num)]
    return (chosen + 0.5 * rng.normal(size=(num, width))).astype(np.float16)


def cosines(vectors: NDArray[np.float16], queries: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return all cosines, [Q, R], NaN for rows without a direction."""
    wide, asked = vectors.astype(np.float64), queries.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        lengths = np.linalg.norm(wide, axis=1) * np.linalg.norm(asked, axis=1)[:, None]
        return np.where(
            np.isfinite(lengths), asked @ np.where(np.isfinite(wide), wide, 0).T / lengths, np.nan
        )


def recall(index: VectorIndex, vectors: NDArray[np.float16], queries: NDArray, k: int) -> float:
    """Return the share of what is found that is as near as the k-th nearest."""
    shares = []
    for found, near in zip(index.search(queries, k), cosines(vectors, queries), strict=True):
        least = np.sort(near)[-k]
        assert len({*found.rows.tolist()}) == len(found.rows) == k
        shares.append(float((near[found.rows] >= least - 1e-6).mean()))
    return float(np.mean(shares))


@pytest.fixture
def built(tmp_path: Path) -> EncodedCorpus:
    encoded = encoded_arrays(tmp_path / "a", clouds(300), parts=3)
    build_graph(encoded, 0)
    return encoded


@settings(max_examples=40, deadline=None)
@given(
    num=st.integers(1, 120),
    k=st.integers(1, 12),
    seed=st.integers(0, 99),
    repeats=st.integers(1, 30),
    holes=st.integers(0, 5),
)
def test_exact_search_is_a_sorted_product(
    num: int, k: int, seed: int, repeats: int, holes: int
) -> None:
    rng = np.random.default_rng(seed)
    vectors = clouds(num, seed=seed)[rng.integers(0, -(-num // repeats), num)]
    for place in rng.integers(0, num, holes):
        vectors[place] = rng.choice(np.array([0, np.nan, np.inf], np.float16))
    index = ExactIndex(vectors)
    queries = rng.normal(size=(3, WIDTH)).astype(np.float32)
    expected = cosines(vectors, queries)
    usable = np.flatnonzero(~np.isnan(expected[0]))
    assert index.num_left_out == num - len(usable)
    for found, near in zip(index.search(queries, k), expected, strict=True):
        best = usable[np.lexsort((usable, -near[usable]))][:k]
        np.testing.assert_allclose(found.cosines, near[best], atol=2e-6)
        np.testing.assert_allclose(near[found.rows], near[best], atol=2e-6)
        assert len({*found.rows.tolist()}) == len(best)


def test_equal_rows_in_several_blocks() -> None:
    num = 13_000
    vectors = np.repeat(clouds(3), num, axis=0)  # more than are compared together
    (found,) = ExactIndex(vectors).search(vectors[num : num + 1], 50)
    assert len({*found.rows.tolist()}) == 50
    assert set((found.rows // num).tolist()) == {1}
    np.testing.assert_allclose(found.cosines, 1, atol=1e-6)


def test_the_graph_finds_what_exact_search_finds(tmp_path: Path) -> None:
    vectors = clouds(3000)
    encoded = encoded_arrays(tmp_path / "a", vectors, parts=2)
    stages: list[str] = []
    made = build_graph(encoded, 0, on_progress=lambda fraction, stage: stages.append(stage))
    assert (made.num_rows, made.num_points, made.num_left_out) == (3000, 3000, 0)
    assert len({*stages}) == 2
    index = GraphIndex(encoded, 0)
    queries = vectors[::60].astype(np.float32) + 0.01
    assert recall(ExactIndex(vectors), vectors, queries, 10) == 1
    assert recall(index, vectors, queries, 10) >= 0.95
    found = index.search(queries, 10)
    for one, near in zip(found, cosines(vectors, queries), strict=True):
        np.testing.assert_allclose(one.cosines, near[one.rows], atol=2e-6)  # exact, not bfloat16
        assert (np.diff(one.cosines) <= 0).all()


def test_equal_vectors_are_one_point_and_all_of_them_are_found(tmp_path: Path) -> None:
    distinct = clouds(50)
    rng = np.random.default_rng(1)
    owners = rng.integers(0, 50, 5000)
    vectors = distinct[owners]
    vectors[7], vectors[8], vectors[9] = 0, np.nan, np.inf
    owners[7:10] = -1
    encoded = encoded_arrays(tmp_path / "a", vectors)
    made = build_graph(encoded, 0)
    assert (made.num_points, made.num_left_out) == (50, 3)
    index = GraphIndex(encoded, 0)
    assert index.num_left_out == ExactIndex(vectors).num_left_out == 3
    for owner in (0, 13, 49):
        (found,) = index.search(distinct[owner : owner + 1], 1000)
        own = np.flatnonzero(owners == owner)
        np.testing.assert_array_equal(found.rows[: len(own)], own)
        assert len({*found.rows.tolist()}) == 1000
        assert {7, 8, 9}.isdisjoint(found.rows.tolist())


@pytest.mark.parametrize("num", [1, 2, 3])
def test_one_to_three_points(tmp_path: Path, num: int) -> None:
    vectors = clouds(num)
    encoded = encoded_arrays(tmp_path / "a", vectors)
    build_graph(encoded, 0)
    for index in (GraphIndex(encoded, 0), ExactIndex(vectors)):
        (found,) = index.search(vectors[:1], 10)
        assert sorted(found.rows.tolist()) == list(range(num))
        assert found.rows[0] == 0
        assert found.cosines[0] == pytest.approx(1, abs=1e-6)


def test_no_vector_with_a_direction(tmp_path: Path) -> None:
    vectors = np.zeros((5, WIDTH), np.float16)
    encoded = encoded_arrays(tmp_path / "a", vectors)
    assert build_graph(encoded, 0).num_left_out == 5
    for index in (GraphIndex(encoded, 0), ExactIndex(vectors)):
        (found,) = index.search(np.ones((1, WIDTH)), 3)
        assert len(found.rows) == len(found.cosines) == 0


def test_queries_are_checked(built: EncodedCorpus) -> None:
    for index in (GraphIndex(built, 0), ExactIndex(built.vectors(0))):
        with pytest.raises(ValueError, match=r"\[1, 7\].*24"):
            index.search(np.ones((1, 7)), 3)
        with pytest.raises(ValueError, match=r"query 1 .*direction"):
            index.search(np.stack([np.ones(WIDTH), np.zeros(WIDTH)]), 3)
        with pytest.raises(ValueError, match="k is 0"):
            index.search(np.ones((1, WIDTH)), 0)


def test_an_index_of_another_checkpoint_is_refused_with_both_names(
    built: EncodedCorpus, tmp_path: Path
) -> None:
    other = encoded_arrays(tmp_path / "b", clouds(300), fingerprint="b" * 64, parts=3)
    shutil.copytree(index_folder(built, 0), index_folder(other, 0))
    for opening in (lambda: GraphIndex(other, 0), lambda: open_index(other, 0, exact=False)):
        with pytest.raises(ValueError, match=r"checkpoint-a.*checkpoint-b.*--rebuild"):
            opening()
    assert open_index(other, 0, exact=False, rebuild=True).num_rows == 300
    assert GraphIndex(other, 0).about.checkpoint == "checkpoint-b"


def test_an_index_of_a_corpus_that_changed_is_refused(built: EncodedCorpus, tmp_path: Path) -> None:
    other = encoded_arrays(tmp_path / "b", clouds(310), parts=3)
    shutil.copytree(index_folder(built, 0), index_folder(other, 0))
    with pytest.raises(ValueError, match=r"changed .*300 rows then, 310 now.*--rebuild"):
        open_index(other, 0, exact=False)


def test_a_damaged_index_is_refused(built: EncodedCorpus) -> None:
    place = index_folder(built, 0)
    graph = (place / "graph.usearch").read_bytes()
    (place / "graph.usearch").write_bytes(graph[: len(graph) // 2])
    with pytest.raises(ValueError, match="cannot be read"):
        GraphIndex(built, 0)
    (place / "graph.usearch").write_bytes(graph)
    (place / "about.json").write_text("{}")
    with pytest.raises(ValueError, match=r"about\.json.*cannot be read"):
        GraphIndex(built, 0)
    (place / "about.json").write_text(json.dumps({"format": 9}))
    with pytest.raises(ValueError, match="format is 9"):
        GraphIndex(built, 0)
    shutil.rmtree(place)
    with pytest.raises(ValueError, match="no index"):
        GraphIndex(built, 0)


def test_a_stopped_build_leaves_nothing_and_the_index_before_stays(built: EncodedCorpus) -> None:
    before = (index_folder(built, 0) / "graph.usearch").read_bytes()

    def stop(fraction: float, stage: str) -> None:
        if stage == "building the index":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_graph(built, 0, rebuild=True, on_progress=stop)
    assert (index_folder(built, 0) / "graph.usearch").read_bytes() == before
    assert [path.name for path in about(built.folder).glob(".index*")] == []
    # What a kill leaves is no index, and is cleared away.
    left = about(built.folder) / ".index-layer-0.building"
    left.mkdir()
    (left / "graph.usearch").write_bytes(b"half")
    build_graph(built, 0, rebuild=True)
    assert not left.exists()
    assert GraphIndex(built, 0).num_rows == 300


def test_small_corpora_need_no_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = encoded_arrays(tmp_path / "a", clouds(100))
    assert isinstance(open_index(encoded, 0), ExactIndex)
    assert not index_folder(encoded, 0).exists()
    monkeypatch.setattr("bertcore.corpus.search.index.EXACT_ROWS", 99)
    assert isinstance(open_index(encoded, 0), GraphIndex)
    assert isinstance(open_index(encoded, 0, exact=True), ExactIndex)


def test_without_usearch_one_is_told_what_to_install(
    built: EncodedCorpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"usearch.*bertscope\[scale\].*--exact"):
        open_index(built, 0, exact=False)
    assert open_index(built, 0).num_rows == 300
