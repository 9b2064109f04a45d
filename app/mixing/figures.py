"""How tokens mix: one token's row in every measure, and every measure's whole map."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..plots import (
    ON_AXIS,
    Figure,
    Properties,
    display_width,
    heatmap,
    numbered,
    shorten,
    subplots,
    theme,
)

NAMES = {
    "weights": "Attention weights",
    "norms": "Norm-weighted",
    "block": "… with residual",
    "zeroing": "Value zeroing",
    "gradient": "Gradient × attention",
    "rollout": "Rollout",
    "flow": "Flow",
    "zeroing_rollout": "Value zeroing rolled out",
}
"""What each measure is called in the pictures."""

MOST_NUMBERED = 40  # tokens up to which a strip has room for numbers
NUMBERED = 3  # largest cells of a strip whose numbers are written
MOST_NAMED = 24  # tokens up to which small maps have room for names
ROW = 32  # pixels of a strip
GAP = 34  # pixels between two groups of strips, or two rows of maps, for a title
MAP, LARGE_MAP = 270, 420  # pixels of a small map and its title, four or two side by side
MANY = 128  # tokens from which on there are two: cells below one pixel might not be drawn
STEPS = 255  # steps of the square root of a fraction: a small map sends each colour as one byte
MOST_LABELS = 36  # names below the strips: of every token, or of every second, third ...


class OneToken(NamedTuple):
    """Where one token gets its information, by several measures."""

    groups: Mapping[str, Mapping[str, NDArray[np.float32]]]
    """By title; each the fractions by measure, [T], or empty if they are not ready."""
    tokens: Sequence[str]
    """T strings; any text."""
    token: int
    """The token that receives."""


class AllTokens(NamedTuple):
    """Where every token gets its information, by several measures."""

    maps: Mapping[str, NDArray[np.float32]]
    """By measure, [T, T]; row = the token that receives."""
    tokens: Sequence[str]
    """T strings; any text."""


def strips(one_token: OneToken) -> Figure:
    """Draw a strip for each measure over one axis of tokens; the receiving token is framed."""
    groups, tokens, token = one_token
    filled = {title: rows for title, rows in groups.items() if rows}
    num_rows = sum(len(rows) for rows in filled.values())
    inner = num_rows * ROW + GAP * len(filled) + 34
    fig = subplots(
        rows=len(filled),
        shared_xaxes=True,
        row_heights=[len(rows) for rows in filled.values()],
        vertical_spacing=GAP / inner,
        subplot_titles=list(filled),
    )
    # The token itself often has most; in its scale all others would be dark.
    ready = [row for rows in filled.values() for row in rows.values() if row.size]
    others = [np.delete(row, token) for row in ready]
    for place, rows in enumerate(filled.values(), start=1):
        fig.add_trace(_strips_of(rows, tokens, _top(others)), row=place, col=1)
        frame = {"color": theme.ACCENT, "width": 2}
        box = {"x0": token - 0.5, "x1": token + 0.5, "y0": -0.5, "y1": len(rows) - 0.5}
        fig.add_shape(type="rect", line=frame, **box, row=place, col=1)
    names, turned = [theme.escape(shorten(name, ON_AXIS)) for name in tokens], len(tokens) > 12
    crowded = len(tokens) > 28
    below = 24 + (6 * max(map(display_width, names)) if turned else 0)
    theme.plot_layout(fig, "", "", "", inner + 24 + below)
    across: dict[str, Any] = {
        "orientation": "h",
        "lenmode": "pixels",
        "len": 190,
        "x": 1,
        "xanchor": "right",
        "y": 1,
        "yanchor": "bottom",
        "ypad": 0,
        "title": {"text": "fraction of the strip", "side": "top"},
    }
    _colours(fig, others, **across)
    step = math.ceil(len(tokens) / MOST_LABELS)
    labelled = [i for i in range(0, len(tokens), step) if abs(i - token) >= step or i == token]
    labelled = sorted({*labelled, token})
    fig.update_xaxes(
        showgrid=False,
        range=[-0.5, len(tokens) - 0.5],
        tickvals=labelled,
        ticktext=[names[i] for i in labelled],
        tickangle=-90 if crowded else -60 if turned else 0,
        tickfont={"size": 9 if crowded else 12},
        automargin=False,  # it leaves more room than the names need
    )
    fig.update_yaxes(autorange="reversed", showgrid=False, fixedrange=True)
    fig.update_annotations(x=0, xanchor="left", font={"size": 13})
    fig.update_layout(margin={"t": 24, "b": below})
    return fig


def _strips_of(
    rows: Mapping[str, NDArray[np.float32]], tokens: Sequence[str], top: float
) -> Properties:
    """Return the strips of one group; `top` is the fraction at the end of the scale."""
    fractions = np.stack(
        [
            (row if row.size else np.full(len(tokens), np.nan, dtype=np.float32))
            for row in rows.values()
        ]
    )
    names = np.array([theme.escape(shorten(name, ON_AXIS)) for name in tokens], dtype=object)
    hover = np.broadcast_to(names, fractions.shape)
    written = {}
    if len(tokens) <= MOST_NUMBERED:
        text, size = [_numbers(row) for row in fractions], 11 if len(tokens) <= 24 else 9
        written = numbered(np.sqrt(fractions), text, size, theme.from_zero(math.sqrt(top)))
    return heatmap(
        z=np.sqrt(fractions),
        customdata=np.dstack([hover, fractions.astype(object)]),
        y=[NAMES[name] for name in rows],
        coloraxis="coloraxis",
        xgap=1 if len(tokens) <= 80 else 0,
        ygap=3,
        hoverongaps=False,
        hovertemplate="<b>%{customdata[0]}</b>: %{customdata[1]:.1%}<br>%{y}<extra></extra>",
        **written,
    )


def small_maps(all_tokens: AllTokens) -> Figure:
    """Draw the whole map of every measure, all with the same axes: zooming one zooms all."""
    maps, tokens = all_tokens
    columns, side = (4, MAP) if len(tokens) < MANY else (2, LARGE_MAP)
    rows = math.ceil(len(maps) / columns)
    fig = subplots(
        rows=rows,
        cols=columns,
        shared_xaxes="all",
        shared_yaxes="all",
        subplot_titles=[NAMES[name] for name in maps],
        horizontal_spacing=0.015,
        vertical_spacing=GAP / (rows * side),
    )
    # A category for each place: equal tokens stay apart.
    names = [f"{theme.escape(shorten(name, ON_AXIS))} {place}" for place, name in enumerate(tokens)]
    for place, (name, fractions) in enumerate(maps.items()):
        fig.add(
            "heatmap",
            z=np.rint(STEPS * np.sqrt(fractions)).astype(np.uint8),  # a colour needs no more
            customdata=fractions,
            x=names,
            y=names,
            coloraxis="coloraxis",
            hovertemplate="<b>%{y}</b> has %{customdata:.1%}<br>from <b>%{x}</b>"
            f"<extra>{NAMES[name]}</extra>",
            row=place // columns + 1,
            col=place % columns + 1,
        )
    has_names = len(tokens) <= MOST_NAMED
    below = 12 + (6 * max(map(display_width, names)) if has_names else 0)
    theme.plot_layout(fig, "", "", "", rows * side + 30 + below)
    _colours(fig, list(maps.values()), steps_of_one=STEPS)
    font = {"size": 10 if len(tokens) <= 16 else 9}
    axis: Properties = {
        "type": "category",
        "showgrid": False,
        "tickfont": font,
        "dtick": 1,
        "ticks": "",
    }
    fig.update_xaxes(**axis, tickangle=-90, showticklabels=False, automargin=False)
    fig.update_yaxes(**axis, autorange="reversed", showticklabels=False)
    if has_names:
        for column in range(1, columns + 1):
            fig.update_xaxes(showticklabels=True, row=rows, col=column)
        for row in range(1, rows + 1):
            fig.update_yaxes(showticklabels=True, row=row, col=1)
    fig.update_annotations(font={"size": 12})
    fig.update_layout(margin={"t": 30, "b": below})
    return fig


def verdict(
    rows: Mapping[str, NDArray[np.float32]],
    tokens: Sequence[str],
    token: int,
    *,
    is_one_head: bool = False,
    only_others: bool = False,
) -> str:
    """Return in a sentence whether the token that gets most attention also matters most.

    Args:
        rows: Fractions by measure, [T]: "weights" and, if computed, "zeroing".
        tokens: The tokens, escaped for Markdown.
        token: The token that receives.
        is_one_head: Whether the weights are of one head; value zeroing has all.
        only_others: Whether the token itself is left out of the rows.
    """
    weights, zeroing = rows["weights"], rows.get("zeroing")
    if not weights.any():  # the first token under a causal mask, itself left out
        return f"**{tokens[token]}** attends to no other token."
    attended = int(weights.argmax())

    def name(place: int) -> str:
        twin = f" (position {place})" if list(tokens).count(tokens[place]) > 1 else ""
        return "itself" if place == token else f"**{tokens[place]}**{twin}"

    start = (
        f"**{tokens[token]}** attends most to {name(attended)}, with {weights[attended]:.0%} of "
        f"its attention{' to the other tokens' if only_others else ''}"
    )
    if zeroing is None or not zeroing.any():
        return f"{start}."
    lost = int(zeroing.argmax())
    change = (
        f"({zeroing[lost]:.0%} of all changes{' by other tokens' if only_others else ''}"
        f"{'; value zeroing: all heads' if is_one_head else ''})"
    )
    if attended == lost:
        return f"{start}, and losing that value would change it most {change}."
    lost_value = "its own value" if lost == token else f"the value of {name(lost)}"
    return f"{start}, but losing {lost_value} would change it most {change}."


def strips_table(one_token: OneToken) -> pd.DataFrame:
    """Return the strips as a table: a row for each token, a column for each measure."""
    table = pd.DataFrame(
        {"position": range(len(one_token.tokens)), "token": list(one_token.tokens)}
    )
    table["receives"] = table["position"] == one_token.token
    for rows in one_token.groups.values():
        table = table.assign(**rows)
    return table


def maps_arrays(all_tokens: AllTokens) -> dict[str, NDArray[np.generic]]:
    """Return the map of each measure, [T, T], and the tokens."""
    return {**all_tokens.maps, "tokens": np.array(all_tokens.tokens)}


def _numbers(row: NDArray[np.float32]) -> list[str]:
    """Return the percent signs' numbers of the largest cells, and nothing for the others."""
    largest = set(np.argsort(-row)[:NUMBERED].tolist())
    return [
        f"{100 * fraction:.0f}" if place in largest and fraction >= 0.01 else ""
        for place, fraction in enumerate(row.tolist())
    ]


