"""Pictures of masked words: what is drawn are the numbers, and tokens are text, never markup."""

import itertools
import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from app.masked_words.page import mask_names
from app.masked_words.views import (
    CANDIDATES,
    CERTAIN_BITS,
    LENS,
    MASKING,
    PREDICTIONS,
    RANKS,
    SURPRISE,
    WHOLE_SENTENCE,
    actions,
)
from app.plots import theme, token_flow
from app.plots.cells import cell_text
from app.plots.formats import percent, shorten
from bertcore import Bert
from bertcore.analysis.words.candidates import Candidate, score_candidates
from bertcore.analysis.words.epoch_masks import Corruption, corrupt
from bertcore.analysis.words.lens import Lens, Trajectories, layer_predictions, word_trajectories
from bertcore.analysis.words.predictions import MaskPredictions, predict_masks
from bertcore.analysis.words.surprise import Surprise, surprise
from tests.support.tiny import tiny_bert

TEXT = "The river banks was steep and the dog runs"
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


def predictions(num_masks: int, original: str | None = "river") -> MaskPredictions:
    return MaskPredictions(
        positions=tuple(range(1, num_masks + 1)),
        words=np.array([[HOSTILE, "river", "bank"]] * num_masks),
        probabilities=np.array([[0.5, 0.25, 0.125]] * num_masks, dtype=np.float32),
        originals=(original,) * num_masks,
        original_ranks=(None if original is None else 2,) * num_masks,
        original_probabilities=(None if original is None else 0.25,) * num_masks,
    )


def markup(fig: go.Figure) -> str:
    """All that Plotly would read as its HTML: everything but raw numbers."""
    return str(fig.plotly().to_plotly_json())


@pytest.mark.parametrize("num_masks", [1, 2, 3, 4, 8])
def test_each_mask_has_bars_of_its_probabilities(num_masks: int) -> None:
    fig = PREDICTIONS.draw(predictions(num_masks))
    assert len(fig.plotly().data) == num_masks
    for trace in fig.plotly().data:
        assert list(trace.x) == [0.5, 0.25, 0.125]
        assert list(trace.marker.color) == [theme.SEGMENT_A, theme.ACCENT, theme.SEGMENT_A]
        assert "25%" in trace.text[1]
    assert [a.text for a in fig.plotly().layout.annotations] == [
        f"[MASK] at {i}<br>was <b>river</b>: rank 2" for i in range(1, num_masks + 1)
    ]
    assert "<img" not in markup(fig)
    # All columns share one scale, so that bars may be compared.
    assert len({tuple(axis.range) for axis in fig.plotly().select_xaxes()}) == 1


def test_a_typed_mask_has_no_original() -> None:
    fig = PREDICTIONS.draw(predictions(1, None))
    assert "was" not in fig.plotly().layout.annotations[0].text
    assert set(fig.plotly().data[0].marker.color) == {theme.SEGMENT_A}


def test_the_names_of_masks_are_plain_text() -> None:
    assert mask_names(predictions(2)) == ["river (1)", "river (2)"]
    assert mask_names(predictions(1, None)) == ["[MASK] at 1"]


def test_candidates_are_drawn_best_first_with_their_numbers(bert: Bert) -> None:
    scored = score_candidates(
        bert, "the [MASK] was", None, (), 2, ["rivers", "river", "日", "oxen", "milk"]
    )
    fig = CANDIDATES.draw(scored)
    whole = fig.plotly().data[-1]
    expected = sorted((c.probability for c in scored if c.probability is not None), reverse=True)
    assert list(whole.x) == expected
    assert len(expected) == 4
    ranks = {c.word: c.rank for c in scored}
    assert ranks["rivers"] is None
    assert f", rank {ranks['milk']:,}" in " ".join(whole.text)
    assert sum(", rank " in text for text in whole.text) == sum(
        r is not None for r in ranks.values()
    )
    rings = fig.plotly().data[1]
    means = {c.probability_per_piece for c in scored if c.problem is None and len(c.pieces) > 1}
    assert set(rings.x) == means
    names = fig.plotly().layout.yaxis.ticktext
    assert any("river ##s" in name for name in names)


