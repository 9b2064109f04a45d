"""Figures of two versions of a text: their tokens, the difference of attention, the vectors."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore import Trace
from bertcore.analysis.compare.minimal_pair import Column, MinimalPair

from ..plots import theme
from ..plots.figure import Figure, Properties, heatmap
from ..plots.formats import ON_AXIS, display_width, shorten

RUNS = ("first", "second")
GAP = "∅"
"""Stands for a token that a version does not have."""
MOST_LABELS = 44
"""Names along an axis: of every token, or of every second, third ..."""
MOST_EXACT = 96
"""Most columns for which the hover text has both weights; the NPZ has them always."""
_LONGEST = 60  # letters of a token in the strip


def column_names(first: Trace, second: Trace, columns: Sequence[Column]) -> list[str]:
    """Return what each column is called: its token, or both with an arrow."""
    names = []
    for i, j in columns:
        one, two = (
            GAP if at is None else trace.tokens[at] for trace, at in ((first, i), (second, j))
        )
        is_same = one == two and i is not None and j is not None
        short = [shorten(token, ON_AXIS) for token in (one, two)]
        names.append(short[0] if is_same else " → ".join(short))
    return names


def token_rows(first: Trace, second: Trace, pair: MinimalPair) -> str:
    """Return the aligned tokens as HTML that wraps like text: the first version above the second.

    Every token is escaped. What differs is framed; a gap stands for a missing token.
    """
    cells = []
    for (i, j), is_changed in zip(pair.columns, pair.changed, strict=True):
        tokens = [
            None if at is None else trace.tokens[at] for trace, at in ((first, i), (second, j))
        ]
        frame = (
            f"background:{theme.ACCENT}2b;box-shadow:0 0 0 1.5px {theme.ACCENT};"
            if is_changed
            else f"background:{theme.GRID};"
        )
        lines = "".join(_line(token, n, is_changed) for n, token in enumerate(tokens))
        cells.append(
            '<span style="display:inline-flex;flex-direction:column;align-items:center;'
            f'justify-content:center;border-radius:6px;padding:1px 7px;max-width:100%;{frame}">'
            f"{lines}</span>"
        )
    return (
        '<div role="group" aria-label="The tokens of both versions, aligned" style="display:flex;'
        "flex-wrap:wrap;gap:6px;font-size:14px;line-height:1.45;max-height:260px;"
        f'overflow-y:auto;padding:3px">{"".join(cells)}</div>'
    )


def _line(token: str | None, number: int, is_changed: bool) -> str:
    if token is None:
        return f'<span style="opacity:0.55" title="no token here">{GAP}</span>'
    if number == 1 and not is_changed:
        return ""  # the same token once more would only hide what differs
    return f'<bdi style="overflow-wrap:anywhere">{html.escape(shorten(token, _LONGEST))}</bdi>'


def difference_map(
    first: NDArray[np.float32],
    second: NDArray[np.float32],
    names: Sequence[str],
    changed: Sequence[bool],
    *,
    is_dark: bool = False,
) -> Figure:
    """Draw how much more (blue) or less (orange) each token attends to each in the second version.

    Args:
        first, second: Attention over the columns, [N, N]; NaN where a version has no such token.
        names: Names of the columns, [N]; any text.
        changed: Whether a column's tokens differ, [N]; those are written bold.
        is_dark: Whether the background is dark.
    """
    points = 100 * (second - first)
    top = max(0.1, float(np.nanmax(np.abs(points), initial=0.0)))
    size = len(names)
    exact = size <= MOST_EXACT
    hover = "<b>%{customdata[0]}</b><br>attends to <b>%{customdata[1]}</b>: "
    places = list(range(size))
    labels = np.array([theme.escape(name) for name in names], dtype=object)
    data, more = None, "%{z:+.2f} percentage points<extra></extra>"
    if exact:
        rows, columns = np.meshgrid(labels, labels, indexing="ij")
        data = np.dstack([rows, columns, first.astype(object), second.astype(object)])
        more = "%{customdata[2]:.2%} → %{customdata[3]:.2%}<br>" + more
    else:
        hover = "token %{y} attends to token %{x}: "
    fig = Figure(
        heatmap(
            z=points,
            x=places,
            y=places,
            customdata=data,
            xgap=1 if size <= 60 else 0,
            ygap=1 if size <= 60 else 0,
            zmin=-top,
            zmax=top,
            colorscale=theme.DIVERGING_DARK if is_dark else theme.DIVERGING,
            hoverongaps=False,
            hovertemplate=hover + more,
            colorbar=theme.bar_above("percentage points"),
        )
    )
    ticks, tick_labels = ticks_of(labels, changed)
    room = label_room(names)
    side = min(640, max(280, 26 * size))
    theme.plot_layout(fig, "", "attended to", "attends", side + room + 110)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 56, "b": 0})
    axis: Properties = {
        "tickvals": ticks,
        "ticktext": tick_labels,
        "showgrid": False,
        "tickfont": {"size": 11},
    }
    # Below the names, which may be turned; Plotly would set it among them here.
    fig.update_xaxes(
        **axis, tickangle=-90 if size > 8 else 0, range=[-0.5, size - 0.5], title_standoff=12
    )
    fig.update_yaxes(**axis, range=[size - 0.5, -0.5])
    return fig


def vector_strips(
    change: NDArray[np.float32], names: Sequence[str], changed: Sequence[bool]
) -> Figure:
    """Draw a strip for each layer: how much the vector of each column turned.

    Args:
        change: 1 - cosine, [L+1, N]; NaN where a version has no such token.
        names, changed: As for `difference_map`.
    """
    labels = np.array([theme.escape(name) for name in names], dtype=object)
    layers = list(range(len(change)))
    top = max(1e-3, float(np.nanmax(change, initial=0.0)))
    fig = Figure(
        heatmap(
            z=change,
            x=list(range(len(names))),
            y=layers,
            customdata=np.broadcast_to(labels, change.shape),
            xgap=1 if len(names) <= 60 else 0,
            ygap=3,
            zmin=0,
            zmax=top,
            colorscale=theme.SEQUENTIAL,
            hoverongaps=False,
            hovertemplate="<b>%{customdata}</b>, layer %{y}: %{z:.4f}<extra></extra>",
            colorbar=theme.bar_above("1 − cosine"),
        )
    )
    ticks, tick_labels = ticks_of(labels, changed)
    theme.plot_layout(
        fig, "", "", "layer (0: embeddings)", 28 * len(layers) + label_room(names) + 76
    )
    fig.update_layout(margin={"l": 0, "r": 0, "t": 56, "b": 0})
    fig.update_xaxes(
        tickvals=ticks,
        ticktext=tick_labels,
        tickangle=-90 if len(names) > 8 else 0,
        tickfont={"size": 11},
        showgrid=False,
    )
    fig.update_yaxes(autorange="reversed", tickvals=layers, showgrid=False)
    return fig


def strip_table(pair: MinimalPair, first: Trace, second: Trace) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings) and column; empty where a token is missing."""
    return pd.DataFrame(
        [
            {
                "layer": layer,
                "position_first": i,
                "position_second": j,
                "token_first": "" if i is None else first.tokens[i],
                "token_second": "" if j is None else second.tokens[j],
                "one_minus_cosine": float(row[n]),
            }
            for layer, row in enumerate(pair.hidden_change)
            for n, (i, j) in enumerate(pair.columns)
        ]
    ).astype({"position_first": "Int64", "position_second": "Int64"})


def label_room(names: Sequence[str]) -> int:
    """Return the pixels that names below a map take: those of many are turned."""
    return 6 * max(display_width(name) for name in names) if len(names) > 8 else 14


def ticks_of(labels: NDArray[np.object_], changed: Sequence[bool]) -> tuple[list[int], list[str]]:
    """Return which columns are named, changed ones first, and their names."""
    step = math.ceil(len(labels) / MOST_LABELS)
    kept: list[int] = []
    for n in [k for k, differs in enumerate(changed) if differs]:
        if not kept or n - kept[-1] >= step:
            kept.append(n)
    changed_ticks = set(kept)
    every = range(0, len(labels), step)
    kept += [n for n in every if all(abs(n - k) >= step for k in changed_ticks)]
    kept.sort()
    return kept, [f"<b>{labels[n]}</b>" if changed[n] else str(labels[n]) for n in kept]
