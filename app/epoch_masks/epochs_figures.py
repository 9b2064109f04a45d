"""Which tokens are hidden in each epoch, with static and with dynamic masks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from bertcore.analysis.words.epoch_masks import FATES, EpochMasks

from ..plots import theme
from ..plots.figure import Figure, heatmap, scatter, subplots
from ..plots.formats import ON_AXIS, shorten

COLOURS = ("rgba(127, 134, 152, 0.12)", "#2F55D4", "#0B7A55", "#B45309")
"""For not hidden, [MASK], kept and random, as in the drawing of an example."""
ROW = 14
"""Pixels of an epoch."""


class BothMasks(NamedTuple):
    """The masks of one row, drawn in both ways."""

    static: EpochMasks
    dynamic: EpochMasks


def epochs_figure(both: BothMasks, mask: str = "[MASK]") -> Figure:
    """Draw a row for each epoch, static masks above dynamic ones.

    Args:
        both: The masks.
        mask: How the checkpoint writes [MASK].
    """
    static = both.static
    num_epochs, num_tokens = static.fates.shape
    titles = (
        f"<b>Static</b>: {static.dupe_factor} copies of the data, each with its masks",
        "<b>Dynamic</b>: new masks in each epoch",
    )
    fig = subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, subplot_titles=titles)
    names = ("not hidden", mask, "kept", "random")
    edges = [(place / 4, colour) for place, colour in enumerate(COLOURS)]
    scale = [[edge + extra, colour] for edge, colour in edges for extra in (0, 0.25)]
    for number, masks in enumerate(both, 1):
        fig.add_trace(
            heatmap(
                z=masks.fates,
                x=list(range(num_tokens)),
                y=list(range(1, num_epochs + 1)),
                customdata=[
                    [f"{theme.escape(token)}: {theme.escape(names[fate])}" for token, fate in row]
                    for row in (zip(masks.tokens, line, strict=True) for line in masks.fates)
                ],
                hovertemplate="epoch %{y}, %{customdata}<extra></extra>",
                zmin=-0.5,
                zmax=3.5,
                colorscale=scale,
                showscale=False,
                xgap=1,
                ygap=1,
            ),
            row=number,
            col=1,
        )
    if static.dupe_factor < num_epochs:  # below the line they repeat
        fig.add_hline(
            y=static.dupe_factor + 0.5, row=1, col=1, line_width=2, line_color=theme.ACCENT
        )
    for name, colour in zip(names[1:], COLOURS[1:], strict=True):
        fig.add_trace(
            scatter(
                x=[None],
                y=[None],
                mode="markers",
                name=theme.escape(name),
                marker={"symbol": "square", "size": 12, "color": colour},
            ),
            row=1,
            col=1,
        )
    theme.plot_layout(fig, "", "", "epoch", 190 + 2 * ROW * num_epochs)
    fig.update_layout(margin={"l": 8, "r": 8, "t": 64, "b": 8})
    fig.update_layout(legend={"y": 1.04})
    fig.update_annotations(x=0, xanchor="left", font_size=15)
    fig.update_yaxes(autorange="reversed", tickvals=[1, 5, 10, 15, 20], showgrid=False)
    fig.update_xaxes(
        tickmode="array",
        tickvals=list(range(num_tokens)),
        ticktext=[theme.escape(shorten(token, ON_AXIS)) for token in static.tokens],
        tickangle=-60,
        showgrid=False,
    )
    return fig


def epochs_table(both: BothMasks) -> pd.DataFrame:
    """Return a row for each way, epoch and hidden token."""
    rows = []
    for name, masks in zip(("static", "dynamic"), both, strict=True):
        for epoch, place in np.argwhere(masks.fates > 0).tolist():
            rows.append(
                {
                    "masks": name,
                    "epoch": epoch + 1,
                    "position": place,
                    "token": masks.tokens[place],
                    "became": FATES[masks.fates[epoch, place]],
                }
            )
    return pd.DataFrame(rows)