def test_an_impossible_candidate_still_has_a_place_on_the_scale() -> None:
    never = Candidate("x", ("x",), (-2000.0,), 9, None)
    certain = Candidate("y", ("y",), (0.0,), 1, None)
    fig = CANDIDATES.draw([never, certain])
    low, high = fig.plotly().layout.xaxis.range
    for value in fig.plotly().data[-1].x:
        assert low < math.log10(value) < high


def test_the_lens_at_a_mask_has_layers_as_rows(bert: Bert) -> None:
    found = layer_predictions(bert, TEXT, None, (2,), (2,), 4)
    fig = LENS.draw(found)
    np.testing.assert_array_equal(fig.plotly().data[0].z, found.probabilities[:, 0])
    assert fig.plotly().layout.xaxis.ticktext == ("best", "2nd", "3rd", "4th")
    assert fig.plotly().layout.yaxis.ticktext == ("embeddings", "layer 1", "layer 2")
    assert fig.plotly().layout.yaxis.range == (2.5, -0.5)
    assert list(fig.plotly().data[1].text) == [
        shorten(str(word)) for word in found.words[:, 0].flatten()
    ]


def test_the_lens_of_a_sentence_has_tokens_as_rows_downwards(bert: Bert) -> None:
    found = layer_predictions(bert, TEXT, None, (2,))
    fig = LENS.draw(found, chart=WHOLE_SENTENCE)
    np.testing.assert_array_equal(fig.plotly().data[0].z, found.probabilities[..., 0].T)
    assert fig.plotly().layout.yaxis.ticktext == found.tokens
    assert fig.plotly().layout.yaxis.range == (len(found.tokens) - 0.5, -0.5)
    assert list(fig.plotly().data[1].text) == [
        shorten(str(word)) for word in found.words[..., 0].T.flatten()
    ]


def test_cell_text_is_dark_on_light_cells_and_at_its_place() -> None:
    text = cell_text(np.array([[0.1, 0.9], [0.6, 0.4]]), [["a", "b"], ["c", "d"]], 12)
    where = zip(text["x"], text["y"], text["textfont"]["color"], strict=True)
    placed = dict(zip(text["text"], where, strict=True))
    assert placed["a"] == (0, 0, "#FFFFFF")
    assert placed["b"] == (1, 0, "#000000")
    assert placed["c"] == (0, 1, "#000000")
    assert placed["d"] == (1, 1, "#FFFFFF")


def test_lens_words_are_text() -> None:
    hostile = Lens(
        positions=(0,),
        tokens=(HOSTILE,),
        words=np.array([[[HOSTILE]]] * 2),
        probabilities=np.full((2, 1, 1), 0.5, dtype=np.float32),
        entropy=np.zeros((2, 1), dtype=np.float32),
    )
    for fig in (
        LENS.draw(hostile),
        LENS.draw(hostile, chart=WHOLE_SENTENCE),
    ):
        assert "<img" not in markup(fig)
        assert "&lt;" in markup(fig)


def test_rank_curves_are_the_ranks(bert: Bert) -> None:
    found = word_trajectories(bert, TEXT, None, (2,), 2, ("river", "bank"))
    fig = RANKS.draw(found, accent="river")
    assert [trace.name for trace in fig.plotly().data] == ["river", "bank"]
    for index, trace in enumerate(fig.plotly().data):
        assert list(trace.y) == found.ranks[:, index].tolist()
    assert fig.plotly().data[0].line.color == theme.ACCENT
    low, high = fig.plotly().layout.yaxis.range
    assert low > math.log10(found.ranks.max())
    assert high < 0  # rank 1 is inside, and on top


def test_many_curves_have_different_looks() -> None:
    count = 9
    found = Trajectories(
        position=1,
        words=tuple(f"w{i}" for i in range(count)),
        ranks=np.ones((3, count), dtype=np.int64),
        probabilities=np.ones((3, count), dtype=np.float32),
    )
    fig = RANKS.draw(found, accent="w0")
    assert len({trace.line.color for trace in fig.plotly().data}) == count


