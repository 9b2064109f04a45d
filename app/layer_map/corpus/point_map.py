"""The canvas of the map of a corpus, a component that draws with WebGL2."""

import numpy as np

from ...canvas.shared import transport
from ...component import Component
from ...plots import theme
from .points import Colours, Drawn

COMPONENT = Component("bertscope_point_map", __file__)


def message(drawn: Drawn, colours: Colours, name: str) -> bytes:
    """Return what the canvas draws: 5 bytes per point, and 4 for each layer.

    Args:
        colours: Of the same points.
        name: Of the map; another one begins with the whole map and no selection.
    """
    header = {
        "layers": list(drawn.map.layers),
        "shown": len(drawn.map.layers) - 1,
        "num": len(drawn.map.rows),
        "words": list(drawn.words),
        "title": colours.title,
        "palette": list(colours.palette),
        "groups": list(colours.groups),
        "isScale": colours.is_scale,
        "regions": [
            [{"x": region.x, "y": region.y, "name": region.name} for region in regions]
            for regions in drawn.regions
        ],
        "accent": theme.ACCENT,
        "map": name,
    }
    return transport.pack(
        header, drawn.places, colours.codes.astype(np.uint8), drawn.word_ids.astype(np.uint32)
    )
