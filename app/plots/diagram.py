"""Boxes with text in them, from which a diagram of a network is made."""

from . import theme
from .figure import Figure, Properties

QUIET, READ, BODY = "rgba(122,129,148,0.14)", "rgba(194,65,124,0.22)", "rgba(52,87,213,0.20)"
"""An input, an answer, and the network."""


def add_box(fig: Figure, across: tuple[float, float], up: tuple[float, float], colour: str) -> None:
    """Draw a filled box, between two places on each axis."""
    sides: Properties = {"x0": across[0], "x1": across[1], "y0": up[0], "y1": up[1]}
    fig.add_shape(type="rect", line={"width": 0}, fillcolor=colour, **sides)


def add_text(
    fig: Figure,
    x: float,
    y: float,
    text: str,
    *,
    size: int = 14,
    colour: str = "",
    xanchor: str = "center",
) -> None:
    """Write Plotly's HTML at a place; without a colour, in that of the page's theme."""
    font: Properties = {"size": size} | ({"color": colour} if colour else {})
    fig.add_annotation(x=x, y=y, text=text, showarrow=False, xanchor=xanchor, font=font)


def lay_out(fig: Figure, top: float, height: int) -> None:
    """Lay out a diagram from 0 to 1 across and from 0 to `top` upwards, without axes."""
    theme.plot_layout(fig, "", "", "", height)
    hidden = {"showgrid": False, "showticklabels": False, "zeroline": False, "fixedrange": True}
    hidden["automargin"] = False
    fig.update_xaxes(range=[0, 1], **hidden)
    fig.update_yaxes(range=[0, top], **hidden)
    fig.update_layout(dragmode=False, margin={"l": 0, "r": 0, "t": 8, "b": 8})
