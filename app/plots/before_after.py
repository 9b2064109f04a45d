"""Two runs side by side: words, answers, next sentence, a grid of heads, with their tables."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.compare.before_after import WordShift

from . import theme
from .cell_table import cell_table, tabulate
from .figure import Figure, Shades, subplots
from .formats import label_name, percent, shorten, signed

BEFORE, AFTER = theme.SPECIAL, theme.SEGMENT_A
WORD_HEIGHT, TITLE_HEIGHT = 32, 34
"""Pixels of a pair of bars, and of the title above those of a mask."""


def difference(before: float, after: float) -> str:
    """Return a change of a probability in percentage points.

    >>> difference(0.5, 0.25), difference(0.1, 0.1001), difference(0.2, 0.2)
    ('−25.0', '+0.01', '±0')
    """
    points = 100 * (after - before)
    if abs(points) < 0.005:
        return "±0"
    text = f"{abs(points):.2f}" if abs(points) < 0.1 else f"{abs(points):.1f}"
    return f"{'+' if points > 0 else '−'}{text}"


def word_bars(
    shifts: Sequence[WordShift],
    originals: Sequence[str | None],
    names: tuple[str, str] = ("before", "after"),
    mask: str = "[MASK]",
) -> Figure:
    """Draw the best words of each mask before (grey) and after (blue) as pairs of bars.

    Args:
        originals: The tokens that were hidden there, or None.
        names: Names of the two runs.
        mask: The checkpoint's mask token.
    """
    titles = [_title(s, o, mask) for s, o in zip(shifts, originals, strict=True)]
    return pair_bars(shifts, titles, names)


def pair_bars(
    shifts: Sequence[WordShift],
    titles: Sequence[str],
    names: tuple[str, str],
    ends: Sequence[NDArray[np.floating]] | None = None,
) -> Figure:
    """Draw probabilities before (grey) and after (blue) as pairs of bars.

    Args:
        shifts: One for each answer.
        titles: Title of each, with a little HTML.
        names: Names of the two runs.
        ends: Of each answer, where the numbers behind its bars begin at the earliest; None: at the
            bars' ends.
    """
    counts = [len(shift.words) for shift in shifts]
    height = WORD_HEIGHT * sum(counts) + TITLE_HEIGHT * len(shifts)
    fig = subplots(
        len(shifts),
        1,
        subplot_titles=titles,
        row_heights=counts,
        vertical_spacing=TITLE_HEIGHT / height if len(shifts) > 1 else 0,
    )
    for row, shift in enumerate(shifts, 1):
        text = [
            f"  {percent(float(p))} → <b>{percent(float(q))}</b>  {difference(p, q)}"
            for p, q in zip(shift.before, shift.after, strict=True)
        ]
        labels = [theme.escape(shorten(word, 24)) for word in shift.words]
        values, hover = (shift.before, shift.after), " {name}: %{x:.4%}"
        end = None if ends is None else ends[row - 1]
        add_pairs(fig, values, labels, text, names, hover, row=row, end=end)
    highest = max(float(np.maximum(s.before, s.after).max()) for s in shifts)
    # Room for the numbers at the end of the longest bar.
    lay_out_pairs(fig, height + 30, TITLE_HEIGHT + 26, [0, max(highest, 1e-6) * 1.75])
    fig.update_annotations(font_size=13, x=0, xanchor="left", align="left")
    return fig


def add_pairs(
    fig: Figure,
    values: tuple[NDArray[np.floating], NDArray[np.floating]],
    labels: Sequence[str],
    text: Sequence[str],
    names: tuple[str, str],
    hover: str,
    *,
    row: int | None = None,
    end: NDArray[np.floating] | None = None,
) -> None:
    """Add a grey bar (before) and a blue one (after) for each label, with a text at their ends.

    Args:
        fig: With a plot for each row, the first of which brings the legend.
        values: Of the two runs, [R] each; NaN is drawn as 0.
        labels: [R]; may contain Plotly's HTML, as text and names may.
        text: [R].
        names: Of the two runs.
        hover: Plotly's hover text after the label; {name} is the run's name.
        row: The plot, from 1, of a figure that has several.
        end: Where the texts begin at the earliest, [R].
    """
    places = list(range(len(labels)))
    for number, (numbers, name, colour) in enumerate(
        zip(values, names, (BEFORE, AFTER), strict=True)
    ):
        fig.add(
            "bar",
            row,
            1,
            x=np.nan_to_num(numbers),
            y=places,
            orientation="h",
            name=name,
            legendgroup=None if row is None else name,
            showlegend=None if row is None else row == 1,
            offsetgroup=str(number),
            marker={"color": colour, "line_width": 0},
            customdata=labels,
            hovertemplate=f"%{{customdata}}{hover.replace('{name}', name)}<extra></extra>",
        )
    ends = np.maximum(np.nan_to_num(np.fmax(*values)), 0 if end is None else end)
    fig.write_behind(ends, places, text, row, 1)
    fig.update_yaxes(row, 1, **theme.named_rows([f"<b>{label}</b>" for label in labels]))


def lay_out_pairs(fig: Figure, height: int, top: int, x_range: Sequence[float]) -> None:
    """Lay out pairs of bars, `top` pixels below the upper edge."""
    theme.plot_layout(fig, "", "", "", height)
    fig.update_layout(
        barmode="group",
        bargap=0.28,
        margin={"l": 0, "r": 0, "t": top, "b": 4},
        legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0},
    )
    fig.update_xaxes(visible=False, range=x_range)


def _title(shift: WordShift, original: str | None, mask: str) -> str:
    was = "" if original is None else f", was <b>{theme.escape(shorten(original, 24))}</b>"
    return f"{theme.escape(mask)} at {shift.position}{was}: KL {shift.divergence:.3g} nats"


def word_table(shifts: Sequence[WordShift]) -> pd.DataFrame:
    """Return a row for each mask and word."""
    rows = (
        (s.position, word, float(p), float(q))
        for s in shifts
        for word, p, q in zip(s.words, s.before, s.after, strict=True)
    )
    return tabulate("position piece p_before p_after", rows)


def next_bars(is_next: Sequence[float], names: tuple[str, str] = ("before", "after")) -> Figure:
    """Draw the probability that B follows A in two runs of these names, two bars of length 1."""
    rows = list(names)
    fig = Figure()
    for values, name, colour in (
        (list(is_next), "B follows A", theme.SEGMENT_A),
        ([1 - p for p in is_next], "B is a random text", theme.SEGMENT_B),
    ):
        fig.add(
            "bar",
            x=values,
            y=rows,
            orientation="h",
            name=name,
            marker={"color": colour, "line_width": 0, "cornerradius": 4},
            hovertemplate=f"%{{y}}, {name}: %{{x:.3%}}<extra></extra>",
        )
    change = f"  ({difference(*is_next)})"
    for row, p in zip(rows, is_next, strict=True):
        text = f"<b>{percent(p)}</b> {row}{change if row == names[1] else ''}"
        fig.add_annotation(
            x=0, y=row, yshift=19, text=text, xanchor="left", showarrow=False, font_size=13
        )
    theme.plot_layout(fig, "", "", "", 150)
    fig.update_layout(
        barmode="stack",
        bargap=0.62,
        margin={"l": 0, "r": 0, "t": 24, "b": 0},
        legend={"x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom", "traceorder": "normal"},
    )
    fig.update_xaxes(range=[0, 1], visible=False, fixedrange=True)
    fig.update_yaxes(autorange="reversed", visible=False, fixedrange=True)
    return fig


def next_table(is_next: Sequence[float]) -> pd.DataFrame:
    """Return the next-sentence probability before and after."""
    return pd.DataFrame({"run": ["before", "after"], "p_is_next": list(is_next)})


def attention_grid(change: NDArray[np.float32], off: Collection[tuple[int, int]] = ()) -> Figure:
    """Draw how much each head's attention changed, [L, H]; a cross marks heads that are off."""
    largest = max(1e-3, float(change.max()))
    shades = theme.from_zero(largest)
    return head_grid(change, off, "changed by %{z:.3f} bits", shades, "bits")


