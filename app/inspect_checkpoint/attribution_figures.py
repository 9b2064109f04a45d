"""Attribution to words, at the input and by layer: colours, methods side by side, faithfulness."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bertcore.analysis.attribution import Faithfulness, Word

from ..plots import (
    Figure,
    display_width,
    error_bars,
    exactly,
    shorten,
    signed,
    subplots,
    tabulate,
    theme,
    token_flow,
)
from ..plots.figure import Properties

RANDOM = "Random order"
MEASURES = {
    "comprehensiveness": "Comprehensiveness (high is good)",
    "sufficiency": "Sufficiency (low is good)",
}
_MOST_NAMED = 40


Rows: TypeAlias = Mapping[str, NDArray[np.floating]]
"""Numbers of W words by name, such as those of several methods; NaN where a word has none."""


def attributed_text(
    words: Sequence[Word], rows: Rows, *, method: str, is_dark: bool, unit: str
) -> Figure:
    """Draw the text as boxes: blue supports what is explained, orange opposes it.

    Args:
        words, rows: The words and their numbers.
        method: The row that is drawn.
        is_dark: Whether the page is dark: words that do nothing recede there too.
        unit: Unit of the numbers.
    """
    values = rows[method]
    return token_flow.word_boxes(
        [word.text for word in words],
        values,
        [signed(float(value)) for value in values],
        new_lines=_choice_starts(words),
        is_dark=is_dark,
        scale_title=f"against ← {unit} → for",
    )


def _choice_starts(words: Sequence[Word]) -> set[int]:
    """Return the first word of each of several choices; nothing of a text or a pair."""
    ids = [word.text_id for word in words]
    return {ids.index(choice) for choice in set(ids) if choice > 0} if max(ids) > 1 else set()


def method_rows(
    words: Sequence[Word],
    rows: Rows,
    *,
    is_dark: bool,
    most_named: int = _MOST_NAMED,
    names: Mapping[str, str] | None = None,
) -> Figure:
    """Draw several methods' numbers as rows over one axis of words, each row on its own scale.

    Args:
        words, rows: The words and their numbers.
        is_dark: As for `attributed_text`.
        most_named: Most words whose names fit; of more, every second, third ... is named.
        names: What to call the rows, by their names in `rows`.
    """
    called = [(names or {}).get(name, name) for name in rows]
    fig = _grid(words, rows, is_dark, own_scale=True, names=called)
    return _lay_out(fig, words, height=34 * len(rows) + 8, top=4, most_named=most_named)


def conductance_map(words: Sequence[Word], rows: Rows, *, is_dark: bool) -> Figure:
    """Draw the conductance of each layer (row) by word, all on one scale."""
    bar = theme.bar_above("against ← conductance → for")
    names = [f"layer {name}" for name in rows]
    fig = _grid(words, rows, is_dark, own_scale=False, names=names, colorbar=bar)
    return _lay_out(fig, words, height=30 * len(rows) + 66, top=62)


def _grid(
    words: Sequence[Word],
    rows: Rows,
    is_dark: bool,
    *,
    own_scale: bool,
    names: Sequence[str],
    colorbar: Properties | None = None,
) -> Figure:
    """Return rows of numbers as coloured cells.

    Args:
        own_scale: Divide each row by its own largest number, for rows of different units.
        names: Of the rows.
    """
    values = np.stack([np.asarray(row, dtype=np.float64) for row in rows.values()])
    sizes = np.nanmax(np.abs(values), axis=1, initial=1e-12, keepdims=True)
    largest = 1.0 if own_scale else float(sizes.max())
    texts = [theme.escape(shorten(word.text, 14)) for word in words]
    fig = Figure()
    fig.heat(
        values / sizes if own_scale else values,
        theme.around_zero(largest, is_dark),
        "%{y}, <b>%{customdata[0]}</b>: %{customdata[1]:+.4f}",
        gap=(1 if len(words) <= 80 else 0, 3),
        colorbar=colorbar,
        y=[theme.escape(name) for name in names],
        customdata=np.dstack(
            [np.broadcast_to(np.array(texts, dtype=object), values.shape), values]
        ),
    )
    return fig


def _lay_out(
    fig: Figure, words: Sequence[Word], *, height: int, top: int, most_named: int = _MOST_NAMED
) -> Figure:
    """Lay out rows over an axis of words, whose names are turned if there are many.

    Args:
        height: Pixels of the rows and what is above them.
        top: Pixels above them.
        most_named: Most words whose names fit; of more, every second, third ... is named.
    """
    labels = [theme.escape(shorten(word.text, 14)) for word in words]
    turned = len(labels) > min(12, most_named // 2)
    below = 34 + (6 * max(map(display_width, labels), default=0) if turned else 0)
    theme.plot_layout(fig, "", "", "", height + below)
    places = list(range(0, len(labels), max(1, -(-len(labels) // most_named))))
    fig.update_xaxes(
        tickvals=places,
        ticktext=[labels[i] for i in places],
        tickangle=-60 if turned else 0,
        showgrid=False,
        automargin=False,
    )
    fig.update_yaxes(autorange="reversed", showgrid=False, fixedrange=True)
    fig.update_layout(margin={"t": top, "b": below})
    return fig


def faithfulness_dots(
    by_order: Mapping[str, Faithfulness], random: Sequence[Faithfulness], *, unit: str
) -> Figure:
    """Draw both measures of each method beside those of words in random order.

    The random orders are drawn as their mean and their range.

    Args:
        by_order: Faithfulness by name of the method.
        random: That of words in random order.
        unit: What is lost: "probability" or "score".
    """
    names = [*by_order, RANDOM]
    fig = subplots(2, 1, subplot_titles=list(MEASURES.values()), vertical_spacing=0.24)
    for row, measure in enumerate(MEASURES, start=1):
        of_random = np.array([getattr(faithfulness, f"mean_{measure}") for faithfulness in random])
        values = [getattr(faithfulness, f"mean_{measure}") for faithfulness in by_order.values()]
        mean, least, most = (float(end(of_random)) for end in (np.mean, np.min, np.max))
        low, high = min([*values, least, 0]), max([*values, most, 0])
        room = max(float(high - low), 1e-3)
        fig.add(
            "scatter",
            x=[*values, mean],
            y=list(range(len(names))),
            mode="markers",
            marker={
                "size": 13,
                "color": [theme.SEGMENT_A] * len(values) + [theme.SPECIAL],
                "symbol": ["circle"] * len(values) + ["diamond"],
            },
            cliponaxis=False,
            error_x=error_bars([*values, mean], [*values, least], [*values, most], theme.SPECIAL),
            customdata=names,
            hovertemplate="%{customdata}: %{x:+.4f}<extra></extra>",
            showlegend=False,
            row=row,
            col=1,
        )
        # All numbers are in one column at the right, so that no line or dot runs through them.
        numbers = [exactly(value, 3) for value in [*values, mean]]
        fig.write_behind([high + 0.12 * room] * len(names), range(len(names)), numbers, row, 1)
        fig.add_vline(x=mean, line={"dash": "dot", "color": theme.SPECIAL, "width": 1}, row=row)
        fig.update_xaxes(range=[low - 0.05 * room, high + 0.4 * room], row=row)
    theme.plot_layout(fig, "", "", "", 2 * (26 * len(names) + 74))
    fig.update_xaxes(title_text=f"{unit} lost", row=2, col=1)
    fig.update_yaxes(**theme.named_rows(names))
    fig.update_annotations(font_size=12, x=0, xanchor="left")
    fig.update_layout(margin={"t": 28})
    return fig


def word_table(words: Sequence[Word], rows: Rows) -> pd.DataFrame:
    """Return a row for each word."""
    return pd.DataFrame({"word": [word.text for word in words]}).assign(**rows)


def faithfulness_table(
    by_order: Mapping[str, Faithfulness], random: Sequence[Faithfulness]
) -> pd.DataFrame:
    """Return a row for each method and bin."""
    named = [
        *by_order.items(),
        *((f"{RANDOM} {i}", faithfulness) for i, faithfulness in enumerate(random)),
    ]
    rows = []
    for name, measured in named:
        parts = (measured.bins, measured.num_words, measured.comprehensiveness)
        rows += [(name, *row) for row in zip(*parts, measured.sufficiency, strict=True)]
    columns = "method share_of_words words comprehensiveness sufficiency"
    return tabulate(columns, ((*row[:3], float(row[3]), float(row[4])) for row in rows))
