"""Sentences as strips of boxes: how much each token surprises, and what masking does to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from bertcore.analysis.words.masking_demo import Corruption
from bertcore.analysis.words.surprise import Surprise

from ..plots import theme, token_flow
from ..plots.formats import percent

CERTAIN_BITS = 12
"""Bits at the end of the surprise scale: one in 4,096."""
ACTION_COLOURS = {"mask": theme.SEGMENT_A, "random": theme.SEGMENT_B, "kept": "#00805C"}
ACTION_NAMES = {
    "random": "became a random piece (10%)",
    "kept": "kept, but still to be predicted (10%)",
}


def replaced_strip(tokens: Sequence[str], probabilities: NDArray[np.float32]) -> go.Figure:
    """Draw the sentence as boxes coloured by the probability that a token was replaced, [T]."""
    shown = [percent(float(p)) for p in probabilities]
    boxes = token_flow.place(tokens, shown)
    fig = go.Figure(
        go.Bar(
            base=[box.left for box in boxes],
            x=[box.width for box in boxes],
            y=[box.line for box in boxes],
            orientation="h",
            text=[token_flow.two_lines(t, p) for t, p in zip(tokens, shown, strict=True)],
            textposition="inside",
            insidetextanchor="middle",
            constraintext="none",
            textangle=0,
            insidetextfont={
                "size": 13,
                "color": ["#FFFFFF" if p < 0.5 else "#10131C" for p in probabilities],
            },
            marker={
                "color": probabilities,
                "colorscale": theme.SEQUENTIAL,
                "cmin": 0,
                "cmax": 1,
                "line_width": 0,
                "cornerradius": 5,
                "colorbar": {
                    "title": {"text": "probability of being replaced"},
                    "orientation": "h",
                    "thickness": 10,
                    "len": 0.4,
                    "x": 0.98,
                    "xanchor": "right",
                    "y": 1,
                    "yanchor": "bottom",
                    "tickformat": ".0%",
                },
            },
            customdata=[theme.escape(token) for token in tokens],
            hovertemplate="<b>%{customdata}</b>: replaced with %{marker.color:.1%}<extra></extra>",
            showlegend=False,
        )
    )
    return token_flow.draw(fig, boxes, legend_height=60)


def surprise_strip(found: Surprise) -> go.Figure:
    """Draw the sentence as boxes coloured by surprise; below each, what BERT had expected."""
    expected = ["✓" if b == t else b for t, b in zip(found.tokens, found.best_words, strict=True)]
    boxes = token_flow.place(found.tokens, expected)
    hover = [
        f"<b>{theme.escape(token)}</b>: {bits:.1f} bits ({percent(2.0 ** -float(bits))})<br>"
        f"BERT's guess: {theme.escape(best)} ({percent(float(p))})"
        for token, bits, best, p in zip(
            found.tokens, found.bits, found.best_words, found.best_probabilities, strict=True
        )
    ]
    capped = np.minimum(found.bits, CERTAIN_BITS)
    fig = go.Figure(
        go.Bar(
            base=[box.left for box in boxes],
            x=[box.width for box in boxes],
            y=[box.line for box in boxes],
            orientation="h",
            text=[token_flow.two_lines(t, e) for t, e in zip(found.tokens, expected, strict=True)],
            textposition="inside",
            insidetextanchor="middle",
            constraintext="none",
            textangle=0,
            # Cividis is dark below its middle and light above.
            insidetextfont={
                "size": 13,
                "color": ["#FFFFFF" if b < CERTAIN_BITS / 2 else "#10131C" for b in found.bits],
            },
            marker={
                "color": capped,
                "colorscale": theme.SEQUENTIAL,
                "cmin": 0,
                "cmax": CERTAIN_BITS,
                "line_width": 0,
                "cornerradius": 5,
                "colorbar": {
                    "title": {"text": "surprise, bits"},
                    "orientation": "h",
                    "thickness": 10,
                    "len": 0.4,
                    "x": 0.98,
                    "xanchor": "right",
                    "y": 1,
                    "yanchor": "bottom",
                    "tickvals": [0, 4, 8, CERTAIN_BITS],
                    "ticktext": ["0", "4", "8", f"{CERTAIN_BITS}+"],
                },
            },
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
        )
    )
    return token_flow.draw(fig, boxes, legend_height=52)


def masking_strip(drawn: Corruption, mask: str = "[MASK]") -> go.Figure:
    """Draw what the model gets in pretraining; the colour says what became of a chosen token."""
    below = [
        "" if action is None else "kept" if action == "kept" else f"was {token}"
        for token, action in zip(drawn.tokens, drawn.actions, strict=True)
    ]
    boxes = token_flow.place(drawn.shown, below)
    names = ACTION_NAMES | {"mask": f"became {theme.escape(mask)} (80%)"}
    fig = go.Figure()
    for kind in ("mask", "random", "kept", None):
        members = [i for i, action in enumerate(drawn.actions) if action == kind]
        # A kind that was not drawn keeps its place in the legend.
        nothing: list[float | None] = [None]
        fig.add_trace(
            go.Bar(
                base=[boxes[i].left for i in members] or nothing,
                x=[boxes[i].width for i in members] or nothing,
                y=[boxes[i].line for i in members] or nothing,
                orientation="h",
                name="not chosen" if kind is None else names[kind],
                text=[token_flow.two_lines(drawn.shown[i], below[i]) for i in members],
                textposition="none" if kind is None else "inside",
                insidetextanchor="middle",
                constraintext="none",
                textangle=0,
                insidetextfont={"size": 13, "color": "#FFFFFF"},
                marker={
                    "color": "rgba(127, 134, 152, 0.16)" if kind is None else ACTION_COLOURS[kind],
                    "line_width": 0,
                    "cornerradius": 5,
                },
                customdata=[_what_happened(drawn, i) for i in members],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    others = [i for i, action in enumerate(drawn.actions) if action is None]
    # Text on the pale boxes takes the page's colour, which bars cannot.
    fig.add_trace(
        go.Scatter(
            x=[boxes[i].left + boxes[i].width / 2 for i in others],
            y=[boxes[i].line for i in others],
            mode="text",
            text=[token_flow.two_lines(drawn.shown[i]) for i in others],
            textfont_size=13,
            hoverinfo="skip",
            showlegend=False,
        )
    )
    token_flow.draw(fig, boxes, legend_height=34)
    fig.update_layout(legend={"itemclick": False, "itemdoubleclick": False})
    return fig


def _what_happened(drawn: Corruption, index: int) -> str:
    token, shown = theme.escape(drawn.tokens[index]), theme.escape(drawn.shown[index])
    return {
        None: f"{token}: not chosen, no loss",
        "mask": f"{token} is hidden behind {shown}; BERT has to predict {token}",
        "random": f"{token} was replaced by {shown}; BERT has to predict {token}",
        "kept": f"{token} stays, and BERT has to predict {token}",
    }[drawn.actions[index]]


def surprise_table(found: Surprise) -> pd.DataFrame:
    """Return a row for each token."""
    return pd.DataFrame(
        {
            "position": found.positions,
            "token": found.tokens,
            "bits": found.bits,
            "best_guess": found.best_words,
            "p_best_guess": found.best_probabilities,
        }
    )


def masking_table(drawn: Corruption) -> pd.DataFrame:
    """Return a row for each token."""
    return pd.DataFrame({"token": drawn.tokens, "shown": drawn.shown, "action": drawn.actions})
