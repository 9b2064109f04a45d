"""The sentence as boxes coloured by the probability that a token was replaced."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..plots import theme, token_flow
from ..plots.figure import Figure, bar
from ..plots.formats import percent


def replaced_strip(tokens: Sequence[str], probabilities: NDArray[np.float32]) -> Figure:
    """Draw the sentence as boxes coloured by the probability that a token was replaced, [T]."""
    percentages = [percent(float(p)) for p in probabilities]
    boxes = token_flow.place(tokens, percentages)
    fig = Figure(
        bar(
            base=[box.left for box in boxes],
            x=[box.width for box in boxes],
            y=[box.line for box in boxes],
            orientation="h",
            text=[token_flow.two_lines(t, p) for t, p in zip(tokens, percentages, strict=True)],
            textposition="inside",
            insidetextanchor="middle",
            constraintext="none",
            textangle=0,
            insidetextfont={
                "size": 13,
                "color": theme.inks(probabilities, theme.SEQUENTIAL, 0, 1).tolist(),
            },
            marker={
                "color": probabilities,
                "colorscale": theme.SEQUENTIAL,
                "cmin": 0,
                "cmax": 1,
                "line_width": 0,
                "cornerradius": 5,
                "colorbar": theme.bar_above(
                    "probability of being replaced",
                    tickformat=".0%",
                ),
            },
            customdata=[theme.escape(token) for token in tokens],
            hovertemplate=(
                "<b>%{customdata}</b><br>probability of being replaced: "
                "%{marker.color:.1%}<extra></extra>"
            ),
            showlegend=False,
        )
    )
    return token_flow.draw(fig, boxes, legend_height=60)
