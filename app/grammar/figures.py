"""The figures of the grammar exam: accuracy by group, and by layer."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.grammar import GroupAccuracy

from ..plots import Figure, Shades, error_bars, numbered, shorten, subplots, theme

ROW_PIXELS = 20
FEWEST_ROWS = 4
"""Rows for which there is room at least: the axes overlap in a lower picture."""
_LONGEST_NAME = 34
_MOST_NUMBERED = 13  # most layers for which each cell shows its number


class Graded(NamedTuple):
    """The groups of one or two checkpoints, those that the first knows best on top."""

    names: tuple[str, ...]
    """Of the checkpoints, one or two."""
    groups: tuple[tuple[GroupAccuracy, ...], ...]
    """For each checkpoint its groups, in the same order, [C][G]."""
    by_layer: NDArray[np.float64] | None
    """Accuracy of the first at each layer, [G, L+1]; column 0 is the embeddings' output. None if
    layers cannot be read."""

    @property
    def order(self) -> tuple[str, ...]:
        """Names of the groups, [G]."""
        return tuple(group.group for group in self.groups[0])


def accuracy_rows(result: Graded, opened: str, *, is_dark: bool) -> Figure:
    """Draw a row for each group: its accuracy with a 95% interval, and that at each layer.

    Args:
        result: Of one or two checkpoints.
        opened: Name of the group whose pairs are shown.
    """
    if result.by_layer is None:
        fig = subplots(1, 1)
    else:
        fig = subplots(
            1,
            2,
            shared_yaxes=True,
            horizontal_spacing=0.03,
            column_widths=[0.4, 0.6],  # the numbers of the layers need the room
        )
    _add_dots(fig, result)
    if result.by_layer is not None:
        _add_layers(fig, result.order, result.by_layer, col=2, is_dark=is_dark)
    names = [theme.escape(shorten(group, _LONGEST_NAME)) for group in result.order]
    names = [
        f"<b>{name}</b>" if group == opened else name
        for name, group in zip(names, result.order, strict=True)
    ]
    theme.plot_layout(fig, "", "", "", ROW_PIXELS * max(FEWEST_ROWS, len(names)) + 92)
    fig.update_yaxes(**theme.named_rows(names, 0.4), ticklen=0)
    fig.update_xaxes(title_text="right", range=[-0.03, 1.06], row=1, col=1)
    fig.update_xaxes(tickformat=".0%", tickvals=[0, 0.5, 1], row=1, col=1)
    if result.by_layer is not None:
        fig.update_xaxes(title_text="layer: % right", row=1, col=2)
    fig.update_layout(clickmode="event+select", dragmode=False, margin={"t": 30})
    return fig


def graded_table(result: Graded) -> pd.DataFrame:
    """Return a row for each checkpoint and group; of the first with its accuracy by layer."""
    rows = []
    for number, (name, groups) in enumerate(zip(result.names, result.groups, strict=True)):
        for place, group in enumerate(groups):
            row = {
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
            if number == 0 and result.by_layer is not None:
                layers = enumerate(result.by_layer[place].tolist())
                row |= {f"layer_{layer}": value for layer, value in layers}
            rows.append(row)
    return pd.DataFrame(rows)


def _add_dots(fig: Figure, result: Graded) -> None:
    """Add the points, which can be clicked, their intervals, chance and the baseline."""
    first = result.groups[0]
    has_baseline = first[0].frequency_right is not None
    offsets = (0.0,) if len(result.names) == 1 else (-0.16, 0.16)
    for name, groups, offset, colour in zip(
        result.names, result.groups, offsets, (theme.SEGMENT_A, theme.SEGMENT_B), strict=False
    ):
        fig.add(
            "scatter",
            x=[group.accuracy for group in groups],
            y=[place + offset for place in range(len(groups))],
            mode="markers",
            name=theme.escape(name),
            marker={"color": colour, "size": 9},
            error_x=error_bars(
                [group.accuracy for group in groups],
                [group.low for group in groups],
                [group.high for group in groups],
                colour,
            ),
            customdata=[[group.group, _describe(group)] for group in groups],
            hovertemplate="%{customdata[1]}<extra>" + theme.escape(name) + "</extra>",
            showlegend=len(result.names) > 1 or has_baseline,
            row=1,
            col=1,
        )
    if has_baseline:
        fig.add(
            "scatter",
            x=[group.frequency_accuracy for group in first],
            y=list(range(len(first))),
            mode="markers",
            name="word frequency alone",
            marker={
                "color": theme.SPECIAL,
                "size": 11,
                "symbol": "line-ns-open",
                "line": {"width": 2},
            },
            customdata=[[group.group, f"{group.frequency_ties} ties"] for group in first],
            hovertemplate="word frequency: %{x:.0%}, %{customdata[1]}<extra></extra>",
            row=1,
            col=1,
        )
    fig.add_vline(0.5, row=1, col=1, line={"color": theme.SPECIAL, "width": 1, "dash": "dash"})


def _add_layers(
    fig: Figure, groups: Sequence[str], accuracy: NDArray[np.float64], *, col: int, is_dark: bool
) -> None:
    """Add the map of groups and layers in a column."""
    num_states = accuracy.shape[1]
    shades, written = Shades(theme.diverging(is_dark)), {}
    if num_states <= _MOST_NUMBERED:
        text = [[f"{100 * value:.0f}" for value in row] for row in accuracy.tolist()]
        written = numbered(accuracy, text, 11 if num_states <= 8 else 9, shades)
    fig.heat(
        accuracy,
        shades,
        "%{customdata}, layer %{x}: %{z:.1%}",
        gap=1,
        row=1,
        col=col,
        x=[str(layer) for layer in range(num_states)],
        customdata=[[theme.escape(group)] * num_states for group in groups],
        **written,
    )
    fig.update_xaxes(type="category", tickangle=0, showgrid=False, row=1, col=col)


def _describe(group: GroupAccuracy) -> str:
    ties = f", {group.num_ties} ties" if group.num_ties else ""
    return (
        f"<b>{theme.escape(group.group)}</b><br>{group.num_right:,} of {group.num_pairs:,} right: "
        f"{group.accuracy:.1%} ({group.low:.1%} to {group.high:.1%}){ties}"
    )
