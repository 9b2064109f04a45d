"""The pictures of How tokens mix, from numbers worked by hand."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from app.mixing.figures import (
    MANY,
    MOST_LABELS,
    STEPS,
    AllTokens,
    OneToken,
    small_maps,
    strips,
    strips_table,
    verdict,
)
from app.mixing.measures import SeparatorFractions
from app.mixing.page import (
    Agreement,
    agreement,
    agreement_table,
    separator_fade,
    separator_table,
)

TOKENS = ["[CLS]", "the", "<b>bank", "the"]
ROW = np.array([0.0, 0.25, 0.7, 0.05], dtype=np.float32)


def rows(weights: list[float], zeroing: list[float]) -> dict[str, np.ndarray]:
    return {"weights": np.array(weights), "zeroing": np.array(zeroing)}


@pytest.mark.parametrize(
    ("weights", "zeroing", "said"),
    [
        ([0.1, 0.2, 0.6, 0.1], [0, 0, 1, 0], "attends most to **bank**, with 60% of its attention"),
        ([0.1, 0.2, 0.6, 0.1], [0, 0, 1, 0], "and losing that value would change it most (100%"),
        ([0.1, 0.6, 0.2, 0.1], [0, 0.2, 0, 0.8], "attends most to itself"),
        ([0.1, 0.6, 0.2, 0.1], [0, 0.2, 0, 0.8], "the value of **the** (position 3) would"),
        ([0.6, 0.1, 0.2, 0.1], [0, 0.9, 0.1, 0], "but losing its own value would"),
    ],
)
def test_the_sentence_says_what_is_looked_at_and_what_matters(
    weights: list[float], zeroing: list[float], said: str
) -> None:
    tokens = ["[CLS]", "the", "bank", "the"]
    assert said in verdict(rows(weights, zeroing), tokens, 1)


def test_without_the_token_itself_fractions_are_of_the_others() -> None:
    tokens = ["[CLS]", "the", "bank", "of"]
    made = verdict(rows([0.4, 0, 0.6, 0], [0, 0, 1, 0]), tokens, 1, only_others=True)
    assert "with 60% of its attention to the other tokens, and" in made
    assert "(100% of all changes by other tokens)" in made
    nothing = verdict(rows([0, 0, 0, 0], [0, 0, 0, 0]), tokens, 0, only_others=True)
    assert nothing == "**[CLS]** attends to no other token."


def test_one_head_is_compared_with_the_zeroing_of_all() -> None:
    made = verdict(rows([0.4, 0, 0.6, 0], [0, 0, 1, 0]), ["a", "b", "c", "d"], 1, is_one_head=True)
    assert "(100% of all changes; value zeroing: all heads)" in made


def test_strips_show_shares_and_number_the_largest() -> None:
    groups = {"one": {"weights": ROW, "flow": np.empty(0, np.float32)}, "none": {}}
    fig = strips(OneToken(groups, TOKENS, 2))
    (heat,) = fig.plotly().data
    np.testing.assert_allclose(heat.z[0] ** 2, ROW, atol=1e-6)
    assert np.isnan(heat.z[1]).all()  # awaited
    assert [words_of(cell) for cell in heat.text[0]] == ["", "25", "70", "5"]
    assert set(heat.text[1]) == {""}
    assert (fig.plotly().layout.shapes[0].x0, fig.plotly().layout.shapes[0].x1) == (1.5, 2.5)
    assert fig.plotly().layout.coloraxis.cmax == pytest.approx(0.25**0.5)  # not of the token itself
    drawn = json.dumps(fig.plotly().to_plotly_json(), default=str)
    assert "<b>bank" not in drawn
    assert "&lt;b&gt;bank" in drawn


@pytest.mark.parametrize("token", [0, 7, 99])
def test_a_long_text_names_some_tokens_and_always_the_chosen_one(token: int) -> None:
    tokens = [f"t{i}" for i in range(100)]
    row = np.full(100, 0.01, dtype=np.float32)
    fig = strips(OneToken({"one": {"weights": row}}, tokens, token))
    labels = fig.plotly().layout.xaxis.ticktext
    assert f"t{token}" in labels
    assert len(labels) <= MOST_LABELS + 1
    assert list(fig.plotly().layout.xaxis.tickvals) == [int(label[1:]) for label in labels]
    assert fig.plotly().data[0].text is None  # no room for numbers


def test_maps_share_axes_and_colours() -> None:
    maps = {name: np.eye(4, dtype=np.float32) for name in ("weights", "norms", "rollout")}
    picture = small_maps(AllTokens(maps, TOKENS)).plotly()
    assert len(picture.data) == 3
    assert {heat.coloraxis for heat in picture.data} == {"coloraxis"}
    axes = [picture.layout[f"yaxis{place}"].matches for place in ("", 2, 3)]
    assert len({axis for axis in axes if axis}) == 1  # all follow one: zooming one zooms all
    assert list(picture.data[0].x) == ["[CLS] 0", "the 1", "&lt;b&gt;bank 2", "the 3"]


@pytest.mark.parametrize(("size", "beside"), [(MANY - 1, 3), (MANY, 2)])
def test_maps_of_many_tokens_are_large_and_sent_as_bytes(size: int, beside: int) -> None:
    fractions = np.full((size, size), 0.25, dtype=np.float32)
    maps = dict.fromkeys(("weights", "norms", "rollout"), fractions)
    picture = small_maps(AllTokens(maps, ["a"] * size)).plotly()
    tops = [picture.layout[f"yaxis{place}"].domain[1] for place in ("", 2, 3)]
    assert tops.count(tops[0]) == beside
    assert picture.data[0].z.dtype == np.uint8
    assert (picture.data[0].z == round(STEPS / 2)).all()  # the root of a quarter
    assert picture.layout.coloraxis.cmax == pytest.approx(STEPS / 2)
    np.testing.assert_array_equal(picture.data[0].customdata, fractions)


def test_tables_hold_the_same_numbers() -> None:
    table = strips_table(OneToken({"one": {"weights": ROW}}, TOKENS, 2))
    assert table["token"].tolist() == TOKENS
    assert table["receives"].tolist() == [False, False, True, False]
    np.testing.assert_array_equal(table["weights"], ROW)
    found = np.array([[1.0, np.nan], [np.nan, 1.0]])
    agreed = Agreement(["weights", "flow"], found)
    assert agreement_table(agreed).columns.tolist() == ["measure", "weights", "flow"]
    written = agreement(agreed).plotly().data[0].text
    assert [[words_of(cell) for cell in row] for row in written] == [["1.00", "–"], ["–", "1.00"]]


def test_the_fade_of_sep_has_a_dot_for_each_head_and_its_mean() -> None:
    weights = np.array([[0.2, 0.4], [0.6, 0.8]], dtype=np.float32)
    block_fractions = np.array([0.1, 0.2], dtype=np.float32)
    found = SeparatorFractions(weights, weights / 2, block_fractions, block_fractions)
    fig = separator_fade(found)
    dots, _, line, norms, block = fig.plotly().data
    np.testing.assert_allclose(dots.y, [0.2, 0.4, 0.6, 0.8])
    np.testing.assert_allclose(line.y, [0.3, 0.7])
    np.testing.assert_allclose(norms.y, [0.15, 0.35])
    np.testing.assert_allclose(block.y, [0.1, 0.2])
    table = separator_table(found)
    assert table["head"].tolist() == [0, 1, 0, 1]
    np.testing.assert_allclose(table["residual_and_norm"], [0.1, 0.1, 0.2, 0.2])


def words_of(cell: str) -> str:
    """Return what a cell shows: its text without its ink."""
    return re.sub("<[^>]+>", "", cell)
