"""Names, colours and sentences of the points, and the message to the canvas."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from app.layer_map import geometry
from app.layer_map.corpus import point_map
from app.layer_map.corpus.points import (
    LEVELS,
    MAX_GROUPS,
    OTHERS,
    colour_columns,
    colours,
    colours_of,
    drawn,
)
from bertcore.analysis.space.corpus_map import CorpusMapSettings, corpus_map
from bertcore.corpus import EncodedCorpus
from bertcore.corpus.parts import about
from tests.support.encoded_table import ROWS, encode_table

SETTINGS = CorpusMapSettings(layers=(0, 2))


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory) -> EncodedCorpus:
    return encode_table(tmp_path_factory.mktemp("points"))


def test_each_point_has_its_word_and_its_place(encoded: EncodedCorpus) -> None:
    found = corpus_map(encoded, SETTINGS)
    made = drawn(encoded, found)
    names = [made.words[i] for i in made.word_ids]
    assert names == encoded.rows(["word"]).column("word").to_pylist()
    unit = made.places / 65535
    span = (found.coordinates.max((0, 1)) - found.coordinates.min((0, 1))).max()
    gaps = np.diff(found.coordinates, axis=1) / span
    np.testing.assert_allclose(np.diff(unit, axis=1), gaps, atol=1e-4)
    assert unit.min() == pytest.approx(0, abs=1e-4)
    assert len(made.regions) == 2
    assert all(0 <= region.x <= 1 for regions in made.regions for region in regions)


def test_own_columns_colour_first(encoded: EncodedCorpus) -> None:
    assert colour_columns(encoded)[0] == "topic"
    assert not {"start", "end"} & {*colour_columns(encoded)}
    corpus_map(encoded, SETTINGS)
    found = colours_of(about(encoded.folder) / "manifest.json", SETTINGS, "topic")
    topics = encoded.rows(["topic"]).column("topic").to_pylist()
    assert [found.groups[code] for code in found.codes] == topics


def test_many_values_share_a_grey() -> None:
    names = [f"n{i}" for i in range(30) for _ in range(30 - i)]
    found = colours("name", pa.array(names))
    assert len(found.groups) == MAX_GROUPS
    assert found.palette[-1] == OTHERS
    assert found.groups[-1] == f"{30 - MAX_GROUPS + 1} others"
    shown = [found.groups[code] for code in found.codes]
    assert all(a in (b, found.groups[-1]) for a, b in zip(shown, names, strict=True))
    assert found.codes.max() == MAX_GROUPS - 1


def test_numbers_are_a_scale_and_nulls_are_grey() -> None:
    found = colours("score", pa.array([*np.linspace(0, 10, 101).tolist(), None, float("nan")]))
    assert found.is_scale
    assert len(found.palette) == LEVELS
    assert (np.diff(found.codes[:101].astype(int)) >= 0).all()
    assert (found.codes[0], found.codes[100]) == (0, LEVELS - 2)
    assert (found.codes[101:] == LEVELS - 1).all()
    few = colours("label", pa.array([1, 0, None, 1]))
    assert (few.is_scale, few.groups) == (False, ("1", "0", "none"))
    empty = colours("nothing", pa.array([None] * 20, pa.float64()))
    assert empty.groups == ("none",)


def test_the_message_holds_the_arrays(encoded: EncodedCorpus) -> None:
    found = corpus_map(encoded, SETTINGS)
    made = drawn(encoded, found)
    hues = colours("topic", encoded.rows(["topic"]).column("topic").combine_chunks())
    message = point_map.message(made, hues, "a")
    length = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + length])
    body = message[4 + length :]
    num = len(encoded)
    assert (header["num"], header["layers"], header["shown"]) == (num, [0, 2], 1)
    sizes = [size for _, size in header["blocks"]]
    assert sizes == [2 * num * 2 * 2, num, 4 * num]
    starts = [start for start, _ in header["blocks"]]
    codes = np.frombuffer(body, np.uint8, num, starts[1])
    np.testing.assert_array_equal(codes, hues.codes)
    ids = np.frombuffer(body, np.uint32, num, starts[2])
    assert [header["words"][i] for i in ids] == [made.words[i] for i in made.word_ids]


def test_rows_that_are_sentences_are_named_by_their_text(tmp_path: Path) -> None:
    encoded = encode_table(tmp_path, unit="sentence")
    made = drawn(encoded, corpus_map(encoded, SETTINGS))
    assert [made.words[i] for i in made.word_ids] == [text for text, _ in ROWS]


def test_the_quality_is_drawn_over_the_layers(encoded: EncodedCorpus) -> None:
    found = corpus_map(encoded, SETTINGS)
    quality = geometry.Quality(found.layers, found.quality, found.explained)
    data = geometry.QUALITY.figure(quality).plotly().data
    assert [list(trace.x) for trace in data] == [[0, 2]] * 4
    np.testing.assert_allclose(data[0].y, found.quality.trustworthiness)
    np.testing.assert_allclose(data[3].y, found.explained.sum(1))
    assert geometry.QUALITY.table(quality)["layer"].tolist() == [0, 2]