def _top(values: Sequence[NDArray[np.float32]]) -> float:
    """Return the fraction at the end of the scale: the largest, at least 2%."""
    return max([0.02, *(float(np.nanmax(row)) for row in values if row.size)])


def _colours(
    fig: Figure, values: Sequence[NDArray[np.float32]], steps_of_one: int = 1, **bar: Any
) -> None:
    """Give all maps one scale: the square root of the fraction, so that small ones are seen.

    Args:
        fig, values: The figure, and all fractions in it.
        steps_of_one: What the root of 1 is in the maps.
        bar: How the legend differs from the usual one.
    """
    top = _top(values)
    steps = (0.0, 0.02, 0.1, 0.25, 0.5, 1.0) if top >= 0.1 else (0.0, 0.002, 0.01, 0.03, 0.06)
    ticks = [fraction for fraction in steps if fraction <= top]
    fig.update_layout(
        coloraxis={
            "colorscale": theme.SEQUENTIAL,
            "cmin": 0,
            "cmax": steps_of_one * math.sqrt(top),
            "colorbar": {
                "title": {"text": "fraction of the row", "side": "right"},
                "tickvals": [steps_of_one * math.sqrt(fraction) for fraction in ticks],
                "ticktext": [f"{fraction:.3g}%" for fraction in (100 * tick for tick in ticks)],
                "thickness": 12,
                **bar,
            },
        }
    )
