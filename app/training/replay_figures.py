"""Replay of a run: attention, the hidden word, next sentence and the map, with one slider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bertcore.analysis.space.probe_map import ProbeMap
from bertcore.training.probes import KINDS, Probe

from ..plots import theme
from ..plots.figure import Figure, bar, heatmap, scatter, subplots
from ..plots.formats import percent, shorten
from .replay_layout import lay_out

MAX_MOMENTS = 60
"""Most moments under the slider; of longer runs they are spread evenly over the probes."""
TRAIL = 6
"""Length of a point's trail, in moments."""


def spread_moments(count: int) -> list[int]:
    """Return which of `count` moments are drawn: all, or MAX_MOMENTS with the first and last.

    >>> spread_moments(3), len(spread_moments(500)), spread_moments(500)[-1]
    ([0, 1, 2], 60, 499)
    """
    picked = np.linspace(0, count - 1, min(count, MAX_MOMENTS)).round().astype(int)
    return [int(index) for index in np.unique(picked)]


def replay(
    probes: Sequence[Probe],
    probe_map: ProbeMap,
    *,
    sentence: int,
    layer: int,
    head: int | None,
    moment: int,
    ink: str = "",
) -> Figure:
    """Draw four pictures that a slider and a play button take through training.

    Args:
        probes: The moments under the slider.
        probe_map: The map of the same moments.
        sentence: Which of the probes' sentences the attention and the words are of.
        layer, head: The head whose attention is drawn; None for the mean of the layer's heads.
        moment: The moment shown first.
        ink: Colour of names; empty for the theme's.
    """
    fig = subplots(
        2,
        2,
        subplot_titles=_titles(probes, sentence, layer, head),
        horizontal_spacing=0.12,
        vertical_spacing=0.16,
        row_heights=[0.58, 0.42],
    )
    moments = [
        _moving_parts(probes, probe_map, index, sentence, layer, head)
        for index in range(len(probes))
    ]
    first = moments[moment]
    _draw_attention(fig, first.attention, probes[-1].sentences[sentence].tokens)
    _draw_map(fig, first, probe_map, probes[-1], sentence, ink)
    _draw_guesses(fig, first.guesses)
    moving = list(range(len(fig.traces)))
    _draw_answers(fig, probes, sentence)
    moving.append(len(fig.traces))
    _draw_time_mark(fig, first.time_mark)
    fig.stages = [
        {
            "name": str(probe.step),
            "data": [
                {"type": fig.traces[place]["type"], **part}
                for place, part in zip(moving, parts.in_order(), strict=True)
            ],
            "traces": moving,
        }
        for probe, parts in zip(probes, moments, strict=True)
    ]
    lay_out(fig, probes, probe_map, sentence=sentence, moment=moment)
    return fig


def _titles(probes: Sequence[Probe], sentence: int, layer: int, head: int | None) -> list[str]:
    shown = probes[-1].sentences[sentence]
    whose = "mean of the heads" if head is None else f"head {head}"
    return [
        f"Attention: layer {layer}, {whose}",
        "The words on one map",
        f"Guesses for the hidden “{theme.escape(shorten(shown.word))}”",
        "Answers over time",
    ]


class _MovingParts(NamedTuple):
    """The parts that change from moment to moment, each as settings of its Plotly trace."""

    attention: dict[str, Any]
    trails: dict[str, Any]
    points: list[dict[str, Any]]
    """Points of each kind of words."""
    guesses: dict[str, Any]
    time_mark: dict[str, Any]

    def in_order(self) -> list[dict[str, Any]]:
        """Return the parts in the order in which `replay` draws them."""
        return [self.attention, self.trails, *self.points, self.guesses, self.time_mark]


def _moving_parts(
    probes: Sequence[Probe],
    probe_map: ProbeMap,
    moment: int,
    sentence: int,
    layer: int,
    head: int | None,
) -> _MovingParts:
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
    points = [
        {
            "x": _round(probe_map.coordinates[moment, rows, 0]),
            "y": _round(probe_map.coordinates[moment, rows, 1]),
        }
        for rows in (_rows(probe_map, code) for code in _kinds(probe_map))
    ]
    words = zip(probe.top_words, probe.top_probabilities, strict=True)
    guesses = {
        "x": _round(np.array(probe.top_probabilities)),
        "y": list(range(len(probe.top_words))),
        "text": [f"<b>{theme.escape(shorten(word, 14))}</b>  {percent(p)}" for word, p in words],
        "marker": {
            "color": [
                theme.ACCENT if word == probe.word else theme.SEGMENT_A for word in probe.top_words
            ]
        },
    }
    at = probes[moment].step
    return _MovingParts(
        attention={
            "z": np.sqrt(weights).round(3).tolist(),
            "customdata": weights.round(4).tolist(),
        },
        trails={"x": trails_x, "y": trails_y},
        points=points,
        guesses=guesses,
        time_mark={"x": [at, at], "y": [0, 1]},
    )


