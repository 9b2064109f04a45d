"""Replay of a run: attention, the hidden word, next sentence and the map, with one slider."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bertcore.analysis.runs import Replay
from bertcore.analysis.space.probe_map import ProbeMap
from bertcore.training.probes import KINDS, Probe

from ..plots import (
    Figure,
    Properties,
    bar,
    heatmap,
    percent,
    player,
    scatter,
    shorten,
    subplots,
    theme,
)

MAX_MOMENTS = 60
"""Most moments under the slider; of longer runs they are spread evenly over the probes."""
TRAIL = 6  # length of a point's trail, in moments
STEP_MS = 350
HEIGHT = 860
ATTENTION, MAP, GUESSES, ANSWERS = (1, 1), (1, 2), (2, 1), (2, 2)  # row and column of each picture


def spread_moments(count: int) -> list[int]:
    """Return which of `count` moments are drawn: all, or MAX_MOMENTS with the first and last.

    >>> spread_moments(3), len(spread_moments(500)), spread_moments(500)[-1]
    ([0, 1, 2], 60, 499)
    """
    picked = np.linspace(0, count - 1, min(count, MAX_MOMENTS)).round().astype(int)
    return [int(index) for index in np.unique(picked)]


def replay_figure(
    recorded: Replay,
    *,
    sentence: int = 0,
    layer: int = -1,
    head: int | None = None,
    moment: int = -1,
    ink: str = "",
) -> Figure:
    """Draw four pictures that a slider and a play button take through training.

    Args:
        recorded: The probes, of which `spread_moments` are drawn, and their map.
        sentence: Which of the probes' sentences the attention and the words are of.
        layer, head: The head whose attention is drawn; None for the mean of the layer's heads.
        moment: Which of the drawn moments is shown first.
        ink: Colour of names; empty for the theme's.
    """
    drawn = spread_moments(len(recorded.probes))
    probes = [recorded.probes[index] for index in drawn]
    mapped = replace(recorded.map, coordinates=recorded.map.coordinates[drawn])
    layer, moment = layer % len(probes[-1].sentences[0].codes), moment % len(probes)
    hidden = theme.escape(shorten(probes[-1].sentences[sentence].word))
    fig = subplots(
        2,
        2,
        subplot_titles=[
            f"Attention: layer {layer}, {'mean of the heads' if head is None else f'head {head}'}",
            "The words on one map",
            f"Guesses for the hidden “{hidden}”",
            "Answers over time",
        ],
        horizontal_spacing=0.12,
        vertical_spacing=0.16,
        row_heights=[0.58, 0.42],
    )
    moments = [
        _moving_parts(probes, mapped, index, sentence, layer, head) for index in range(len(probes))
    ]
    places: list[int] = []
    still_parts = _still_parts(probes[-1], mapped, sentence, ink)
    for moving, ((row, col), still) in zip(moments[moment], still_parts, strict=True):
        if (row, col) == ANSWERS:
            _draw_answers(fig, probes, sentence)
        places.append(len(fig.traces))
        fig.add_trace({**moving, **still}, row, col)
    fig.stages = [
        {"name": str(probe.step), "data": parts, "traces": places}
        for probe, parts in zip(probes, moments, strict=True)
    ]
    _lay_out(fig, probes, mapped, sentence)
    _add_controls(fig, [stage["name"] for stage in fig.stages], moment)
    return fig


def _moving_parts(
    probes: Sequence[Probe],
    probe_map: ProbeMap,
    moment: int,
    sentence: int,
    layer: int,
    head: int | None,
) -> list[Properties]:
    """Return what changes from moment to moment: a part of each trace of `_still_parts`."""
    probe = probes[moment].sentences[sentence]
    weights = probe.attention[layer]
    weights = weights.mean(0) if head is None else weights[head]
    trails_x: list[float | None] = []
    trails_y: list[float | None] = []
    start = max(0, moment - TRAIL)
    if moment > start:
        path = probe_map.coordinates[start : moment + 1]
        for point in range(path.shape[1]):
            trails_x += [*_round(path[:, point, 0]), None]
            trails_y += [*_round(path[:, point, 1]), None]
    now = probe_map.coordinates[moment]
    words, step = zip(probe.top_words, probe.top_probabilities, strict=True), probes[moment].step
    colours = [theme.ACCENT if word == probe.word else theme.SEGMENT_A for word in probe.top_words]
    return [
        heatmap(z=np.sqrt(weights).round(3).tolist(), customdata=weights.round(4).tolist()),
        scatter(x=trails_x, y=trails_y),
        *(
            scatter(x=_round(now[rows, 0]), y=_round(now[rows, 1]))
            for rows in _rows_by_kind(probe_map).values()
        ),
        bar(
            x=_round(probe.top_probabilities),
            y=list(range(len(probe.top_words))),
            text=[f"<b>{theme.escape(shorten(word, 14))}</b>  {percent(p)}" for word, p in words],
            marker={"color": colours},
        ),
        scatter(x=[step, step], y=[0, 1]),
    ]


def _still_parts(
    probe: Probe, probe_map: ProbeMap, sentence: int, ink: str
) -> list[tuple[tuple[int, int], Properties]]:
    """Return the picture of each moving trace, and what is the same at every moment.

    They are the attention, the trails, the points of each kind of words, the guesses and the mark
    of the moment. Words of the chosen sentence stand out on the map.
    """
    tokens = probe.sentences[sentence].tokens
    names = [f"{theme.escape(shorten(token, 12))} {i}" for i, token in enumerate(tokens)]
    attention: Properties = {
        "x": names,
        "y": names,
        "zmin": 0,
        "zmax": 1,
        "colorscale": theme.SEQUENTIAL,
        "showscale": False,
        "hovertemplate": "<b>%{y}</b> attends to <b>%{x}</b>: %{customdata:.3f}<extra></extra>",
    }
    silent: Properties = {"hoverinfo": "skip", "showlegend": False}
    trails = {"mode": "lines", "line": {"color": theme.SPECIAL, "width": 1}, "opacity": 0.35}
    guesses = {"orientation": "h", "textposition": "outside", "cliponaxis": False}
    mark = {"mode": "lines", "line": {"color": theme.ACCENT, "width": 2}}
    parts = [(ATTENTION, attention), (MAP, {**trails, **silent})]
    for place, (kind, rows) in enumerate(_rows_by_kind(probe_map).items()):
        is_chosen = [probe_map.sentences[row] == sentence for row in rows]
        points: Properties = {
            "mode": "markers+text",
            "name": KINDS.get(kind, "words"),
            "marker": {
                "color": theme.CATEGORICAL[place],
                "size": [10 if chosen else 6 for chosen in is_chosen],
                "opacity": [0.95 if chosen else 0.45 for chosen in is_chosen],
            },
            "text": [
                theme.escape(shorten(probe_map.tokens[row], 12)) if chosen else ""
                for row, chosen in zip(rows, is_chosen, strict=True)
            ],
            "textposition": "top center",
            "textfont": {"size": 11, **({"color": ink} if ink else {})},
            "hovertext": [_whose(probe_map, probe, row) for row in rows],
            "hoverinfo": "text",
        }
        parts.append((MAP, points))
    return [*parts, (GUESSES, {**guesses, **silent}), (ANSWERS, {**mark, **silent})]


def _draw_answers(fig: Figure, probes: Sequence[Probe], sentence: int) -> None:
    """Draw the probability of the hidden word and NSP of each pair by step."""
    steps = [probe.step for probe in probes]
    lines: list[tuple[str, list[float | None], str]] = [
        ("hidden word", [p.sentences[sentence].probability for p in probes], "solid")
    ]
    pairs = [i for i, shown in enumerate(probes[-1].sentences) if shown.is_next is not None]
    for number, index in enumerate(pairs, start=1):
        is_next = [p.sentences[index].is_next for p in probes]  # None without a head for it
        lines.append((f"B follows A, pair {number}", is_next, "dash" if number == 1 else "dot"))
    for place, (name, values, dash) in enumerate(lines):
        fig.add(
            "scatter",
            *ANSWERS,
            x=steps,
            y=[None if value is None else float(f"{value:.4g}") for value in values],
            mode="lines+markers" if len(steps) < 3 else "lines",
            name=name,
            legend="legend2",
            line={"color": theme.CATEGORICAL[(0, 2, 5)[place % 3]], "width": 2, "dash": dash},
            hovertemplate=f"step %{{x:,}}: %{{y:.1%}}<extra>{name}</extra>",
        )


def _rows_by_kind(probe_map: ProbeMap) -> dict[str, list[int]]:
    """Return the rows of each kind of words that occurs, in the order of KINDS, unknown last."""
    kinds = probe_map.kinds
    rows = {code: [row for row, kind in enumerate(kinds) if kind == code] for code in (*KINDS, "")}
    return {code: of_kind for code, of_kind in rows.items() if of_kind}


def _whose(probe_map: ProbeMap, probe: Probe, row: int) -> str:
    text = probe.sentences[probe_map.sentences[row]].text
    whole = text.text_a + (f" {text.text_b}" if text.text_b else "")
    return f"<b>{theme.escape(probe_map.tokens[row])}</b><br>{theme.escape(shorten(whole, 80))}"


def _round(values: Any) -> list[float]:
    return [float(f"{value:.4g}") for value in np.asarray(values, dtype=float).tolist()]


def _lay_out(fig: Figure, probes: Sequence[Probe], probe_map: ProbeMap, sentence: int) -> None:
    """Give the replay its axes, the same at every moment, and its legends."""
    theme.plot_layout(fig, "", "", "", HEIGHT)
    fig.update_annotations(font_size=13, yshift=5)
    tokens: Properties = {
        "showgrid": False,
        "tickfont": {"size": 11},
        "type": "category",
        "dtick": 1,
    }
    fig.update_xaxes(*ATTENTION, tickangle=-60, **tokens)
    fig.update_yaxes(*ATTENTION, autorange="reversed", **tokens)
    # The same at every moment, so that only the points move.
    low, high = probe_map.coordinates.min((0, 1)), probe_map.coordinates.max((0, 1))
    room = 0.08 * np.maximum(high - low, 1e-6)
    box: Properties = {"showline": True, "mirror": True, "linecolor": theme.GRID, "showgrid": False}
    for axis, update in enumerate((fig.update_xaxes, fig.update_yaxes)):
        span = [float(low[axis] - room[axis]), float(high[axis] + room[axis])]
        update(*MAP, range=span, showticklabels=False, **box)
    sure = max(max(p.sentences[sentence].top_probabilities) for p in probes)
    fig.update_xaxes(*GUESSES, range=[0, 1.5 * sure], visible=False)
    fig.update_yaxes(*GUESSES, autorange="reversed", visible=False)
    fig.update_xaxes(*ANSWERS, title_text="step")
    fig.update_yaxes(*ANSWERS, range=[-0.02, 1.02], tickformat=".0%")
    names = {"orientation": "h", "font": {"size": 11}, "x": 1, "xanchor": "right"}
    fig.update_layout(
        # Below the other one, which has three rows in a narrow window.
        legend={**names, "y": -0.2, "yanchor": "top"},
        legend2={**names, "y": -0.1, "yanchor": "top"},
        margin={"t": 128, "b": 8},
        bargap=0.25,
        uirevision="replay",
    )


def _add_controls(fig: Figure, names: Sequence[str], moment: int) -> None:
    """Add the slider over the moments and the buttons that play and stop."""
    # Plotly does not animate a heat map: each moment is redrawn.
    jump = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate"}
    pace = {"frame": {"duration": STEP_MS, "redraw": True}, "transition": {"duration": 0}}
    steps = [
        {"label": name, "value": str(i), "method": "animate", "args": [[name], jump]}
        for i, name in enumerate(names)
    ]
    above = {"y": 1, "yanchor": "bottom"}
    fig.update_layout(
        sliders=[player.slider(steps, active=moment, prefix="Step ", **above, pad={"b": 34})],
        updatemenus=[player.buttons(names, {**pace, "mode": "immediate"}, **above, pad={"b": 82})],
    )
