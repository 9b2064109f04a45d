"""Figures of two checkpoints on one text: answers, decisions by layer, attributions."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.compare.layer_decisions import LayerDecisions

from ..plots import theme
from ..plots.answer_pairs import COLOURS, AnswerRows
from ..plots.figure import Figure, subplots
from ..plots.formats import shorten

MOST_ROWS = 8
"""Most answers that are drawn; the table has all that either finds likely."""
MOST_TOKENS = 36
"""Most tokens along an axis for which every name is written; beyond it every second, third ..."""


def answer_rows(
    sides: tuple[LayerDecisions | None, LayerDecisions | None],
    places: tuple[int, int],
    most: int = MOST_ROWS,
) -> AnswerRows:
    """Return the most probable answers of both, matched by name, the highest bar first.

    Args:
        sides: The answers of both by layer; None if one has none.
        places: The place of each, as in `LayerDecisions.places`.
        most: Rows.
    """
    probabilities: list[dict[str, float]] = []
    for side, place in zip(sides, places, strict=True):
        if side is None:
            probabilities.append({})
            continue
        row = side.probabilities[-1, place]
        # Only the largest: a vocabulary has 30,000.
        best = np.argsort(-row, kind="stable")[: max(most, 20)]
        probabilities.append({side.names[i]: float(row[i]) for i in best})
    highest: dict[str, float] = {}
    for part in probabilities:
        for name, p in part.items():
            highest[name] = max(p, highest.get(name, -math.inf))
    ranked = [sorted(part, key=lambda name: -part[name]) for part in probabilities]
    # Some of each, however unsure one of them is: half of the rows, or all if there are few.
    kept = {name for names in ranked for name in names[: max(1, most // 2)]}
    kept |= set(highest) if len(highest) <= most else set()
    names = tuple(sorted(kept, key=lambda name: -highest[name]))[:most]
    values = []
    for side, place in zip(sides, places, strict=True):
        known = (
            {} if side is None else {name: i for i, name in reversed(list(enumerate(side.names)))}
        )
        row = np.empty(0) if side is None else side.probabilities[-1, place]
        values.append(np.array([row[known[n]] if n in known else math.nan for n in names], float))
    total = max((len(side.names) for side in sides if side is not None), default=0)
    return AnswerRows(names, (values[0], values[1]), max(0, total - len(names)))


def label_rows(
    sides: tuple[LayerDecisions | None, LayerDecisions | None], most: int = MOST_ROWS
) -> AnswerRows:
    """Return the probability of yes of each label of both, the highest bar first.

    Args:
        sides: The answers of both to "labels"; None if one has none.
        most: Rows.
    """
    probabilities = [
        {}
        if side is None
        else dict(zip(side.labels, map(float, side.probabilities[-1, :, 1]), strict=True))
        for side in sides
    ]
    names = list(dict.fromkeys([*probabilities[0], *probabilities[1]]))
    names.sort(key=lambda name: -max(part.get(name, 0.0) for part in probabilities))
    first, second = (
        np.array([part.get(name, math.nan) for name in names[:most]]) for part in probabilities
    )
    return AnswerRows(tuple(names[:most]), (first, second), max(0, len(names) - most))


def layer_lines(
    sides: tuple[LayerDecisions | None, LayerDecisions | None],
    places: tuple[int, int],
    answer: str,
    names: tuple[str, str],
) -> Figure:
    """Draw the probability of an answer at each layer, with a ring where the decision settles.

    Args:
        sides, places: As for `answer_rows`.
        answer: What is followed.
        names: Of the checkpoints; any text.
    """
    fig = Figure()
    depth = 1
    for side, place, name, colour in zip(sides, places, names, COLOURS, strict=True):
        values = answer_curve(side, place, answer)
        if side is None or values is None:
            continue
        depth = max(depth, len(values) - 1)
        answers = [theme.escape(shorten(side.names[i], 26)) for i in side.answers[:, place]]
        is_score = side.kind == "score"
        form = "%{y:.4g}" if is_score else "%{y:.2%}<br>its answer there: <b>%{customdata}</b>"
        fig.add(
            "scatter",
            x=list(range(len(values))),
            y=values,
            mode="lines+markers",
            name=theme.escape(name),
            line={"color": colour, "width": 2.5},
            marker={"size": 7},
            customdata=answers,
            hovertemplate=f"{theme.escape(name)}, layer %{{x}}: {form}<extra></extra>",
        )
        settled = side.settled[place]
        if settled is not None:
            fig.add(
                "scatter",
                x=[settled],
                y=[values[settled]],
                mode="markers",
                marker={
                    "symbol": "circle-open",
                    "size": 17,
                    "color": colour,
                    "line": {"width": 2.5},
                },
                showlegend=False,
                hoverinfo="skip",
            )
    is_score = any(side is not None and side.kind == "score" for side in sides)
    theme.plot_layout(fig, "", "layer (0: embeddings)", "score" if is_score else "probability", 280)
    fig.update_layout(margin={"l": 0, "r": 8, "t": 34, "b": 0}, hovermode="closest")
    fig.update_xaxes(dtick=1 if depth <= 16 else 4, range=[-0.2, depth + 0.2])
    if not is_score:
        tops = [
            float(curve.max())
            for side, place in zip(sides, places, strict=True)
            if (curve := answer_curve(side, place, answer)) is not None
        ]
        # A word of a large vocabulary may never come near 100%.
        top = 1.0 if max(tops, default=1.0) > 0.4 else max(1.1 * max(tops), 1e-6)
        fig.update_yaxes(range=[-0.04 * top, 1.06 * top], tickformat=".0%" if top > 0.05 else ".2%")
    return fig


def answer_curve(
    side: LayerDecisions | None, place: int, answer: str
) -> NDArray[np.float32] | None:
    """Return the probability of an answer at each layer, [L+1]; None if it is not one of them."""
    if side is None or answer not in side.names:
        return None
    curve: NDArray[np.float32] = side.probabilities[:, place, side.names.index(answer)]
    return curve


def layer_table(
    sides: tuple[LayerDecisions | None, LayerDecisions | None], places: tuple[int, int], answer: str
) -> pd.DataFrame:
    """Return a row for each checkpoint and layer."""
    return pd.DataFrame(
        [
            {
                "checkpoint": which,
                "layer": layer,
                "answer": side.names[side.answers[layer, place]],
                "p_answer": float(side.probabilities[layer, place].max()),
                "followed": answer,
                "p_followed": math.nan if curve is None else float(curve[layer]),
                "settled": side.settled[place],
            }
            for which, side, place in zip(("first", "second"), sides, places, strict=True)
            if side is not None
            for curve in [answer_curve(side, place, answer)]
            for layer in range(len(side.answers))
        ]
    )


def attribution_bars(
    fractions: tuple[NDArray[np.float32] | None, NDArray[np.float32] | None],
    tokens: Sequence[str],
    names: tuple[str, str],
) -> Figure:
    """Draw each token's normalized attribution in both, and below it the difference.

    Args:
        fractions: Attribution divided by the sum of absolute values, of each checkpoint, [U];
            None if one has no such answer.
        tokens: The tokens or words of both, [U]; any text.
        names: Of the checkpoints; any text.
    """
    both = fractions[0] is not None and fractions[1] is not None
    fig = subplots(
        2 if both else 1,
        1,
        shared_xaxes=True,
        vertical_spacing=0.06,
        row_heights=[0.62, 0.38] if both else [1.0],
    )
    places = list(range(len(tokens)))
    labels = [theme.escape(shorten(token, 18)) for token in tokens]
    for values, name, colour in zip(fractions, names, COLOURS, strict=True):
        if values is None:
            continue
        fig.add(
            "bar",
            x=places,
            y=values,
            name=theme.escape(name),
            marker={"color": colour, "line_width": 0},
            customdata=labels,
            hovertemplate=f"%{{customdata}}, {theme.escape(name)}: %{{y:+.1%}}<extra></extra>",
            row=1,
            col=1,
        )
    if fractions[0] is not None and fractions[1] is not None:
        change = fractions[1] - fractions[0]
        fig.add(
            "bar",
            x=places,
            y=change,
            showlegend=False,
            marker={
                "color": np.where(change >= 0, theme.SEGMENT_A, theme.SEGMENT_B).tolist(),
                "line_width": 0,
            },
            customdata=labels,
            hovertemplate="%{customdata}, changed by %{y:+.1%}<extra></extra>",
            row=2,
            col=1,
        )
        fig.update_yaxes(title_text="change", row=2, col=1)
    step = math.ceil(len(tokens) / MOST_TOKENS)
    theme.plot_layout(fig, "", "", "", 400 if both else 290)
    fig.update_layout(
        barmode="group",
        bargap=0.25,
        margin={"l": 0, "r": 8, "t": 34, "b": 0},
        legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0},
    )
    fig.update_xaxes(range=[-0.6, len(tokens) - 0.4], showgrid=False)
    fig.update_xaxes(
        tickvals=places[::step],
        ticktext=[f"{name}" for name in labels[::step]],
        tickangle=-60 if len(tokens) > 9 else 0,
        row=2 if both else 1,
        col=1,
    )
    fig.update_yaxes(tickformat="+.0%", zeroline=True, zerolinecolor=theme.GRID)
    fig.update_yaxes(title_text="fraction", row=1, col=1)
    if both:
        fig.update_yaxes(title_text="change", row=2, col=1)
    return fig
