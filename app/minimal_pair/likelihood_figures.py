"""The log-probability of each token in both versions of a text, and their difference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..plots import theme
from ..plots.cells import numbered
from ..plots.figure import Figure, heatmap
from ..plots.formats import exactly
from .compared import Compared
from .figures import RUNS, label_room, ticks_of

MOST_NUMBERED = 12
"""Most columns at which the cells have room for their numbers."""
SURPRISED = 8.0
"""Nats at the dark end of the scale: one in 3,000."""


class Likelihoods(NamedTuple):
    """The log-probability of each token of two versions."""

    compared: Compared
    first: NDArray[np.float64]
    """Nats, [T]; NaN for added tokens."""
    second: NDArray[np.float64]

    @property
    def sums(self) -> tuple[float, float]:
        """The scores of the versions, nats."""
        return float(np.nansum(self.first)), float(np.nansum(self.second))

    @property
    def aligned(self) -> NDArray[np.float64]:
        """Both by column, [2, N]; NaN where a version has no such token, or an added one."""
        firsts, seconds = zip(*self.compared.pair.columns, strict=True)
        rows = [
            [np.nan if at is None else scores[at] for at in places]
            for scores, places in ((self.first, firsts), (self.second, seconds))
        ]
        return np.array(rows)

    @property
    def differences(self) -> NDArray[np.float64]:
        """First minus second, [N]."""
        first, second = self.aligned
        found: NDArray[np.float64] = first - second
        return found


def likelihood_rows(both: Likelihoods, drawn: list[int], *, is_dark: bool) -> Figure:
    """Draw a row for each version and one for their difference, a column for each aligned token.

    Args:
        both: The scores.
        drawn: Columns to draw; those of added tokens are left out.
        is_dark: Whether the background is dark.
    """
    aligned, differences = both.aligned, both.differences
    kept = [column for column in drawn if not np.isnan(aligned[:, column]).all()]
    names = both.compared.names(drawn)
    names = [names[drawn.index(column)] for column in kept]
    changed = both.compared.changed(kept)
    labels = np.array([theme.escape(name) for name in names], dtype=object)
    is_numbered = len(kept) <= MOST_NUMBERED
    scores, ahead = np.full((2, 3, len(kept)), np.nan)
    scores[:2], ahead[2] = aligned[:, kept], differences[kept]
    diverging = theme.DIVERGING_DARK if is_dark else theme.DIVERGING
    largest = max(1.0, float(np.nanmax(np.abs(ahead[2]), initial=0.0)))
    maps = (
        (scores, -SURPRISED, 0.0, theme.SEQUENTIAL),
        (ahead, -largest, largest, diverging),
    )
    numbers = [
        np.array([["" if np.isnan(v) else exactly(v, 2) for v in row] for row in values], object)
        for values, *_ in maps
    ]
    fig = Figure(
        [
            heatmap(
                z=values,
                x=list(range(len(kept))),
                y=[0, 1, 2],
                zmin=low,
                zmax=high,
                colorscale=scale,
                showscale=False,
                hoverongaps=False,
                xgap=1 if len(names) <= 60 else 0,
                ygap=3,
                customdata=np.dstack([np.broadcast_to(labels, values.shape), written]),
                hovertemplate="<b>%{customdata[0]}</b>: %{customdata[1]} nats<extra></extra>",
                **(
                    numbered(values, written.tolist(), 11, scale=scale, low=low, high=high)
                    if is_numbered
                    else {}
                ),
            )
            for (values, low, high, scale), written in zip(maps, numbers, strict=True)
        ]
    )
    first, second = both.sums
    names_of_rows = (*RUNS, "first − second")
    ticks, tick_labels = ticks_of(labels, changed)
    theme.plot_layout(fig, "", "", "", 36 * 3 + label_room(names) + 44)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 8, "b": 0})
    fig.update_xaxes(
        tickvals=ticks,
        ticktext=tick_labels,
        tickangle=-90 if len(names) > 8 else 0,
        tickfont={"size": 12},
        showgrid=False,
    )
    fig.update_yaxes(
        tickvals=[0, 1, 2],
        ticktext=[
            f"{name}  <b>{exactly(end, 2)}</b>"
            for name, end in zip(names_of_rows, (first, second, first - second), strict=True)
        ],
        range=[2.55, -0.55],
        tickfont={"size": 13},
        showgrid=False,
    )
    return fig


def likelihood_table(both: Likelihoods) -> pd.DataFrame:
    """Return a row for each aligned token."""
    first, second = both.compared.first, both.compared.second
    return pd.DataFrame(
        [
            {
                "position_first": i,
                "position_second": j,
                "token_first": "" if i is None else first.tokens[i],
                "token_second": "" if j is None else second.tokens[j],
                "nats_first": one,
                "nats_second": two,
            }
            for (i, j), one, two in zip(
                both.compared.pair.columns, *both.aligned.tolist(), strict=True
            )
        ]
    ).astype({"position_first": "Int64", "position_second": "Int64"})
