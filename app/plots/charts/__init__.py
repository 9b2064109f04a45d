"""The kinds of charts: one tidy frame in, a figure out, its looks and its hover decided here."""

from .bars import Bars
from .boxes import Boxes, KindBoxes, TokenMap
from .chart import Chart, Column
from .dots import Dots, Intervals
from .lines import Curve, LayerCurves, Line, Lines, layer_names, over_layers

__all__ = [
    "Bars",
    "Boxes",
    "Chart",
    "Column",
    "Curve",
    "Dots",
    "Intervals",
    "KindBoxes",
    "LayerCurves",
    "Line",
    "Lines",
    "TokenMap",
    "layer_names",
    "over_layers",
]
