"""Figures of activation patching: shares by layer and token, head or region; one path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from bertcore.analysis.patching import REGIONS, ManyPatched, Patched, PatchPair, PathPatched

from ..plots import theme
from ..plots.before_after import head_grid
from ..plots.cells import cell_text
from ..plots.figure import Figure, bar, heatmap
from ..plots.formats import ON_AXIS, shorten
from .figures import label_room, ticks_of

UNIT = "share"


class PatchedPair(NamedTuple):
    """Patched runs and the versions that they are of."""

    found: Patched
    pair: PatchPair


def _colours(is_dark: bool) -> dict[str, object]:
    """Return the scale of shares: orange below 0, blue up to 1; values beyond are clipped."""
    return {"colorscale": _scale(is_dark), "zmin": -1, "zmax": 1}


def _scale(is_dark: bool) -> list[list[object]]:
    return theme.DIVERGING_DARK if is_dark else theme.DIVERGING


def place_names(pair: PatchPair) -> list[str]:
    """Return what each column of a pair is called: its token, or both with an arrow."""
    names = []
    for i, j in pair.columns:
        one, two = (
            shorten(token, ON_AXIS) for token in (pair.first.tokens[i], pair.second.tokens[j])
        )
        names.append(one if one == two else f"{one} → {two}")
    return names


def share_map(shown: PatchedPair, *, is_dark: bool = False) -> Figure:
    """Draw the share of each layer and token, or of each head."""
    shares = shown.found.shares
    if shown.found.part == "head":
        return head_grid(shares, (), "%{z:+.1%}", _colours(is_dark), UNIT)
    names, changed = place_names(shown.pair), shown.pair.changed
    labels = np.array([theme.escape(name) for name in names], dtype=object)
    rows = list(range(len(shares)))
    fig = Figure(
        heatmap(
            z=shares,
            x=list(range(len(names))),
            y=rows,
            customdata=np.broadcast_to(labels, shares.shape),
            xgap=1 if len(names) <= 60 else 0,
            ygap=2,
            hovertemplate="<b>%{customdata}</b>, layer %{y}: %{z:+.1%}<extra></extra>",
            colorbar=theme.bar_above(UNIT, tickformat=".0%"),
            **_colours(is_dark),
        )
    )
    places, texts = ticks_of(labels, changed)
    below = "layer (0: embeddings)" if shown.found.part == "state" else "layer"
    theme.plot_layout(fig, "", "", below, 30 * len(rows) + label_room(names) + 84)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 56, "b": 0})
    fig.update_xaxes(
        tickvals=places,
        ticktext=texts,
        tickangle=-90 if len(names) > 8 else 0,
        tickfont={"size": 13},
        showgrid=False,
    )
    fig.update_yaxes(autorange="reversed", tickvals=rows, showgrid=False)
    return fig


def share_table(shown: PatchedPair) -> pd.DataFrame:
    """Return a row for each patched run."""
    found, pair = shown.found, shown.pair
    shares, rows = found.shares, []
    for layer, values in enumerate(found.values):
        for n, value in enumerate(values):
            row: dict[str, object] = {"layer": layer}
            if found.part == "head":
                row["head"] = n
            else:
                i, j = pair.columns[n]
                row |= {
                    "position_first": i,
                    "position_second": j,
                    "token_first": pair.first.tokens[i],
                    "token_second": pair.second.tokens[j],
                }
            row |= {"logit_difference": float(value), "share": float(shares[layer, n])}
            rows.append(row)
    return pd.DataFrame(rows)


def path_bars(found: PathPatched) -> Figure:
    """Draw the logit difference of both versions and of the patched run."""
    names = [
        "first version",
        f"patched: {found.sender} → {found.receiver}",
        "second version",
    ]
    values = [found.first, found.value, found.second]
    colours = [theme.SPECIAL, theme.ACCENT, theme.SPECIAL]
    fig = Figure(
        bar(
            x=values,
            y=names,
            orientation="h",
            marker={"color": colours},
            text=[f"{value:+.3f}" for value in values],
            textposition="auto",
            hovertemplate="%{y}: %{x:+.4f}<extra></extra>",
        )
    )
    theme.plot_layout(fig, "", "logit difference", "", 190)
    fig.update_yaxes(autorange="reversed")
    return fig


def path_table(found: PathPatched) -> pd.DataFrame:
    """Return one row: the path and its result."""
    return pd.DataFrame(
        [
            {
                "sender": str(found.sender),
                "receiver": str(found.receiver),
                "direction": found.direction,
                "first": found.first,
                "second": found.second,
                "patched": found.value,
                "share": found.share,
            }
        ]
    )


def mean_map(found: ManyPatched, *, is_dark: bool = False) -> Figure:
    """Draw the mean share over many pairs, of each layer and region or of each head."""
    mean = found.shares.mean.astype(np.float32)
    if found.part == "head":
        return head_grid(mean, (), "%{z:+.1%}", _colours(is_dark), UNIT)
    rows = list(range(len(mean)))
    texts = [[_with_interval(found, row, n) for n in range(len(REGIONS))] for row in rows]
    fig = Figure(
        heatmap(
            z=mean,
            x=list(range(len(REGIONS))),
            y=rows,
            customdata=texts,
            xgap=2,
            ygap=2,
            hoverongaps=False,
            hovertemplate="layer %{y}: %{customdata}<extra></extra>",
            colorbar=theme.bar_above(UNIT, tickformat=".0%"),
            **_colours(is_dark),
        )
    )
    text = [
        ["" if np.isnan(share) else f"{round(100 * share)}%".replace("-", "−") for share in row]
        for row in mean.tolist()
    ]
    fig.add_trace(cell_text(mean, text, 13, scale=_scale(is_dark), low=-1))
    below = "layer (0: embeddings)" if found.part == "state" else "layer"
    theme.plot_layout(fig, "", "", below, 34 * len(rows) + 104)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 56, "b": 0})
    fig.update_xaxes(
        tickvals=list(range(len(REGIONS))),
        ticktext=list(REGIONS),
        tickangle=0,
        tickfont={"size": 14},
        showgrid=False,
        range=[-0.5, len(REGIONS) - 0.5],
    )
    fig.update_yaxes(range=[len(rows) - 0.5, -0.5], tickvals=rows, showgrid=False)
    return fig


def _with_interval(found: ManyPatched, row: int, column: int) -> str:
    low, high = found.shares.low[row, column], found.shares.high[row, column]
    return f"{found.shares.mean[row, column]:+.1%} (95%: {low:+.1%} to {high:+.1%})"


def mean_table(found: ManyPatched) -> pd.DataFrame:
    """Return a row for each layer and region or head, with its interval."""
    shares = found.shares
    names: Sequence[object] = REGIONS
    what = "region"
    if found.part == "head":
        names, what = range(shares.mean.shape[1]), "head"
    return pd.DataFrame(
        [
            {
                "layer": layer,
                what: name,
                "share": float(shares.mean[layer, n]),
                "low": float(shares.low[layer, n]),
                "high": float(shares.high[layer, n]),
            }
            for layer in range(len(shares.mean))
            for n, name in enumerate(names)
        ]
    )
