"""Report the position of a figure's slider, which moves in the browser, to the session."""

from ..component import Component

COMPONENT = Component("bertscope_layer_watch", __file__)


MAP_LABEL = "Map of the points by layer: the arrow keys change the layer"


def layer_watch(figure: str, *, key: str, label: str = MAP_LABEL) -> int | None:
    """Return the step, by its value, to which the visitor last moved the slider; None before that.

    Args:
        figure: CSS selector of the element that holds the Plotly figure.
        label: Accessible name of the slider.
    """
    result = COMPONENT(data={"figure": figure, "label": label}, key=key, layer=lambda layer: None)
    return result.layer if isinstance(result.layer, int) else None  # a program may send anything
