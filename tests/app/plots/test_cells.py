"""Text in coloured cells: legible on every colour of every scale."""

import re

import numpy as np
import plotly.colors
import pytest

from app.plots import Shades, theme
from app.plots.cells import cell_text, numbered


@pytest.mark.parametrize("scale", [theme.SEQUENTIAL, theme.DIVERGING, theme.DIVERGING_DARK])
def test_text_on_every_colour_has_the_contrast_that_the_guidelines_ask_for(scale) -> None:
    values = np.linspace(-2.0, 3.0, 256)
    inks = theme.inks(values, Shades(scale, -2.0, 3.0))
    grounds = plotly.colors.sample_colorscale(scale, ((values + 2) / 5).tolist(), colortype="tuple")
    for ink, ground in zip(inks, grounds, strict=True):
        light, dark = sorted((luminance(hex_colour(ink)), luminance(ground)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_what_is_missing_or_beyond_the_scale_has_an_ink() -> None:
    inks = theme.inks([[np.nan, -5.0], [5.0, np.inf]], theme.FRACTIONS)
    assert inks.tolist() == [["#FFFFFF", "#FFFFFF"], ["#000000", "#000000"]]
    assert theme.inks([0.5], Shades(theme.SEQUENTIAL, 0.5, 0.5)).tolist() == ["#FFFFFF"]


def test_each_cell_brings_its_ink() -> None:
    values = np.array([[0.0, 1.0, 0.2]])
    text = [["0", "1", ""]]
    (row,) = numbered(values, text, 12)["text"]
    assert [re.findall(r"color:(#\w+)", cell) for cell in row] == [["#FFFFFF"], ["#000000"], []]
    assert [re.sub("<[^>]+>", "", cell) for cell in row] == text[0]
    over = cell_text(values, text, 12)
    assert over["textfont"]["color"] == ["#FFFFFF", "#000000", "#FFFFFF"]
    assert over["text"] == text[0]


def hex_colour(code: str) -> tuple[float, ...]:
    return tuple(int(code[at : at + 2], 16) / 255 for at in (1, 3, 5))


def luminance(colour: tuple[float, ...]) -> float:
    """WCAG 2.2's formula."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
