"""The sentence as a pretraining example: what masking does to each token."""

from __future__ import annotations

import pandas as pd

from bertcore.analysis.words.masking_demo import Corruption

from ..plots import theme, token_flow
from ..plots.figure import Figure, bar, scatter

ACTION_COLOURS = {"mask": theme.SEGMENT_A, "random": theme.SEGMENT_B, "kept": "#00805C"}
ACTION_NAMES = {
    "random": "became a random piece (10%)",
    "kept": "kept, but still to be predicted (10%)",
}


def masking_strip(drawn: Corruption, mask: str = "[MASK]") -> Figure:
    """Draw what the model sees in pretraining; colours show what became of the chosen tokens."""
    below = [
        "" if action is None else "kept" if action == "kept" else f"was {token}"
        for token, action in zip(drawn.tokens, drawn.actions, strict=True)
    ]
    boxes = token_flow.place(drawn.input_tokens, below)
    names = ACTION_NAMES | {"mask": f"became {theme.escape(mask)} (80%)"}
    fig = Figure()
    for kind in ("mask", "random", "kept", None):
        members = [i for i, action in enumerate(drawn.actions) if action == kind]
        # A kind that was not drawn keeps its place in the legend.
        nothing: list[float | None] = [None]
        fig.add_trace(
            bar(
                base=[boxes[i].left for i in members] or nothing,
                x=[boxes[i].width for i in members] or nothing,
                y=[boxes[i].line for i in members] or nothing,
                orientation="h",
                name="not chosen" if kind is None else names[kind],
                text=[token_flow.two_lines(drawn.input_tokens[i], below[i]) for i in members],
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
        scatter(
            x=[boxes[i].left + boxes[i].width / 2 for i in others],
            y=[boxes[i].line for i in others],
            mode="text",
            text=[token_flow.two_lines(drawn.input_tokens[i]) for i in others],
            textfont_size=13,
            hoverinfo="skip",
            showlegend=False,
        )
    )
    token_flow.draw(fig, boxes, legend_height=34)
    fig.update_layout(legend={"itemclick": False, "itemdoubleclick": False})
    return fig


def _what_happened(drawn: Corruption, index: int) -> str:
    token, replacement = theme.escape(drawn.tokens[index]), theme.escape(drawn.input_tokens[index])
    return {
        None: f"{token}: not chosen, no loss",
        "mask": f"{token} is hidden behind {replacement}; BERT has to predict {token}",
        "random": f"{token} was replaced by {replacement}; BERT has to predict {token}",
        "kept": f"{token} stays, and BERT has to predict {token}",
    }[drawn.actions[index]]


def masking_table(drawn: Corruption) -> pd.DataFrame:
    """Return a row for each token."""
    return pd.DataFrame(
        {"token": drawn.tokens, "shown": drawn.input_tokens, "action": drawn.actions}
    )
