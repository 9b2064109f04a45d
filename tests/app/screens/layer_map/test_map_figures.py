"""The layer map's figures from real small tables; no browser."""

import json
from dataclasses import replace

import numpy as np
import pytest

from app.screens.layer_map import map_figures
from app.screens.layer_map.map_figures import (
    COLOUR_BY,
    MAX_GROUPS,
    display_places,
    hover_texts,
    label_places,
    marks_of,
    travel,
)
from app.screens.layer_map.views import COORDINATES
from bertcore.analysis.shared.collect import VectorTable, collect_sentences, collect_tokens
from bertcore.analysis.space.points import PointMap, map_points
from bertcore.data.texts import Sentence
from tests.support.exhaustive import spread
from tests.support.tiny import tiny_bert

BERT = tiny_bert()
HOSTILE = "</script><img src=x onerror=alert(1)> <a href='http://x'>bank</a> & %{x}"


def table_of(*sentences: Sentence) -> VectorTable:
    return collect_tokens(BERT, sentences)


def pair() -> VectorTable:
    return table_of(Sentence("The river bank was steep.", "It had rained fishing dogs.", "a"))


def mapped(table: VectorTable | None = None, **layout: object) -> PointMap:
    return map_points(BERT, pair() if table is None else table, **layout)  # type: ignore[arg-type]


def drawn(fig: object) -> int:
    """Count the points of the traces that have a hover of their own."""
    return sum(len(trace.x) for trace in fig.plotly().data if trace.hoverinfo == "text")


@pytest.mark.parametrize(("word", "by", "dims"), spread(["", "bank"], COLOUR_BY, [2, 3]))
def test_each_frame_has_each_layers_points_where_they_lie(dims: int, by: str, word: str) -> None:
    points = mapped(dims=dims)
    fig = travel(points, colour=by, find=word, layer=1)
    picture = fig.plotly()
    json.loads(fig.to_json())
    assert drawn(fig) == len(points.table)
    places = display_places(points.layer_map)
    frames = {frame.name: frame for frame in picture.frames}
    for layer in range(len(places)):
        frame = frames[str(layer)]
        assert list(frame.traces) == [
            i for i, trace in enumerate(picture.data) if trace.mode != "lines"
        ]
        got = {
            (x, y)
            for trace, index in zip(frame.data, frame.traces, strict=True)
            if picture.data[index].hoverinfo == "text"
            for x, y in zip(trace.x, trace.y, strict=True)
        }
        want = {tuple(float(f"{v:.4g}") for v in place[:2].tolist()) for place in places[layer]}
        assert got == want
        assert all(trace.type == picture.data[0].type for trace in frame.data)
    first = frames["1"]
    for trace, index in zip(first.data, first.traces, strict=True):
        assert picture.data[index].x == trace.x  # what is shown first is the asked layer
    assert picture.layout.sliders[0].active == 1
    steps = [(step.label, step.value) for step in picture.layout.sliders[0].steps]
    assert steps == [("input", "0"), ("after layer 0", "1"), ("after layer 1", "2")]


def test_playing_goes_through_frames_that_exist() -> None:
    for dims in (2, 3):
        picture = travel(mapped(dims=dims), layer=0).plotly()
        names = {frame.name for frame in picture.frames}
        play = picture.layout.updatemenus[0].buttons[0]
        assert set(play.args[0]) == names
        assert play.args[0][0] == "0"
        assert play.args[0][-1] == "2"
        assert len(names) == (3 if dims == 2 else 3 + 2 * (map_figures.TWEENS - 1))


def test_axes_hold_all_points_of_all_layers() -> None:
    longer = replace(pair(), vectors=pair().vectors * np.float32([1, 10, 100])[:, None, None])
    apart = mapped(longer, space="separate")  # drawn at one size
    size = np.sqrt((display_places(apart.layer_map) ** 2).sum(-1).mean(1))
    np.testing.assert_allclose(size, 1, atol=1e-5)
    for points in (mapped(), apart):
        picture = travel(points, layer=0).plotly()
        places = display_places(points.layer_map)
        assert picture.layout.xaxis.range[1] > np.abs(places[..., 0]).max()
        assert picture.layout.yaxis.range[0] < -np.abs(places[..., 1]).max()
        assert picture.layout.yaxis.scaleanchor == "x"  # a distance is one in every direction


@pytest.mark.parametrize(
    ("space", "dims", "num_points"), spread(["joint", "separate"], [2, 3], [1, 2, 3, 4])
)
def test_few_points_are_drawn(num_points: int, dims: int, space: str) -> None:
    table = table_of(Sentence("the"))
    table = table.select(np.arange(len(table)) < num_points)
    points = mapped(table, dims=dims, space=space)
    fig = travel(points, layer=9)
    assert drawn(fig) == len(table)
    reaches = (
        [fig.plotly().layout.xaxis.range] if dims == 2 else [fig.plotly().layout.scene.xaxis.range]
    )
    assert all(low < high for low, high in reaches)