def head_table(values: Mapping[str, NDArray[np.floating]]) -> pd.DataFrame:
    """Return a row for each head, with a column for each named array [L, H]."""
    num_layers, num_heads = next(iter(values.values())).shape
    return cell_table({"layer": range(num_layers)}, {"head": range(num_heads)}, **values)


def divergence_table(change: NDArray[np.floating]) -> pd.DataFrame:
    """Return a row for each head, with how differently it attends."""
    return head_table({"divergence_bits": change})


def head_grid(
    values: NDArray[np.float32],
    off: Collection[tuple[int, int]],
    hover: str,
    shades: Shades,
    unit: str,
) -> Figure:
    """Draw a number for each head.

    Args:
        values: [L, H]; NaN is empty.
        off: (layer, head) that are marked with a cross.
        hover: Hover text after layer and head, with Plotly's %{z}.
        shades: Colours of the numbers.
        unit: Unit above the colour bar.
    """
    num_layers, num_heads = values.shape
    fig = Figure()
    hover = f"layer %{{y}} head %{{x}}: {hover}"
    fig.heat(values, shades, hover, gap=2, colorbar=theme.bar_above(unit))
    if off:
        fig.add(
            "scatter",
            x=[head for _, head in off],
            y=[layer for layer, _ in off],
            mode="markers",
            marker={"symbol": "x-thin", "size": 10, "line": {"width": 2, "color": BEFORE}},
            hovertemplate="layer %{y} head %{x} is off<extra></extra>",
            showlegend=False,
        )
    theme.plot_layout(fig, "", "", "layer", min(26 * num_layers, 420) + 128)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 54, "b": 44})  # below: numbers, then "head"
    # No axis title: Plotly sets it among the numbers here.
    fig.add_annotation(
        x=0.5, y=0, xref="paper", yref="paper", yshift=-34, text="head", showarrow=False
    )
    fig.update_xaxes(
        tickvals=thinned(range(num_heads)),
        range=[-0.5, num_heads - 0.5],
        showgrid=False,
        ticks="",
    )
    fig.update_yaxes(
        tickvals=thinned(range(num_layers)), range=[num_layers - 0.5, -0.5], showgrid=False
    )
    return fig


