"""A head of two dimensions: choose a query, so that it copies one value or averages two."""

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
import torch
from numpy.typing import NDArray

from bertcore.network.attention import attention_explicit

from ..plots import Figure, subplots, theme
from ..shell import Field, Picture, frame

ANGLE = Field("toy_angle", 30)
LENGTH = Field("toy_length", 2.0)
MOST_LENGTH = 20.0
TOKENS = ("A", "B", "C", "D")
KEY_ANGLES = (0, 60, 150, 250)
"""In degrees; all keys are 1 long."""
VALUES = (10.0, 20.0, 40.0, 80.0)
_SHOWN_AT = 1.3 / MOST_LENGTH
"""What a query's length is drawn with, so that the longest is in sight."""
COPIES, HALF = 0.95, 0.45
"""Weight from which one value is copied, and two are averaged."""


class ToyHead(NamedTuple):
    """What a query gets: softmax(q K^T / sqrt(2)) V."""

    query: NDArray[np.float64]
    """[2]"""
    keys: NDArray[np.float64]
    """[4, 2]"""
    weights: NDArray[np.float64]
    """[4]"""
    output: float


def attend(angle: float, length: float) -> ToyHead:
    """Return what a query of this direction, in degrees, and length gets."""
    turns = torch.deg2rad(torch.tensor([angle, *KEY_ANGLES], dtype=torch.float64))
    around = torch.stack([turns.cos(), turns.sin()], dim=1)  # [5, 2]
    query, keys = length * around[:1], around[1:]
    values = torch.tensor(VALUES, dtype=torch.float64)[:, None]
    output, weights = attention_explicit(query, keys, values, None)
    return ToyHead(query[0].numpy(), keys.numpy(), weights[0].numpy(), float(output))


def toy_figure(head: ToyHead) -> Figure:
    """Draw keys and query as lines from the middle, and the weights as bars."""
    fig = subplots(1, 2, subplot_titles=("Keys and query", "Weights"), column_widths=[0.45, 0.55])
    for index, (token, key) in enumerate(zip(TOKENS, head.keys, strict=True)):
        colour = theme.CATEGORICAL[index]
        end = {"x": [0, float(key[0])], "y": [0, float(key[1])]}
        fig.add(
            "scatter",
            **end,
            mode="lines+markers+text",
            text=["", f"<b>{token}</b>"],
            textposition="top center",
            line={"color": colour, "width": 2},
            marker={"size": [0, 9], "color": colour},
            hovertemplate=f"key of {token}: %{{x:.2f}}, %{{y:.2f}}<extra></extra>",
            showlegend=False,
            row=1,
            col=1,
        )
    query = head.query * _SHOWN_AT
    fig.add(
        "scatter",
        x=[0, float(query[0])],
        y=[0, float(query[1])],
        mode="lines+markers",
        line={"color": theme.ACCENT, "width": 5},
        marker={"size": [0, 12], "color": theme.ACCENT},
        hovertemplate=f"query: {head.query[0]:.2f}, {head.query[1]:.2f}<extra></extra>",
        showlegend=False,
        row=1,
        col=1,
    )
    fig.add(
        "bar",
        x=head.weights,
        y=list(TOKENS),
        orientation="h",
        marker={"color": list(theme.CATEGORICAL[: len(TOKENS)]), "line_width": 0},
        text=[
            f"{weight:.1%} of {value:g}" for weight, value in zip(head.weights, VALUES, strict=True)
        ],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="weight of %{y}: %{x:.3%}<extra></extra>",
        showlegend=False,
        row=1,
        col=2,
    )
    theme.plot_layout(fig, "", "", "", 330)
    fig.update_layout(margin={"t": 42})
    square = {"range": [-1.45, 1.45], "visible": False}
    fig.settings["xaxis"].update(square)
    fig.settings["yaxis"].update(square, scaleanchor="x")
    fig.settings["xaxis2"].update(range=[0, 1.5], visible=False)
    fig.settings["yaxis2"].update(autorange="reversed", showgrid=False)
    return fig


def toy_table(head: ToyHead) -> pd.DataFrame:
    """Return a row for each token."""
    scores = head.keys @ head.query / math.sqrt(2)
    columns = {"key_x": head.keys[:, 0], "key_y": head.keys[:, 1], "score": scores}
    table = pd.DataFrame({"token": TOKENS, **columns, "weight": head.weights, "value": VALUES})
    return table.assign(output=head.output)


def what_it_does(head: ToyHead) -> str:
    """Return what the head does with its values, as a sentence in Markdown."""
    first, second = np.argsort(-head.weights)[:2]
    if head.weights[first] >= COPIES:
        does = f"It **copies {TOKENS[first]}**"
    elif head.weights[second] >= HALF:
        both = sorted((TOKENS[first], TOKENS[second]))
        does = f"It **averages {both[0]} and {both[1]}**"
    elif np.ptp(head.weights) < 1e-9:
        does = "It **averages all four**"
    else:
        does = "It mixes the values"
    return f"{does}: the output is {head.output:.1f}."


SANDBOX = Picture(
    name="toy-head",
    figure=toy_figure,
    table=toy_table,
    how=(
        "A made-up head of two dimensions, whatever the text. Four tokens have keys 1 long and the "
        "values 10, 20, 40 and 80; the query (pink, drawn shorter) is yours. The weights are "
        "softmax(q·k / √2), the output is the sum of weight times value. Try to copy C, to "
        "average A and B, and to average all four."
    ),
    code="""
import math, torch

turns = torch.deg2rad(torch.tensor([{angle}.0, 0.0, 60.0, 150.0, 250.0]))
around = torch.stack([turns.cos(), turns.sin()], dim=1)
query, keys = {length} * around[0], around[1:]
weights = torch.softmax(keys @ query / math.sqrt(2), dim=-1)
weights @ torch.tensor([10.0, 20.0, 40.0, 80.0])
""",
)


def show_sandbox(page: frame.Page) -> None:
    """Draw the toy head and its two sliders."""
    st.header("Sandbox: choose a query", anchor=False)
    picture = st.container()
    row = st.container(horizontal=True, key="toy_head")
    row.slider("Direction of the query, in degrees", 0, 359, key=ANGLE.key(low=0, high=359))
    row.slider(
        "Length of the query", 0.0, MOST_LENGTH, step=0.5, key=LENGTH.key(low=0, high=MOST_LENGTH)
    )
    head = attend(ANGLE.value, LENGTH.value)
    with picture:
        st.markdown(what_it_does(head))
        values: dict[str, Any] = {"angle": ANGLE.value, "length": LENGTH.value}
        SANDBOX.show(page, head, with_caption=False, **values)
    SANDBOX.caption()
