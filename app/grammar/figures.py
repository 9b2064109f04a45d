"""The figures of the grammar exam: accuracy by group, and by layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.grammar import GroupAccuracy

from ..plots import theme
from ..plots.figure import Figure, heatmap, scatter
from ..plots.formats import shorten

ROW_PIXELS = 24
_LONGEST_NAME = 34
_MOST_NUMBERED = 13
"""Most columns of the map for which each cell shows its number."""


class Graded(NamedTuple):
    """The groups of one or two checkpoints, those that the first knows best on top."""

    names: tuple[str, ...]
    """Of the checkpoints, one or two."""
    groups: tuple[tuple[GroupAccuracy, ...], ...]
    """For each checkpoint its groups, in the same order, [C][G]."""


class ByLayer(NamedTuple):
    """The accuracy of each group at each layer."""

    groups: tuple[str, ...]
    """[G]"""
    accuracy: NDArray[np.float64]
    """[G, L+1]; column 0 is the embeddings' output."""


def graded(names: Sequence[str], groups: Sequence[Sequence[GroupAccuracy]]) -> Graded:
    """Order the groups by the accuracy of the first checkpoint, the highest first."""
    places = sorted(
        range(len(groups[0])), key=lambda i: (-groups[0][i].accuracy, groups[0][i].group)
    )
    return Graded(tuple(names), tuple(tuple(one[i] for i in places) for one in groups))


def accuracy_dots(result: Graded, opened: str) -> Figure:
    """Draw the accuracy of each group with its 95% interval; the points can be clicked.

    Args:
        result: Of one or two checkpoints.
        opened: Name of the group whose pairs are shown.
    """
    first = result.groups[0]
    fig = Figure()
    offsets = (0.0,) if len(result.names) == 1 else (-0.16, 0.16)
    for name, groups, offset, colour in zip(
        result.names, result.groups, offsets, (theme.SEGMENT_A, theme.SEGMENT_B), strict=False
    ):
        fig.add_trace(
            scatter(
                x=[group.accuracy for group in groups],
                y=[place + offset for place in range(len(groups))],
                mode="markers",
                name=theme.escape(name),
                marker={"color": colour, "size": 9},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": [group.high - group.accuracy for group in groups],
                    "arrayminus": [group.accuracy - group.low for group in groups],
                    "color": colour,
                    "thickness": 1.2,
                    "width": 0,
                },
                customdata=[[group.group, _describe(group)] for group in groups],
                hovertemplate="%{customdata[1]}<extra>" + theme.escape(name) + "</extra>",
                showlegend=len(result.names) > 1 or first[0].frequency_right is not None,
            )
        )
    if first[0].frequency_right is not None:
        fig.add_trace(
            scatter(
                x=[group.frequency_accuracy for group in first],
                y=list(range(len(first))),
                mode="markers",
                name="word frequency alone",
                marker={
                    "color": theme.SPECIAL,
                    "size": 12,
                    "symbol": "line-ns-open",
                    "line_width": 2,
                },
                customdata=[[group.group, f"{group.frequency_ties} ties"] for group in first],
                hovertemplate="word frequency: %{x:.0%}, %{customdata[1]}<extra></extra>",
            )
        )
    _rows(fig, [group.group for group in first], opened)
    fig.add_vline(0.5, line={"color": theme.SPECIAL, "width": 1, "dash": "dash"})
    fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    fig.update_layout(clickmode="event+select", dragmode=False, margin={"t": 36})
    return fig


def layer_map(result: ByLayer, opened: str, *, is_dark: bool) -> Figure:
    """Draw the accuracy of each group at each layer; the cells can be clicked."""
    num_groups, num_states = result.accuracy.shape
    fig = Figure(
        heatmap(
            z=result.accuracy,
            y=list(range(num_groups)),
            zmin=0,
            zmax=1,
            colorscale=theme.DIVERGING_DARK if is_dark else theme.DIVERGING,
            text=100 * result.accuracy,
            texttemplate="%{text:.0f}" if num_states <= _MOST_NUMBERED else None,
            textfont={"size": 11},
            customdata=[[group] * num_states for group in result.groups],
            hovertemplate="%{customdata}, %{x}: %{z:.1%}<extra></extra>",
            colorbar=theme.bar_above("right", tickformat=".0%", tickvals=[0, 0.5, 1]),
            xgap=1,
            ygap=1,
        )
    )
    fig.traces[0]["x"] = ["emb.", *(str(layer) for layer in range(1, num_states))]
    _rows(fig, result.groups, opened)
    fig.update_xaxes(type="category", showgrid=False, title_text="layer")
    fig.update_layout(dragmode=False, margin={"t": 36})
    return fig


def graded_table(result: Graded) -> pd.DataFrame:
    """Return a row for each checkpoint and group."""
    return pd.DataFrame(
        [
            {
                "checkpoint": name,
                "group": group.group,
                "pairs": group.num_pairs,
                "right": group.num_right,
                "ties": group.num_ties,
                "accuracy": group.accuracy,
                "low": group.low,
                "high": group.high,
                "word_frequency": group.frequency_accuracy,
            }
            for name, groups in zip(result.names, result.groups, strict=True)
            for group in groups
        ]
    )


def layer_table(result: ByLayer) -> pd.DataFrame:
    """Return a row for each group and layer."""
    return pd.DataFrame(
        [
            {"group": group, "layer": layer, "accuracy": float(value)}
            for group, row in zip(result.groups, result.accuracy, strict=True)
            for layer, value in enumerate(row)
        ]
    )


def _rows(fig: Figure, groups: Sequence[str], opened: str) -> None:
    """Name the rows from top to bottom, the open one in bold."""
    names = [theme.escape(shorten(group, _LONGEST_NAME)) for group in groups]
    names = [
        f"<b>{name}</b>" if group == opened else name
        for name, group in zip(names, groups, strict=True)
    ]
    theme.plot_layout(fig, "", "", "", ROW_PIXELS * len(names) + 84)
    fig.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[len(names) - 0.4, -0.6],
        showgrid=False,
    )


def _describe(group: GroupAccuracy) -> str:
    ties = f", {group.num_ties} ties" if group.num_ties else ""
    return (
        f"<b>{theme.escape(group.group)}</b><br>{group.num_right:,} of {group.num_pairs:,} right: "
        f"{group.accuracy:.1%} ({group.low:.1%} to {group.high:.1%}){ties}"
    )