def test_the_surprise_strip_is_coloured_by_bits(bert: Bert) -> None:
    found = surprise(bert, TEXT)
    (bars,) = SURPRISE.draw(found).plotly().data
    np.testing.assert_allclose(bars.marker.color, np.minimum(found.bits, CERTAIN_BITS))
    assert [text.split("<br>")[0] for text in bars.text] == list(found.tokens)
    for text, token, best in zip(bars.text, found.tokens, found.best_words, strict=True):
        assert ("✓" in text) == (token == best)


def test_hostile_tokens_are_text_in_strips() -> None:
    found = Surprise(
        (1,), (HOSTILE,), np.ones(1, np.float32), (HOSTILE + "!",), np.ones(1, np.float32)
    )
    example = Corruption((HOSTILE,) * 3, (HOSTILE,) * 3, ("kept", "random", None))
    for fig in (SURPRISE.draw(found), MASKING.draw(example)):
        assert "<img" not in markup(fig)


def test_the_masking_strip_has_each_token_once_under_its_action(bert: Bert) -> None:
    example = corrupt(bert, TEXT * 3, None, 4, 0.5)
    fig = MASKING.draw(example)
    counts = {trace.name: len(trace.text) for trace in fig.plotly().data if trace.type == "bar"}
    for action, (name, _) in actions().items():
        assert counts[name] == example.actions.count(action)
    assert counts["not chosen"] == example.actions.count(None)
    assert sum(counts.values()) == len(example.tokens)


def test_a_kind_that_was_not_drawn_keeps_its_legend() -> None:
    fig = MASKING.draw(Corruption(("a",), ("a",), (None,)))
    names = [trace.name for trace in fig.plotly().data if trace.type == "bar"]
    assert names == [*(name for name, _ in actions().values()), "not chosen"]


@pytest.mark.parametrize("count", [0, 1, 200])
def test_boxes_stay_in_their_lines_and_do_not_overlap(count: int) -> None:
    tokens = ["river", "##s", "和平和平", "x" * 90, "."] * count
    boxes = token_flow.place(tokens, [""] * len(tokens))
    assert len(boxes) == len(tokens)
    for before, after in itertools.pairwise(boxes):
        assert after.line in (before.line, before.line + 1)
        if after.line == before.line:
            assert after.left >= before.left + before.width - 1e-9
        else:
            assert after.left == 0
    assert all(box.left + box.width <= token_flow.LINE_UNITS for box in boxes)


def test_pieces_of_a_word_touch() -> None:
    word, piece, other = token_flow.place(["river", "##s", "bank"])
    assert piece.left == word.left + word.width
    assert other.left > piece.left + piece.width


@pytest.mark.parametrize(
    ("p", "text"),
    [(1.0, "100%"), (0.99996, "99.996%"), (0.9961, "99.6%"), (0.5, "50%"), (0, "0%")],
)
def test_percent(p: float, text: str) -> None:
    assert percent(p) == text


def test_tables_have_a_row_for_each_number(bert: Bert) -> None:
    found = predict_masks(bert, TEXT, None, (2, 4), 3)
    table = PREDICTIONS.table(found)
    assert len(table) == 6
    assert table.p.tolist() == found.probabilities.flatten().tolist()
    assert table.piece.tolist() == found.words.flatten().tolist()
    lens_table = LENS.table(layer_predictions(bert, TEXT, None, (), (1, 2), 3))
    assert len(lens_table) == 3 * 2 * 3
    assert len(SURPRISE.table(surprise(bert, TEXT))) == 10
    path = word_trajectories(bert, TEXT, None, (2,), 2, ("river", "bank"))
    ranks: pd.DataFrame = RANKS.table(path).pivot_table("rank", "layer", "word", "first")
    assert ranks["bank"].tolist() == path.ranks[:, 1].tolist()
    scored = score_candidates(bert, "a [MASK]", None, (), 2, ["river", "日"])
    assert CANDIDATES.table(scored).problem.isna().tolist() == [True, False]
    example = corrupt(bert, TEXT)
    assert MASKING.table(example).shown.tolist() == list(example.input_tokens)