def _draw_attention(fig: Figure, part: dict[str, Any], tokens: Sequence[str]) -> None:
    """Draw the attention of each token as a row."""
    names = [f"{theme.escape(shorten(token, 12))} {i}" for i, token in enumerate(tokens)]
    fig.add_trace(
        heatmap(
            **part,
            x=names,
            y=names,
            zmin=0,
            zmax=1,
            colorscale=theme.SEQUENTIAL,
            showscale=False,
            hovertemplate="<b>%{y}</b> attends to <b>%{x}</b>: %{customdata:.3f}<extra></extra>",
        ),
        row=1,
        col=1,
    )


def _draw_map(
    fig: Figure, parts: _MovingParts, probe_map: ProbeMap, probe: Probe, sentence: int, ink: str
) -> None:
    """Draw the trails and the points of each kind; words of the chosen sentence stand out."""
    fig.add_trace(
        scatter(
            **parts.trails,
            mode="lines",
            line={"color": theme.SPECIAL, "width": 1},
            opacity=0.35,
            hoverinfo="skip",
            showlegend=False,
        ),
        row=1,
        col=2,
    )
    for place, (code, points) in enumerate(zip(_kinds(probe_map), parts.points, strict=True)):
        rows = _rows(probe_map, code)
        is_chosen = [probe_map.sentences[row] == sentence for row in rows]
        fig.add_trace(
            scatter(
                **points,
                mode="markers+text",
                name=KINDS.get(code, "words"),
                marker={
                    "color": theme.CATEGORICAL[place],
                    "size": [10 if chosen else 6 for chosen in is_chosen],
                    "opacity": [0.95 if chosen else 0.45 for chosen in is_chosen],
                },
                text=[
                    theme.escape(shorten(probe_map.tokens[row], 12)) if chosen else ""
                    for row, chosen in zip(rows, is_chosen, strict=True)
                ],
                textposition="top center",
                textfont={"size": 11, **({"color": ink} if ink else {})},
                hovertext=[_whose(probe_map, probe, row) for row in rows],
                hoverinfo="text",
            ),
            row=1,
            col=2,
        )


def _draw_guesses(fig: Figure, part: dict[str, Any]) -> None:
    """Draw the best words for the hidden one as bars."""
    fig.add_trace(
        bar(
            **part,
            orientation="h",
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
            showlegend=False,
        ),
        row=2,
        col=1,
    )


def _draw_time_mark(fig: Figure, part: dict[str, Any]) -> None:
    """Mark the moment in the picture of the answers over time."""
    fig.add_trace(
        scatter(
            **part,
            mode="lines",
            line={"color": theme.ACCENT, "width": 2},
            hoverinfo="skip",
            showlegend=False,
        ),
        row=2,
        col=2,
    )


def _draw_answers(fig: Figure, probes: Sequence[Probe], sentence: int) -> None:
    """Draw the probability of the hidden word and NSP of each pair by step."""
    steps = [probe.step for probe in probes]
    lines = [("hidden word", [p.sentences[sentence].probability for p in probes], "solid")]
    number = 0
    for index, shown in enumerate(probes[-1].sentences):
        if shown.is_next is not None:
            number += 1
            values = [p.sentences[index].is_next or 0.0 for p in probes]
            lines.append((f"B follows A, pair {number}", values, "dash" if number == 1 else "dot"))
    for place, (name, values, dash) in enumerate(lines):
        fig.add_trace(
            scatter(
                x=steps,
                y=_round(np.array(values)),
                mode="lines+markers" if len(steps) < 3 else "lines",
                name=name,
                legend="legend2",
                line={"color": theme.CATEGORICAL[(0, 2, 5)[place % 3]], "width": 2, "dash": dash},
                hovertemplate=f"step %{{x:,}}: %{{y:.1%}}<extra>{name}</extra>",
            ),
            row=2,
            col=2,
        )


def _kinds(probe_map: ProbeMap) -> list[str]:
    """Return the kinds of words that occur, in the order of KINDS, unknown last."""
    there = set(probe_map.kinds)
    return [code for code in (*KINDS, "") if code in there]


def _rows(probe_map: ProbeMap, code: str) -> list[int]:
    return [row for row, kind in enumerate(probe_map.kinds) if kind == code]


def _whose(probe_map: ProbeMap, probe: Probe, row: int) -> str:
    text = probe.sentences[probe_map.sentences[row]].text
    whole = text.text_a + (f" {text.text_b}" if text.text_b else "")
    return f"<b>{theme.escape(probe_map.tokens[row])}</b><br>{theme.escape(shorten(whole, 80))}"


def _round(values: Any) -> list[float]:
    return [float(f"{value:.4g}") for value in np.asarray(values, dtype=float).tolist()]


def probe_answers(probes: Sequence[Probe]) -> pd.DataFrame:
    """Return a row for each step and sentence: the hidden word's rank, the best guess, the pair."""
    return pd.DataFrame(
        [
            {
                "step": probe.step,
                "text_a": sentence.text.text_a,
                "text_b": sentence.text.text_b,
                "hidden": sentence.word,
                "p_hidden": sentence.probability,
                "rank_hidden": sentence.rank,
                "best_guess": sentence.top_words[0],
                "p_best_guess": sentence.top_probabilities[0],
                "p_is_next": sentence.is_next,
            }
            for probe in probes
            for sentence in probe.sentences
        ]
    )
