"""The layout of a run's replay: fixed axes, legends, the slider and its buttons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertcore.analysis.space.probe_map import ProbeMap
from bertcore.training.probes import Probe

from ..plots import player, theme
from ..plots.figure import Figure

STEP_MS = 350
HEIGHT = 860


def lay_out(
    fig: Figure, probes: Sequence[Probe], probe_map: ProbeMap, *, sentence: int, moment: int
) -> None:
    """Give the replay its axes, the same at every moment, its legends and its controls."""
    theme.plot_layout(fig, "", "", "", HEIGHT)
    fig.update_annotations(font_size=13, yshift=5)
    label = {"size": 11}
    fig.update_xaxes(showgrid=False, tickangle=-60, tickfont=label, row=1, col=1)
    fig.update_yaxes(showgrid=False, autorange="reversed", tickfont=label, row=1, col=1)
    fig.update_xaxes(type="category", dtick=1, row=1, col=1)
    fig.update_yaxes(type="category", dtick=1, row=1, col=1)
    # The same at every moment, so that only the points move.
    low, high = probe_map.coordinates.min((0, 1)), probe_map.coordinates.max((0, 1))
    room = 0.08 * np.maximum(high - low, 1e-6)
    box = {"showline": True, "mirror": True, "linecolor": theme.GRID, "showgrid": False}
    for axis, update in enumerate((fig.update_xaxes, fig.update_yaxes)):
        span = [float(low[axis] - room[axis]), float(high[axis] + room[axis])]
        update(range=span, showticklabels=False, **box, row=1, col=2)
    sure = max(max(p.sentences[sentence].top_probabilities) for p in probes)
    fig.update_xaxes(range=[0, 1.5 * sure], visible=False, row=2, col=1)
    fig.update_yaxes(autorange="reversed", visible=False, row=2, col=1)
    fig.update_xaxes(title_text="step", row=2, col=2)
    fig.update_yaxes(range=[-0.02, 1.02], tickformat=".0%", row=2, col=2)
    names = {"orientation": "h", "font": {"size": 11}, "x": 1, "xanchor": "right"}
    fig.update_layout(
        # Below the other one, which has three rows in a narrow window.
        legend={**names, "y": -0.2, "yanchor": "top"},
        legend2={**names, "y": -0.1, "yanchor": "top"},
        margin={"t": 128, "b": 8},
        bargap=0.25,
        uirevision="replay",
    )
    _controls(fig, probes, moment)


def _controls(fig: Figure, probes: Sequence[Probe], moment: int) -> None:
    """Add the slider over the moments and the buttons that play and stop."""
    # Plotly does not animate a heat map: each moment is redrawn.
    jump = {"frame": {"duration": 0, "redraw": True}, "mode": "immediate"}
    pace = {"frame": {"duration": STEP_MS, "redraw": True}, "transition": {"duration": 0}}
    names = [str(probe.step) for probe in probes]
    steps = [
        {"label": name, "value": str(i), "method": "animate", "args": [[name], jump]}
        for i, name in enumerate(names)
    ]
    above = {"y": 1, "yanchor": "bottom"}
    fig.update_layout(
        sliders=[player.slider(steps, active=moment, prefix="Step ", **above, pad={"b": 34})],
        updatemenus=[player.buttons(names, {**pace, "mode": "immediate"}, **above, pad={"b": 82})],
    )
