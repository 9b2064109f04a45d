"""Controls of an animated figure: a slider, Play and Stop."""

from collections.abc import Sequence
from typing import Any

from . import theme


def slider(
    steps: Sequence[dict[str, Any]], *, active: int, prefix: str, **place: Any
) -> dict[str, Any]:
    """Return a slider for `layout.sliders`.

    Args:
        steps: Steps in Plotly's form.
        active: Place of the step that is shown first.
        prefix: Prefix of the shown step's name, such as "Layer ".
        place: Where it is: `y`, `pad` ...
    """
    return {
        "active": active,
        "steps": list(steps),
        "currentvalue": {"prefix": prefix, "font": {"size": 15}, "xanchor": "left"},
        "tickcolor": theme.GRID,
        "bordercolor": theme.GRID,
        "bgcolor": theme.GRID,
        "activebgcolor": theme.ACCENT,
        "font": {"size": 11},
        **place,
    }


def buttons(frames: Sequence[str], pace: dict[str, Any], **place: Any) -> dict[str, Any]:
    """Return the buttons Play and Stop for `layout.updatemenus`, at the right edge.

    Args:
        frames: Names of the frames in the order of playing.
        pace: Plotly's options of the animation.
        place: Where they are: `y`, `pad` ...
    """
    stop = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate"}
    return {
        "type": "buttons",
        "direction": "left",
        "x": 1,
        "xanchor": "right",
        "showactive": False,
        "bgcolor": "rgba(127, 134, 152, 0.15)",
        "bordercolor": theme.GRID,
        "buttons": [
            {"label": "Play", "method": "animate", "args": [list(frames), pace]},
            {"label": "Stop", "method": "animate", "args": [[None], stop]},
        ],
        **place,
    }
