"""Two runs side by side: words, answers, next sentence, a grid of heads, with their tables."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.compare.before_after import WordShift
from bertcore.model import NextSentence

from . import theme
from .cell_table import cell_table, tabulate
from .charts import Chart
from .figure import Figure, subplots
from .formats import label_name, percent, shorten, signed

NOTHING: Mapping[int, str] = MappingProxyType({})
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


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Some answers at one place, with both probabilities."""

    names: tuple[str, ...]
    """[R]"""
    values: tuple[NDArray[np.floating], NDArray[np.floating]]
    """Of the first and the second, each [R]; NaN if a checkpoint has no such answer."""


@dataclass(frozen=True, kw_only=True)
class Pairs(Chart):
    """Probabilities of two runs as pairs of bars, the first grey, the second blue."""

    name: str = "piece"
    runs: tuple[str, str] = ("before", "after")
    """Names of the runs; the numbers are the columns "p_" and these."""
    by: Sequence[str] = ()
    """Columns whose values are plots, one below the other."""
    title: Callable[[pd.DataFrame], str] = lambda rows: ""
    """Rows of a plot -> its title, in Plotly's HTML."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        groups = [rows for _, rows in frame.groupby([*self.by], sort=False)] if self.by else [frame]
        titles = [self.title(rows) for rows in groups]
        before, after = (f"p_{run}" for run in self.runs)
        answers = [
            AnswerRows(tuple(rows[self.name]), (rows[before].to_numpy(), rows[after].to_numpy()))
            for rows in groups
        ]
        return pair_bars(answers, titles, self.runs)


def pair_bars(
    answers: Sequence[AnswerRows],
    titles: Sequence[str],
    names: tuple[str, str],
    ends: Sequence[NDArray[np.floating]] | None = None,
) -> Figure:
    """Draw probabilities before (grey) and after (blue) as pairs of bars.

    Args:
        answers: For each plot.
        titles: Title of each, with a little HTML.
        names: Names of the two runs.
        ends: Of each answer, where the numbers behind its bars begin at the earliest; None: at the
            bars' ends.
    """
    counts = [len(rows.names) for rows in answers]
    above = TITLE_HEIGHT if any(titles) else 0
    height = WORD_HEIGHT * sum(counts) + above * len(answers)
    fig = subplots(
        len(answers),
        1,
        subplot_titles=titles,
        row_heights=counts,
        vertical_spacing=above / height if len(answers) > 1 else 0,
    )
    for row, rows in enumerate(answers, 1):
        text = [
            f"  {percent(float(p))} → <b>{percent(float(q))}</b>  {difference(p, q)}"
            for p, q in zip(*rows.values, strict=True)
        ]
        labels = [theme.escape(shorten(word, 24)) for word in rows.names]
        end = None if ends is None else ends[row - 1]
        hover = " {name}: %{x:.4%}"
        add_pairs(fig, rows.values, labels, text, names, hover, row=row, end=end)
    highest = max(float(np.max(rows.values)) for rows in answers)
    highest = max(highest, *(float(end.max()) for end in ends or ()), 1e-6)
    # Room for the numbers at the end of the longest bar.
    lay_out_pairs(fig, height + 30, above + 26, [0, highest * 1.75])
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


def mask_pairs(*runs: str) -> Pairs:
    """Return the chart of the best words of two runs of these names, at each mask."""
    return Pairs(runs=(runs[0], runs[1]), by=("position",), title=_mask_title)


def _mask_title(words: pd.DataFrame) -> str:
    first = words.iloc[0]
    was = f", was <b>{theme.escape(shorten(first.hidden, 24))}</b>" if first.hidden else ""
    return f"{theme.escape(first['mask'])} at {first.position}{was}: KL {first.kl_nats:.3g} nats"


def word_table(
    shifts: Sequence[WordShift],
    mask: str,
    hidden: Mapping[int, str] = NOTHING,
    runs: Sequence[str] = ("before", "after"),
) -> pd.DataFrame:
    """Return a row for each mask and word.

    Args:
        mask: The checkpoint's mask token.
        hidden: Position -> the token that was hidden there, where it is known.
        runs: Names of the two runs.
    """
    if not shifts:
        raise ValueError("there is no mask that both runs have, so there are no words to compare.")
    rows = (
        (s.position, mask, hidden.get(s.position, ""), s.divergence, word, p, q, 100 * (q - p))
        for s in shifts
        for word, p, q in zip(s.words, s.before.tolist(), s.after.tolist(), strict=True)
    )
    names = "position mask hidden kl_nats piece p_{} p_{} difference_points".format(*runs)
    return tabulate(names, rows)


def next_table(
    first: NextSentence | None,
    second: NextSentence | None,
    runs: Sequence[str] = ("before", "after"),
) -> pd.DataFrame:
    """Return the next-sentence answers of two runs."""
    if first is None or second is None:
        raise ValueError("there is no sentence B, so there is no next-sentence answer.")
    rows = [("B follows A", first.is_next, second.is_next)]
    return tabulate("answer p_{} p_{}".format(*runs), rows)


def head_table(values: Mapping[str, NDArray[np.floating]]) -> pd.DataFrame:
    """Return a row for each head, with a column for each named array [L, H]."""
    num_layers, num_heads = next(iter(values.values())).shape
    return cell_table({"layer": range(num_layers)}, {"head": range(num_heads)}, **values)


def divergence_table(change: NDArray[np.floating]) -> pd.DataFrame:
    """Return a row for each head, with how differently it attends."""
    return head_table({"divergence_bits": change})


def thinned(numbers: Sequence[int]) -> list[int]:
    """Return the numbers to write along an axis: all, or every second if there are many."""
    return list(numbers)[:: 1 if len(numbers) <= 13 else 2]


COLOURS = (BEFORE, AFTER)  # of the first and the second checkpoint, in every picture of the page
_ROW = 34


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
