"""Plotly parts that several pages use: numbers in, figures out."""

from bertcore.data.labels import label_name

from .cells import numbered
from .figure import (
    Figure,
    Properties,
    Shades,
    bar,
    error_bars,
    heatmap,
    scatter,
    subplots,
    with_interval,
)
from .formats import (
    METRIC_NAMES,
    ON_AXIS,
    display_width,
    exactly,
    percent,
    plain,
    shorten,
    shorten_middle,
    signed,
)
from .special_tokens import BERT, SpecialTokens, marks_of, own_markdown, own_text
from .tables import cell_table, tabulate

__all__ = [
    "BERT",
    "METRIC_NAMES",
    "ON_AXIS",
    "Figure",
    "Properties",
    "Shades",
    "SpecialTokens",
    "bar",
    "cell_table",
    "display_width",
    "error_bars",
    "exactly",
    "heatmap",
    "label_name",
    "marks_of",
    "numbered",
    "own_markdown",
    "own_text",
    "percent",
    "plain",
    "scatter",
    "shorten",
    "shorten_middle",
    "signed",
    "subplots",
    "tabulate",
    "with_interval",
]
