"""Two runs side by side: words, answers, next sentence, a grid of heads, with their tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from bertcore.analysis.compare.before_after import SMALL_KL, SMALL_POINTS

from ..on_demand import pd
from . import theme
from .charts import Chart
from .figure import Figure, subplots
from .formats import percent, shorten, signed
from .tables import Frames, at, columns, tabulate

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


@dataclass(frozen=True, kw_only=True)
class Pairs(Chart):
    """Probabilities of two runs as pairs of bars, the first grey, the second blue."""

    name: str = "piece"
    runs: tuple[str, str] = ("before", "after")
    """Names of the runs; the numbers are the columns "p_" and these."""
    called: tuple[str, str] | None = None
    """What the runs are called, if not by their names; any text."""
    by: Sequence[str] = ()
    """Columns whose values are plots, one below the other."""
    title: Callable[[pd.DataFrame], str] = lambda rows: ""
    """Rows of a plot -> its title, in Plotly's HTML."""
    is_score: bool = False
    """Whether the numbers are scores, not probabilities."""

    def _draw(self, frame: pd.DataFrame) -> Figure:
        groups = [rows for _, rows in frame.groupby([*self.by], sort=False)] if self.by else [frame]
        titles = ["" if self.is_score else self.title(rows) for rows in groups]
        counts = [*map(len, groups)]
        before, after = (f"p_{run}" for run in self.runs)
        above = TITLE_HEIGHT if any(titles) else 0
        above += 16 if any("<br>" in title for title in titles) else 0
        height = WORD_HEIGHT * len(frame) + above * len(groups)
        fig = subplots(
            len(groups),
            1,
            subplot_titles=titles,
            row_heights=counts,
            vertical_spacing=above / height if len(groups) > 1 else 0,
        )
        names, form = (
            [*map(theme.escape, self.called or self.runs)],
            ".4g" if self.is_score else ".4%",
        )
        for row, rows in enumerate(groups, 1):
            labels = [theme.escape(shorten(word, 26)) for word in rows[self.name]]
            places = list(range(len(labels)))
            both = rows[before].to_numpy(), rows[after].to_numpy()
            for number, values in enumerate(both):
                fig.add(
                    "bar",
                    row,
                    1,
                    x=np.nan_to_num(values),
                    y=places,
                    orientation="h",
                    name=names[number],
                    legendgroup=names[number],
                    showlegend=row == 1,
                    offsetgroup=str(number),
                    marker={"color": (BEFORE, AFTER)[number], "line_width": 0},
                    customdata=labels,
                    hovertemplate=f"%{{customdata}} {names[number]}: %{{x:{form}}}<extra></extra>",
                )
            behind = np.maximum(np.nan_to_num(np.fmax(*both)), 0)
            text = [_change(p, q, is_score=self.is_score) for p, q in zip(*both, strict=True)]
            fig.write_behind(behind, places, text, row, 1)
            fig.update_yaxes(row, 1, **theme.named_rows([f"<b>{label}</b>" for label in labels]))
        every = frame[[before, after]].to_numpy()
        low, high = np.nanmin(every, initial=0.0), np.nanmax(np.abs(every), initial=1e-6)
        theme.plot_layout(fig, "", "", "", height + 30)
        fig.update_layout(
            barmode="group",
            bargap=0.28,
            margin={"l": 0, "r": 0, "t": above + 26, "b": 4},
            legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0},
        )
        # Room for the numbers at the end of the longest bar.
        fig.update_xaxes(visible=False, range=[1.1 * low, high * 1.75])
        fig.update_annotations(font_size=13, x=0, xanchor="left", align="left")
        return fig


def _change(first: float, second: float, *, is_score: bool) -> str:
    """Return both numbers, and by how much the second differs."""
    written = "{:.3g}".format if is_score else percent
    texts = ["–" if math.isnan(value) else written(float(value)) for value in (first, second)]
    moved = ""
    if not math.isnan(first + second):
        moved = signed(second - first) if is_score else difference(first, second)
    return f"  {texts[0]} → <b>{texts[1]}</b>  {moved}"


def mask_pairs(*runs: str) -> Pairs:
    """Return the chart of the best words of two runs of these names, at each mask."""
    return Pairs(runs=(runs[0], runs[1]), by=("position",), title=_mask_title)


def _mask_title(words: pd.DataFrame) -> str:
    first = words.iloc[0]
    was = f", was <b>{theme.escape(shorten(first.hidden, 24))}</b>" if first.hidden else ""
    return f"{theme.escape(first['mask'])} (token {first.position}){was}: {distance(first.kl_nats)}"


def distance(kl: float) -> str:
    """Return how far two answers are apart, in Plotly's HTML.

    >>> distance(0.5), distance(0.03)
    ('KL 0.5 nats', 'KL 0.03 nats<br>below 0.05: no change to speak of')
    """
    is_small = 0 < kl < SMALL_KL
    note = f"<br>below {SMALL_KL}: no change to speak of" if is_small else ""
    return f"KL {kl:.3g} nats{note}"


def next_pairs(*runs: str) -> Pairs:
    """Return the chart of the next-sentence answers of two runs of these names."""
    return Pairs(name="answer", runs=(runs[0], runs[1]), title=points_title)


def points_title(rows: pd.DataFrame) -> str:
    """Return that no probability of two runs has moved to speak of; empty if one has."""
    moved = 100 * np.nanmax(np.abs(np.diff(rows.filter(regex="^p_").to_numpy())), initial=0)
    is_small = 0 < moved < SMALL_POINTS
    return f"moved by less than {SMALL_POINTS} points: no change to speak of" if is_small else ""


def word_table(
    shifts: str, runs: Sequence[str] = ("before", "after"), originals: str = ""
) -> Frames:
    """Return what makes a table of a row for each mask and word of a result.

    Args:
        shifts: Where its shifts are; its `mask` is the checkpoint's token.
        runs: Names of the two runs.
        originals: Where the tokens are that were hidden, by position, if they are known.
    """

    def table(result: Any) -> pd.DataFrame:
        hidden = dict(at(result, originals)) if originals else NOTHING
        rows = [
            (s.position, result.mask, hidden.get(s.position, ""), s.divergence, word, p, q)
            for s in at(result, shifts)
            for word, p, q in zip(s.words, s.before.tolist(), s.after.tolist(), strict=True)
        ]
        if not rows:
            raise ValueError("there is no mask that both runs have: no words to compare.")
        names = [f"p_{run}" for run in runs]
        table = tabulate(f"position mask hidden kl_nats piece {' '.join(names)}", rows)
        return table.assign(difference_points=100 * (table[names[1]] - table[names[0]]))

    return table


def next_table(first: str, second: str, runs: Sequence[str] = ("before", "after")) -> Frames:
    """Return what makes a table of the next-sentence answers at two places of a result."""
    places = {f"p_{run}": f"{of}.is_next" for run, of in zip(runs, (first, second), strict=True)}
    why_not = "there is no sentence B, so there is no next-sentence answer."
    return columns(why_not, answer=["B follows A"], **places)
