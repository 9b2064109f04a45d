"""What a visitor's changes look like in an address, and the pictures of what they do."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from app.plots import before_after as figures
from app.screens.what_if import changes as what_if
from app.screens.what_if import page
from app.screens.what_if.views import effect_grid
from bertcore.analysis.compare.before_after import WordShift
from bertcore.analysis.heads.importance import HeadImportance
from bertcore.model.interventions import Block, blocks_of, pattern_mask

HOSTILE = "</b><img src=x>"


def shift(words: tuple[str, ...] = ("bank", HOSTILE)) -> WordShift:
    before, after = np.array([0.5, 0.25], np.float32), np.array([0.2, 0.4], np.float32)
    return WordShift(3, words, before, after, 0.125)


def test_any_drawing_survives_the_address() -> None:
    allowed = torch.rand(23, 23, generator=torch.Generator().manual_seed(0)) < 0.7
    allowed |= torch.eye(23, dtype=torch.bool)
    blocks = blocks_of(allowed)
    again = what_if.parse_blocks(what_if.format_blocks(blocks))
    assert again == blocks
    mask = pattern_mask("drawn", 23, 0, again)
    assert mask is not None
    assert torch.equal(mask, allowed)


@pytest.mark.parametrize("text", ["", "x", "1:", "3-2:1", "-1:2", "1:2;", "9" * 99])
def test_what_is_no_drawing_is_left_out(text: str) -> None:
    assert what_if.parse_blocks(text) == ()
    assert what_if.parse_blocks(f"{text},0:1") == (Block(0, 0, 1, 1),)


def test_a_click_switches_a_head_off_or_on(monkeypatch: pytest.MonkeyPatch) -> None:
    off: list[list[str]] = []
    monkeypatch.setattr(page, "HEADS_OFF", SimpleNamespace(value=["1.3"], put=off.append))
    page.toggle("0.2")
    page.toggle("1.3")
    assert off == [["0.2", "1.3"], []]


def test_words_are_drawn_before_and_after_and_never_as_html() -> None:
    other = replace(shift(("a", "b")), position=5)
    effect = SimpleNamespace(shifts=(shift(), other), mask="[MASK]", originals=((3, "river"),))
    table = figures.word_table("shifts", originals="originals")(effect)
    fig = figures.mask_pairs("before", "after").draw(table)
    before, after, labels = fig.plotly().data[:3]
    assert (list(before.x), list(after.x)) == ([0.5, 0.25], pytest.approx([0.2, 0.4]))
    assert [before.name, after.name] == ["before", "after"]
    assert "50% → <b>20%</b>  −30.0" in labels.text[0]
    assert "25% → <b>40%</b>  +15.0" in labels.text[1]
    assert "<img" not in str(fig.to_json())
    titles = [annotation.text for annotation in fig.plotly().layout.annotations]
    assert titles == [
        "[MASK] (token 3), was <b>river</b>: KL 0.125 nats",
        "[MASK] (token 5): KL 0.125 nats",
    ]


def test_effects_below_and_above_zero_have_two_colours() -> None:
    effect = np.array([[-0.5, 0.25], [np.nan, 0.0]], np.float32)
    ranked = HeadImportance(3, "bank", effect, np.abs(effect), None, np.abs(effect))
    fig = effect_grid(ranked, "word")
    assert (fig.plotly().data[0].zmin, fig.plotly().data[0].zmax) == (-0.5, 0.5)
    assert effect_grid(ranked, "hidden").plotly().data[0].zmin == 0
