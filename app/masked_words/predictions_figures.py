"""Bars of the predictions at each mask, dots of the visitor's own candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from bertcore.analysis.words.candidates import Candidate
from bertcore.analysis.words.predictions import Filled, MaskPredictions

from ..plots import theme
from ..plots.figure import Figure, bar, scatter, subplots
from ..plots.formats import percent, shorten
from ..plots.untrusted_text import plain

MASKS_ABREAST = 3
"""Masks side by side."""


def top_words(predictions: MaskPredictions) -> Figure:
    """Draw the most probable words of each mask as bars, three masks side by side.

    If the hidden token is known, its bar stands out and the heading gives its rank.
    """
    titles = [_mask_title(predictions, index) for index in range(len(predictions.positions))]
    words, probabilities = predictions.words, predictions.probabilities
    columns = min(MASKS_ABREAST, len(titles))
    rows = -(-len(titles) // columns)
    fig = subplots(
        rows,
        columns,
        subplot_titles=titles,
        horizontal_spacing=0.04,
        vertical_spacing=58 / (rows * (24 * words.shape[1] + 58)),
    )
    highest = float(probabilities.max())
    for index, (names, values) in enumerate(zip(words, probabilities, strict=True)):
        labels = [
            f"<b>{theme.escape(n)}</b>  {percent(v)}" for n, v in zip(names, values, strict=True)
        ]
        original = predictions.originals[index]
        colours = [theme.ACCENT if n == original else theme.SEGMENT_A for n in names]
        bars = bar(
            x=values,
            y=list(range(len(names))),
            orientation="h",
            text=labels,
            textposition="outside",
            cliponaxis=False,
            marker={"color": colours, "line_width": 0},
            customdata=[theme.escape(n) for n in names],
            hovertemplate="%{customdata}: %{x:.4%}<extra></extra>",
            showlegend=False,
        )
        fig.add_trace(bars, row=index // columns + 1, col=index % columns + 1)
    theme.plot_layout(fig, "", "", "", rows * (24 * words.shape[1] + 58))
    fig.update_layout(bargap=0.25, margin={"l": 0, "r": 0, "t": 42, "b": 4})
    # Room for the label at the end of the longest bar, in a column 470 pixels wide.
    fig.update_xaxes(visible=False, range=[0, highest * (1.5, 2.1, 2.9)[columns - 1]])
    fig.update_yaxes(visible=False, autorange="reversed")
    fig.update_annotations(font_size=13, xanchor="left", align="left")
    for index, annotation in enumerate(fig.settings.get("annotations", ())):
        (left, _), _ = fig.domain(index // columns + 1, index % columns + 1)
        annotation["x"] = left
    return fig


def mask_names(predictions: MaskPredictions) -> list[str]:
    """Return a short name for each mask, as plain text: where it is and what was there."""
    mask = predictions.mask
    return [
        f"{mask} at {position}" if original is None else f"{shorten(original)} ({position})"
        for position, original in zip(predictions.positions, predictions.originals, strict=True)
    ]


def in_turn(steps: Sequence[Filled]) -> str:
    """Return the steps of filling the masks as Markdown, in their order."""
    return " → ".join(
        f"**{plain(shorten(step.word))}** at {step.position} ({plain(percent(step.probability))})"
        for step in steps
    )


def _mask_title(predictions: MaskPredictions, index: int) -> str:
    original, rank = predictions.originals[index], predictions.original_ranks[index]
    mask = theme.escape(predictions.mask)
    if original is None or rank is None:
        return f"{mask} at {predictions.positions[index]}<br> "
    token = theme.escape(shorten(original))
    return f"{mask} at {predictions.positions[index]}<br>was <b>{token}</b>: rank {rank:,}"


def candidate_dots(candidates: Sequence[Candidate]) -> Figure:
    """Draw the scored candidates on a logarithmic scale, best first.

    A filled dot is the word's probability, with its rank in the vocabulary; a ring, for words
    of several pieces, its mean per piece.
    """
    scored = sorted(
        (c for c in candidates if c.probability is not None),
        key=lambda c: -(c.log_probability or 0),
    )
    fig = Figure()
    # Names may repeat once shortened, so rows are numbers with tick texts.
    rows = list(range(len(scored)))
    floor = 1e-12  # a logarithmic axis has no zero
    whole = [max(c.probability or 0.0, floor) for c in scored]
    fig.add_trace(
        bar(
            x=whole,
            y=rows,
            orientation="h",
            width=0.12,
            marker_color=theme.SEGMENT_A,
            opacity=0.35,
            hoverinfo="skip",
            showlegend=False,
        )
    )
    several = [i for i in rows if len(scored[i].pieces) > 1]
    if several:
        fig.add_trace(
            scatter(
                x=[max(scored[i].probability_per_piece or 0.0, floor) for i in several],
                y=several,
                mode="markers",
                marker={"symbol": "circle-open", "size": 12, "color": theme.SEGMENT_B},
                marker_line_width=2,
                name="mean per piece",
                hovertemplate="%{x:.3%} per piece<extra></extra>",
            )
        )
    fig.add_trace(
        scatter(
            x=whole,
            y=rows,
            mode="markers+text",
            marker={"size": 12, "color": theme.SEGMENT_A},
            text=[f"  {_with_rank(c)}" for c in scored],
            textposition="middle right",
            cliponaxis=False,
            name="whole word",
            customdata=[_pieces(c) for c in scored],
            hovertemplate="%{customdata}: %{x:.3%}<extra></extra>",
            showlegend=bool(several),
        )
    )
    theme.plot_layout(fig, "", "probability (logarithmic)", "", 36 * len(scored) + 90)
    lowest = int(np.floor(np.log10(min([1e-4, *whole]))))
    powers = range(lowest - lowest % 2, 1, 2 if lowest < -6 else 1)
    fig.update_xaxes(
        type="log",
        range=[lowest - 0.2, -0.22 * lowest],  # room for the label of a certain word
        tickvals=[10.0**e for e in powers],
        ticktext=[percent(10.0**e) if e >= -5 else f"10<sup>{e}</sup>" for e in powers],
    )
    fig.update_yaxes(
        tickvals=rows,
        ticktext=[_pieces(c) for c in scored],
        range=[len(scored) - 0.4, -0.6],
        showgrid=False,
    )
    return fig


def _with_rank(candidate: Candidate) -> str:
    shown = percent(candidate.probability or 0.0)
    return shown if candidate.rank is None else f"{shown}, rank {candidate.rank:,}"


def _pieces(candidate: Candidate) -> str:
    word = f"<b>{theme.escape(shorten(candidate.word))}</b>"
    if len(candidate.pieces) == 1:
        return word
    pieces = theme.escape(shorten(" ".join(candidate.pieces), 30))
    return f'{word}<br><span style="font-size:10.5px">{pieces}</span>'


def predictions_table(predictions: MaskPredictions) -> pd.DataFrame:
    """Return a row for each mask and rank."""
    return pd.DataFrame(
        [
            {"position": position, "hidden": original, "rank": rank, "piece": word, "p": float(p)}
            for position, original, words, values in zip(
                predictions.positions,
                predictions.originals,
                predictions.words,
                predictions.probabilities,
                strict=True,
            )
            for rank, (word, p) in enumerate(zip(words, values, strict=True), start=1)
        ]
    )


def candidates_table(scored: Sequence[Candidate]) -> pd.DataFrame:
    """Return a row for each word, also for those without a score."""
    return pd.DataFrame(
        [
            {
                "word": c.word,
                "pieces": " ".join(c.pieces),
                "p": c.probability,
                "p_per_piece": c.probability_per_piece,
                "ln_p": c.log_probability,
                "rank": c.rank,
                "problem": c.problem,
            }
            for c in scored
        ]
    )
