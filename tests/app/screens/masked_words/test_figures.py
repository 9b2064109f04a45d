"""Pictures of masked words: what is drawn are the numbers, and tokens are text, never markup."""

import itertools
import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from app.plots import theme, token_flow
from app.plots.formats import percent, shorten
from app.screens.masked_words.page import mask_names
from app.screens.masked_words.views import (
    CANDIDATES,
    CERTAIN_BITS,
    LENS,
    MASKING,
    PREDICTIONS,
    RANKS,
    SURPRISE,
    actions,
)
from bertcore import Bert
from bertcore.analysis.words.candidates import score_candidates
from bertcore.analysis.words.epoch_masks import corrupt
from bertcore.analysis.words.lens import layer_predictions, word_trajectories
from bertcore.analysis.words.predictions import MaskPredictions, predict_masks
from bertcore.analysis.words.surprise import surprise

TEXT = "The river banks was steep and the dog runs"
HOSTILE = "</script><img src=x onerror=alert(1)>"


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


@pytest.mark.parametrize("num_masks", [1, 8])
def test_each_mask_has_bars_of_its_probabilities(num_masks: int) -> None:
    fig = PREDICTIONS.draw(predictions(num_masks))
    assert len(fig.plotly().data) == num_masks
    for trace in fig.plotly().data:
        assert list(trace.x) == [0.5, 0.25, 0.125]
        assert list(trace.marker.color) == [theme.SEGMENT_A, theme.ACCENT, theme.SEGMENT_A]
        assert "25%" in trace.text[1]
    assert [a.text for a in fig.plotly().layout.annotations] == [
        f"[MASK] (token {i})<br>was <b>river</b>: rank 2" for i in range(1, num_masks + 1)
    ]
    assert "<img" not in markup(fig)
    # All columns share one scale, so that bars may be compared.
    assert len({tuple(axis.range) for axis in fig.plotly().select_xaxes()}) == 1


def test_the_names_of_masks_are_plain_text() -> None:
    assert mask_names(predictions(2)) == ["river (1)", "river (2)"]
    assert mask_names(predictions(1, None)) == ["[MASK] (1)"]


def test_candidates_are_drawn_best_first_with_their_numbers(bert: Bert) -> None:
    words = ["rivers", "river", "日", "oxen", "milk"]
    scored = score_candidates(bert, "the [MASK] was", None, (), 2, words)
    fig = CANDIDATES.draw(scored).plotly()
    found = sorted((c for c in scored if not c.problem), key=lambda c: -(c.log_probability or 0))
    assert len(found) == 4
    (dots,) = fig.data
    assert list(dots.x) == pytest.approx([c.log_probability for c in found])
    for name, c in zip(fig.layout.yaxis.ticktext, found, strict=True):
        note = f"rank {c.rank:,}" if c.rank else f"{percent(c.probability_per_piece or 0)} a piece"
        assert name.startswith(f"{c.word} ({percent(c.probability or 0)}, {note}")


def test_the_lens_at_a_mask_has_layers_as_rows(bert: Bert) -> None:
    found = layer_predictions(bert, TEXT, None, (2,), (2,), 4)
    fig = LENS.draw(found)
    np.testing.assert_array_equal(fig.plotly().data[0].z, found.probabilities[:, 0])
    assert fig.plotly().layout.xaxis.ticktext == ("best", "2nd", "3rd", "4th")
    assert fig.plotly().layout.yaxis.ticktext == ("input", "after layer 0", "after layer 1")
    assert fig.plotly().layout.yaxis.range == (2.5, -0.5)
    assert list(fig.plotly().data[1].text) == [
        shorten(str(word)) for word in found.words[:, 0].flatten()
    ]


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


def test_the_surprise_strip_is_coloured_by_bits(bert: Bert) -> None:
    found = surprise(bert, TEXT)
    (bars,) = SURPRISE.draw(found).plotly().data
    np.testing.assert_allclose(bars.marker.color, np.minimum(found.bits, CERTAIN_BITS))
    assert [text.split("<br>")[0] for text in bars.text] == list(found.tokens)
    for text, token, best in zip(bars.text, found.tokens, found.best_words, strict=True):
        assert ("✓" in text) == (token == best)


def test_the_masking_strip_has_each_token_once_under_its_action(bert: Bert) -> None:
    example = corrupt(bert, TEXT * 3, None, 4, 0.5)
    fig = MASKING.draw(example)
    counts = {trace.name: len(trace.text) for trace in fig.plotly().data if trace.type == "bar"}
    for action, (name, _) in actions().items():
        assert counts[name] == example.actions.count(action)
    assert counts["not chosen"] == example.actions.count(None)
    assert sum(counts.values()) == len(example.tokens)


@pytest.mark.parametrize("count", [0, 200])
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
    word, piece, other = token_flow.place(["river", "##s", "bank"], [""] * 3)
    assert piece.left == word.left + word.width
    assert other.left > piece.left + piece.width


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
    ranks: pd.DataFrame = RANKS.table(path).pivot_table(
        "rank", "state", "word", "first", sort=False
    )
    assert ranks["bank"].tolist() == path.ranks[:, 1].tolist()
    scored = score_candidates(bert, "a [MASK]", None, (), 2, ["river", "日"])
    assert CANDIDATES.table(scored).problem.isna().tolist() == [True, False]
    example = corrupt(bert, TEXT)
    assert MASKING.table(example).shown.tolist() == list(example.input_tokens)
