"""Vectors of one's own: arrays and files with labels, and axes between groups of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bertcore.analysis import map_points, map_vectors
from bertcore.analysis.space import given_vectors
from bertcore.analysis.space.given_vectors import vector_table
from bertcore.analysis.space.projection import map_between, map_layers, pca
from tests.support.tiny import tiny_bert

RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(12, 5)).astype(np.float32)
KINDS = ["animal", "food", "tool"] * 4
NAMES = [f"w{place}" for place in range(12)]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors")
    np.save(folder / "v.npy", VECTORS)
    table = pd.DataFrame({"word": NAMES, "kind": KINDS})
    table.to_csv(folder / "labels.csv", index=False)
    table.to_csv(folder / "labels.tsv", index=False, sep="\t")
    table.assign(vector=list(VECTORS)).to_parquet(folder / "v.parquet")
    (folder / "metadata.tsv").write_text("\n".join(NAMES) + "\n")  # as the projector has it
    (folder / "class.csv").write_text("\n".join(["class", *KINDS]))
    table[["word"]].to_parquet(folder / "none.parquet")
    return folder


@pytest.mark.parametrize(
    ("vectors", "labels", "kinds", "names"),
    [
        ("v.npy", "labels.csv", KINDS, NAMES),
        ("v.npy", "labels.tsv", KINDS, NAMES),
        ("v.parquet", None, KINDS, NAMES),
        ("v.npy", "metadata.tsv", [""] * 12, NAMES),
        ("v.npy", "class.csv", KINDS, [f"row {place}" for place in range(1, 13)]),
    ],
)
def test_files_are_read_as_the_arrays_they_hold(
    files: Path, vectors: str, labels: str | None, kinds: list[str], names: list[str]
) -> None:
    table = vector_table(files / vectors, None if labels is None else files / labels)
    np.testing.assert_array_equal(table.vectors, VECTORS[None])
    assert [*table.labels] == kinds
    assert [*table.tokens] == names
    mapped = map_vectors(str(files / vectors), None if labels is None else files / labels)
    expected = map_layers(VECTORS[None]).coordinates
    np.testing.assert_allclose(mapped.layer_map.coordinates, expected, atol=1e-6)


def test_arrays_of_several_layers_and_of_many_points(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = np.stack([VECTORS, 2 * VECTORS])
    assert vector_table(layers.tolist(), KINDS).vectors.shape == (2, 12, 5)
    holed = VECTORS.copy()
    holed[3] = np.nan
    assert any("1 of 12 points" in note for note in map_vectors(holed).layer_map.notes)
    monkeypatch.setattr(given_vectors, "MOST_VECTORS", 4)
    few = vector_table(VECTORS, KINDS)
    assert few.positions.tolist() == [0, 3, 7, 11]
    assert "4 of them" in few.notes[0]
    np.testing.assert_array_equal(few.vectors[0], VECTORS[few.positions])


@pytest.mark.parametrize(
    ("vectors", "labels", "words"),
    [
        ("v.npy", ["a"] * 11, "12 vectors, but 11 labels"),
        (VECTORS[0], None, r"the shape \[5\]"),
        (VECTORS[:0], None, r"the shape \[1, 0, 5\]"),
        ([["a"]], None, "no numbers of one shape"),
        ([[1.0], [1.0, 2.0]], None, "no numbers of one shape"),
        ("labels.csv", None, "has no vectors"),
        ("none.parquet", None, "has no vectors"),
    ],
)
def test_what_does_not_fit_is_refused(files: Path, vectors: Any, labels: Any, words: str) -> None:
    given = files / vectors if isinstance(vectors, str) else vectors
    with pytest.raises(ValueError, match=words):
        map_vectors(given, labels)


def test_an_axis_leads_from_the_mean_of_a_group_to_that_of_another() -> None:
    layers = np.stack([VECTORS, VECTORS @ RNG.normal(size=(5, 5))]).astype(np.float64)
    ends = {name: np.array([kind == name for kind in KINDS]) for name in ("animal", "food", "tool")}
    animal, food = ends["animal"], ends["food"]
    mapped = map_between(layers, [("animal", animal), ("food", food)])
    assert mapped.axes == ("animal → food", "what differs most besides")
    for points, places in zip(layers, mapped.coordinates, strict=True):
        assert places[animal, 0].mean() == pytest.approx(-0.5, abs=1e-5)
        assert places[food, 0].mean() == pytest.approx(0.5, abs=1e-5)
        direction = points[food].mean(0) - points[animal].mean(0)
        length = np.linalg.norm(direction)
        along = points @ direction / length
        differences = np.diff(places[:, 0] * length)
        np.testing.assert_allclose(differences, np.diff(along), atol=1e-4)
        left = points - np.outer(along, direction / length)
        across = pca(left, 1).transform(left)[:, 0] / length
        np.testing.assert_allclose(np.abs(places[:, 1]), np.abs(across), atol=1e-4)
    both = [("animal", animal), ("food", food), ("food", food), ("tool", ends["tool"])]
    two = map_between(layers, both)
    np.testing.assert_allclose(two.coordinates[..., 0], mapped.coordinates[..., 0], atol=1e-5)
    assert two.coordinates[0, ends["tool"], 1].mean() == pytest.approx(0.5, abs=1e-5)
    with pytest.raises(ValueError, match="have the same vector"):
        map_between(layers, [("animal", animal), ("again", animal)])


def test_words_of_texts_are_the_ends_of_axes() -> None:
    texts = ["the river bank was old", "the man ran", "the bank was new"]
    mapped = map_points(tiny_bert(), texts, method="axes", axes=("River, bank", "man", "", ""))
    assert mapped.layer_map.axes[0] == "River, bank → man"
    is_start = np.isin(mapped.table.words, ["river", "bank"])
    starts = mapped.layer_map.coordinates[:, is_start, 0].mean(1)
    np.testing.assert_allclose(starts, -0.5, atol=1e-4)
    for axes, words in (
        (("river", "zebra"), "'zebra' is not in these sentences"),
        (("river", ""), "no word is chosen"),
        (("river", "river"), "expected two different words"),
        ((), "expected two different words"),
    ):
        with pytest.raises(ValueError, match=words):
            map_points(tiny_bert(), texts, method="axes", axes=axes)
    labelled = map_vectors(VECTORS, KINDS, method="axes", axes=("animal", "food", "food", "tool"))
    assert "cosine of" in labelled.layer_map.notes[0]
