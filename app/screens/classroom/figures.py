"""The picture of a step: a bar an answer, right and wrong ones beside each other."""

import textwrap
from collections.abc import Sequence

from ...plots import Figure, theme
from .tally import Bar

_LINE, _LINES = 30, 3  # letters of a line of an answer's name, and lines


def answers_figure(bars: Sequence[Bar]) -> Figure:
    """Draw how many gave each answer."""
    names = [
        "<br>".join(
            map(theme.escape, textwrap.wrap(bar.text, _LINE, max_lines=_LINES, placeholder=" …"))
        )
        or " "
        for bar in bars
    ]
    fig = Figure()
    for label, colour, ink, counts in (
        ("right", theme.SEGMENT_A, theme.WHITE, [bar.num_right for bar in bars]),
        ("wrong", theme.SEGMENT_B, theme.BLACK, [bar.num_wrong for bar in bars]),
    ):
        fig.add(
            "bar",
            name=label,
            x=counts,
            y=list(range(len(bars))),
            orientation="h",
            text=[str(count) if count else "" for count in counts],
            textposition="inside",
            insidetextanchor="middle",
            insidetextfont={"color": ink},
            marker={"color": colour, "line_width": 0},
            customdata=names,
            hovertemplate=f"%{{customdata}}: %{{x}} {label}<extra></extra>",
        )
    height = sum(16 * max(2, name.count("<br>") + 1) + 12 for name in names) + 90
    theme.plot_layout(fig, "", "learners", "", height)
    fig.update_layout(barmode="stack", bargap=0.3)
    most = max((bar.num_right + bar.num_wrong for bar in bars), default=1)
    tick = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500) if most <= 8 * step)
    fig.update_xaxes(rangemode="tozero", tickformat="d", dtick=tick)
    fig.update_yaxes(
        autorange="reversed", tickvals=list(range(len(bars))), ticktext=names, automargin=True
    )
    return fig
