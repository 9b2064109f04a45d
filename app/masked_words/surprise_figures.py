"""The sentence as boxes coloured by surprise."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bertcore.analysis.words.surprise import Surprise

from ..plots import theme, token_flow
from ..plots.figure import Figure, bar
from ..plots.formats import percent

CERTAIN_BITS = 12
"""Bits at the end of the surprise scale: one in 4,096."""


def surprise_strip(surprise: Surprise) -> Figure:
    """Draw the sentence as boxes coloured by surprise; below each, BERT's guess."""
    expected = [
        "✓" if b == t else b for t, b in zip(surprise.tokens, surprise.best_words, strict=True)
    ]
    boxes = token_flow.place(surprise.tokens, expected)
    hover = [
        f"<b>{theme.escape(token)}</b>: {bits:.1f} bits ({percent(2.0 ** -float(bits))})<br>"
        f"BERT's guess: {theme.escape(best)} ({percent(float(p))})"
        for token, bits, best, p in zip(
            surprise.tokens,
            surprise.bits,
            surprise.best_words,
            surprise.best_probabilities,
            strict=True,
        )
    ]
    capped = np.minimum(surprise.bits, CERTAIN_BITS)
    fig = Figure(
        bar(
            base=[box.left for box in boxes],
            x=[box.width for box in boxes],
            y=[box.line for box in boxes],
            orientation="h",
            text=[
                token_flow.two_lines(t, e) for t, e in zip(surprise.tokens, expected, strict=True)
            ],
            textposition="inside",
            insidetextanchor="middle",
            constraintext="none",
            textangle=0,
            insidetextfont={
                "size": 13,
                "color": theme.inks(capped, theme.SEQUENTIAL, 0, CERTAIN_BITS).tolist(),
            },
            marker={
                "color": capped,
                "colorscale": theme.SEQUENTIAL,
                "cmin": 0,
                "cmax": CERTAIN_BITS,
                "line_width": 0,
                "cornerradius": 5,
                "colorbar": theme.bar_above(
                    "surprise, bits",
                    tickvals=[0, 4, 8, CERTAIN_BITS],
                    ticktext=["0", "4", "8", f"{CERTAIN_BITS}+"],
                ),
            },
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
        )
    )
    return token_flow.draw(fig, boxes, legend_height=52)


def surprise_table(surprise: Surprise) -> pd.DataFrame:
    """Return a row for each token."""
    return pd.DataFrame(
        {
            "position": surprise.positions,
            "token": surprise.tokens,
            "bits": surprise.bits,
            "best_guess": surprise.best_words,
            "p_best_guess": surprise.best_probabilities,
        }
    )
