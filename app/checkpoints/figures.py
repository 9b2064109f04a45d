"""Figure of a checkpoint: where its parameters are."""

from __future__ import annotations

from collections.abc import Mapping

from ..plots import theme
from ..plots.figure import Figure, bar


def parameter_bars(counts: Mapping[str, int]) -> Figure:
    """Draw the number of parameters of each part, in their order.

    Args:
        counts: Part -> number of parameters.
    """
    total = sum(counts.values())
    fig = Figure(
        bar(
            x=list(counts.values()),
            y=list(counts),
            orientation="h",
            marker={"color": theme.SEGMENT_A},
            text=[f"{theme.count(n)} ({n / total:.0%})" for n in counts.values()],
            textposition="auto",
            hovertemplate="%{y}: %{x:,} parameters<extra></extra>",
        )
    )
    theme.plot_layout(fig, "", "parameters", "", 70 + 30 * len(counts))
    fig.update_yaxes(autorange="reversed", showgrid=False)
    return fig
