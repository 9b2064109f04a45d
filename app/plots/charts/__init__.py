"""The kinds of charts: one tidy frame in, a figure out, its looks and its hover decided here."""

from .bars import Bars
from .boxes import Boxes, KindBoxes
from .chart import Chart, Column
from .dots import Dots
from .intervals import Intervals
from .layer_curves import Curve, LayerCurves, over_layers
from .lines import Line, Lines, layer_names
from .token_map import TokenMap

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
