"""Replay of a run: attention, guesses of the hidden word, answers over time; one slider."""

from collections.abc import Sequence

import numpy as np

from bertcore.training.engine.probes import Probe

from ...plots import (
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
STEP_MS = 350
HEIGHT = 760
ATTENTION, GUESSES, ANSWERS = (1, 1), (1, 2), (2, 1)  # row and column of each picture


def spread_moments(count: int) -> list[int]:
    """Return which of `count` moments are drawn: all, or MAX_MOMENTS with the first and last.

    >>> spread_moments(3), len(spread_moments(500)), spread_moments(500)[-1]
    ([0, 1, 2], 60, 499)
    """
    picked = np.linspace(0, count - 1, min(count, MAX_MOMENTS)).round().astype(int)
    return [int(index) for index in np.unique(picked)]


def replay_figure(
    recorded: Sequence[Probe],
    *,
    sentence: int = 0,
    layer: int = -1,
    head: int | None = None,
    moment: int = -1,
) -> Figure:
    """Draw three pictures that a slider and a play button take through training.

    Args:
        recorded: The probes, of which `spread_moments` are drawn.
        sentence: Which of the probes' sentences the attention and the words are of.
        layer, head: The head whose attention is drawn; None for the mean of the layer's heads.
        moment: Which of the drawn moments is shown first.
    """
    probes = [recorded[index] for index in spread_moments(len(recorded))]
    shown = probes[-1].sentences[sentence]
    layer, moment = layer % len(shown.codes), moment % len(probes)
    fig = subplots(
        2,
        2,
        specs=[[{}, {}], [{"colspan": 2}, None]],
        subplot_titles=[
            f"Layer {layer}, {'all heads' if head is None else f'head {head}'}",
            f"“{theme.escape(shorten(shown.word))}” hidden",
            "Answers over time",
        ],
        horizontal_spacing=0.12,
        vertical_spacing=0.16,
        row_heights=[0.62, 0.38],
    )
    names = [f"{theme.escape(shorten(token, 12))} {i}" for i, token in enumerate(shown.tokens)]
    moments = [_moving_parts(probe, sentence, layer, head) for probe in probes]
    heat, bars, mark = moments[moment]
    still: Properties = {
        "x": names,
        "y": names,
        "zmin": 0,
        "zmax": 1,
        "colorscale": theme.SEQUENTIAL,
        "showscale": False,
        "hovertemplate": "<b>%{y}</b> attends to <b>%{x}</b>: %{customdata:.3f}<extra></extra>",
    }
    silent = {"hoverinfo": "skip", "showlegend": False}
    outside = {"orientation": "h", "textposition": "outside", "cliponaxis": False}
    fig.add_trace({**still, **heat}, *ATTENTION)
    fig.add_trace({**outside, **silent, **bars}, *GUESSES)
    fig.add_trace({"mode": "lines", "line": {"color": theme.ACCENT}, **silent, **mark}, *ANSWERS)
    _draw_answers(fig, probes, sentence)
    fig.stages = [
        {"name": str(probe.step), "data": parts, "traces": [0, 1, 2]}
        for probe, parts in zip(probes, moments, strict=True)
    ]
    sure = max(max(probe.sentences[sentence].top_probabilities) for probe in probes)
    _lay_out(fig, sure)
    _add_controls(fig, [stage["name"] for stage in fig.stages], moment)
    return fig


def _moving_parts(probe: Probe, sentence: int, layer: int, head: int | None) -> list[Properties]:
    """Return what changes from moment to moment of the map, the guesses and the mark."""
    shown = probe.sentences[sentence]
    weights = shown.attention[layer]
    weights = weights.mean(0) if head is None else weights[head]
    guesses = [*zip(shown.top_words, shown.top_probabilities, strict=True)]
    return [
        heatmap(z=np.sqrt(weights).round(3).tolist(), customdata=weights.round(4).tolist()),
        bar(
            x=[float(f"{p:.4g}") for _, p in guesses],
            y=list(range(len(guesses))),
            text=[f"<b>{theme.escape(shorten(w, 14))}</b>  {percent(p)}" for w, p in guesses],
            marker={
                "color": [theme.ACCENT if w == shown.word else theme.SEGMENT_A for w, _ in guesses]
            },
        ),
        scatter(x=[probe.step] * 2, y=[0, 1]),
    ]


def _draw_answers(fig: Figure, probes: Sequence[Probe], sentence: int) -> None:
    """Draw the probability of the hidden word and NSP of each pair by step."""
    steps = [probe.step for probe in probes]
    lines = {"hidden word": [probe.sentences[sentence].probability for probe in probes]}
    pairs = [i for i, shown in enumerate(probes[-1].sentences) if shown.is_next is not None]
    for number, index in enumerate(pairs, start=1):
        is_next = [probe.sentences[index].is_next for probe in probes]
        lines[f"B follows A, pair {number}"] = [p for p in is_next if p is not None]
    for place, (name, values) in enumerate(lines.items()):
        fig.add(
            "scatter",
            *ANSWERS,
            x=steps,
            y=[float(f"{value:.4g}") for value in values],
            mode="lines+markers" if len(steps) < 3 else "lines",
            name=name,
            line={"color": theme.CATEGORICAL[(0, 2, 5)[place % 3]], "width": 2},
            hovertemplate=f"step %{{x:,}}: %{{y:.1%}}<extra>{name}</extra>",
        )


def _lay_out(fig: Figure, sure: float) -> None:
    """Give the replay its axes, the same at every moment; `sure` is the longest bar's end."""
    theme.plot_layout(fig, "", "", "", HEIGHT)
    fig.update_annotations(font_size=13, yshift=5)
    tokens: Properties = {"showgrid": False, "tickfont": {"size": 11}, "type": "category"}
    fig.update_xaxes(*ATTENTION, tickangle=-60, dtick=1, **tokens)
    fig.update_yaxes(*ATTENTION, autorange="reversed", dtick=1, **tokens)
    fig.update_xaxes(*GUESSES, range=[0, 1.5 * sure], visible=False)
    fig.update_yaxes(*GUESSES, autorange="reversed", visible=False)
    fig.update_xaxes(*ANSWERS, title_text="step")
    fig.update_yaxes(*ANSWERS, range=[-0.02, 1.02], tickformat=".0%")
    fig.update_layout(
        legend={"x": 1, "xanchor": "right", "y": -0.12, "yanchor": "top", "font": {"size": 11}},
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