def test_highlighted_points_get_a_ring_a_path_and_stand_out() -> None:
    table = pair()
    points = mapped(table)
    fig = travel(points, find="bank", layer=2)
    paths = [trace for trace in fig.plotly().data if trace.mode == "lines"]
    assert [len(trace.x) for trace in paths] == [3]
    bank = display_places(points.layer_map)[:, table.words.index("bank"), 0]
    np.testing.assert_allclose(paths[0].x, bank, rtol=1e-3)
    assert fig.plotly().data[-1].marker.symbol == "circle-open"
    opacities = {
        o for trace in fig.plotly().data if trace.hoverinfo == "text" for o in trace.marker.opacity
    }
    assert len(opacities) == 2
    # Maps of their own have no common plane that a path could lie in.
    apart = travel(mapped(table, space="separate"), find="bank", layer=2)
    assert not [trace for trace in apart.plotly().data if trace.mode == "lines"]


def test_names_are_written_for_few_points_only_and_nan_is_a_gap() -> None:
    table = pair()
    vectors = table.vectors.copy()
    vectors[1, 3] = np.nan
    fig = travel(mapped(replace(table, vectors=vectors)), layer=0)
    assert sum(x is None for trace in fig.plotly().data for x in trace.x) == 1
    assert "NaN" not in fig.to_json()
    few = travel(mapped(), layer=0)
    assert "bank" in [text for trace in few.plotly().data for text in trace.text or ()]
    table = table_of(*[Sentence(f"the river bank was {i}") for i in range(20)])
    points = mapped(table)
    many = travel(points, layer=0)
    assert not any(text for trace in many.plotly().data for text in trace.text or ())
    searched = travel(points, find="7", layer=0)
    assert [t for trace in searched.plotly().data for t in trace.text or () if t] == ["7"]


def test_names_do_not_cover_each_other() -> None:
    spread = np.array([[[0, 0], [0.05, 0], [5, 5], [10, 0]]], dtype=float)
    sides = label_places(spread, ["word"] * 4, width=600, height=400)
    assert None not in sides
    assert sides[0] != sides[1]  # two points on almost one place: each its own side
    heap = np.zeros((3, 30, 2))
    heap[:, 0] = 100
    sides = label_places(heap, ["word"] * 30, width=600, height=400)
    assert 1 <= sum(side is not None for side in sides) <= 5
    assert label_places(heap * np.nan, ["w"] * 30, width=1, height=1) == [None] * 30


def test_hostile_text_is_escaped_wherever_plotly_reads_html() -> None:
    table = table_of(Sentence(HOSTILE, "<b>B</b>", "<i>label</i>"))
    sentences = collect_sentences(BERT, table.sentences)
    for points in (table, sentences):
        for by in COLOUR_BY:
            for trace in travel(mapped(points), colour=by).plotly().data:
                shown = [trace.name or "", *(trace.text or ()), *(trace.hovertext or ())]
                plain = " ".join(shown).replace("<b>", "").replace("</b>", "")
                assert "<" not in plain.replace("<br>", "")
                assert trace.hovertemplate is None  # no %{...} of the text is filled in


def test_hover_shows_the_token_in_its_sentence() -> None:
    table = table_of(Sentence("x " * 40 + "the bank was steep" + " y" * 40, None, "river"))
    hover = hover_texts(table)[table.tokens.index("bank")]
    assert "the <b>bank</b> was steep" in hover
    assert hover.count("…") == 2
    assert "label river" in hover
    assert "sentence 1" in hover
    second = hover_texts(pair())
    fishing = second[pair().tokens.index("##ing")]
    assert "rained fish<b>ing</b> dogs" in fishing
    assert "in fishing" in fishing


def test_the_commonest_groups_have_colours_and_the_rest_is_counted() -> None:
    text = "a b c d e f g h i j k l m n o p a a b"
    names = marks_of(table_of(Sentence(text)), "word", "")
    assert len(names.groups) == MAX_GROUPS == len({*names.groups.values()})
    assert [*names.groups][-1] == "7 others"  # 16 letters, [CLS] and [SEP], of which 11 are named
    assert np.bincount(names.codes).sum() == 21
    segments = marks_of(pair(), "segment", "")
    assert [*segments.groups] == ["sentence A", "sentence B", "special tokens"]
    many = table_of(*[Sentence("the")] * 20)
    assert [*marks_of(many, "sentence", "").groups][-1] == "9 others"
    assert [*marks_of(many, "label", "").groups] == ["no label"]
    with pytest.raises(ValueError, match="'mood'; expected one of word"):
        marks_of(many, "mood", "")


def test_the_table_has_a_row_for_each_point_and_layer() -> None:
    table = pair()
    points = mapped(table, dims=3)
    rows = COORDINATES(points)
    assert len(rows) == 3 * len(table)
    row = rows[(rows.state == "after layer 1") & (rows.token == "bank")].iloc[0]
    place = points.layer_map.coordinates[2, table.tokens.index("bank")]
    np.testing.assert_allclose(row[["x", "y", "z"]].to_numpy(float), place)
    assert (row.sentence, row.label, row.text) == (1, "a", "The river bank was steep.")