def thinned(numbers: Sequence[int]) -> list[int]:
    """Return the numbers to write along an axis: all, or every second if there are many."""
    return list(numbers)[:: 1 if len(numbers) <= 13 else 2]


COLOURS = (BEFORE, AFTER)  # of the first and the second checkpoint, in every picture of the page
_ROW = 34


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Some answers at one place, with both probabilities."""

    names: tuple[str, ...]
    """[R]"""
    values: tuple[NDArray[np.float64], NDArray[np.float64]]
    """Of the first and the second, each [R]; NaN if a checkpoint has no such answer."""


def answer_bars(rows: AnswerRows, names: tuple[str, str], kind: str) -> Figure:
    """Draw the answers as pairs of bars: the first checkpoint grey, the second blue.

    Args:
        rows: From `answer_rows`.
        names: Of the checkpoints; any text.
        kind: Of the question; the numbers of a "score" are not probabilities.
    """
    is_score = kind == "score"
    is_label = kind in ("class", "labels")
    named = [label_name(name) for name in rows.names] if is_label else rows.names
    labels = [theme.escape(shorten(name, 26)) for name in named]
    first, second = rows.values
    text = [_change(p, q, is_score=is_score) for p, q in zip(first, second, strict=True)]
    hover = f", {{name}}: {'%{x:.4g}' if is_score else '%{x:.3%}'}"
    runs = (theme.escape(names[0]), theme.escape(names[1]))
    fig = Figure()
    add_pairs(fig, rows.values, labels, text, runs, hover)
    low = min(0.0, float(np.nanmin(np.stack(rows.values), initial=0.0)))
    top = float(np.nanmax(np.abs(np.stack(rows.values)), initial=1e-6))
    lay_out_pairs(fig, _ROW * len(labels) + 44, 32, [1.1 * low, top * 1.75])
    return fig


def _change(first: float, second: float, *, is_score: bool) -> str:
    if is_score:
        texts = ["–" if math.isnan(value) else f"{value:.3g}" for value in (first, second)]
        moved = "" if math.isnan(first + second) else f"  {signed(second - first)}"
        return f"  {texts[0]} → <b>{texts[1]}</b>{moved}"
    texts = ["–" if math.isnan(value) else percent(value) for value in (first, second)]
    both = not math.isnan(first + second)
    return f"  {texts[0]} → <b>{texts[1]}</b>  {difference(first, second) if both else ''}"


def answer_table(rows: AnswerRows) -> pd.DataFrame:
    """Return the answers as a table."""
    first, second = rows.values
    return pd.DataFrame(
        {"answer": rows.names, "first": first, "second": second, "difference": second - first}
    )
