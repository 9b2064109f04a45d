"""Each objective after the same time: what `python -m benchmarks objectives` measured."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from ..plots import theme
from ..plots.error_bars import error_bars
from ..plots.figure import Figure, subplots
from ..plots.metric_names import METRIC_NAMES
from ..shell.picture import Picture

FILE = Path(__file__).with_name("equal_time.json")
REPEATED = ("mlm+nsp (BERT)", "mlm+nsp (BERT), second run")
"""Two runs of one recipe: differences smaller than theirs mean nothing."""
COLUMNS = 3
_ROW, _ABOVE = 19, 68
_SEEN = 3
"""Decimals of a loss; percentages have one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One score of every objective."""

    name: str
    unit: str
    """"%" or "nats"."""
    values: Mapping[str, Sequence[float]]
    """Objective -> the value of each fine-tuning seed; none if it has no such head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualTime:
    """The measured table."""

    settings: Mapping[str, Any]
    num_tokens: Mapping[str, int]
    """Objective -> tokens that it was trained on, in the order of the table."""
    scores: tuple[Score, ...]

    @property
    def objectives(self) -> tuple[str, ...]:
        """Names of the rows."""
        return tuple(self.num_tokens)


def is_whole() -> bool:
    """Return whether every row has been measured: an unfinished table is not shown."""
    if not FILE.is_file():
        return False
    found = json.loads(FILE.read_text(encoding="utf-8"))
    return {*found["seconds_a_step"]} == {*found["rows"]}


def measured() -> EqualTime:
    """Return the table."""
    found = json.loads(FILE.read_text(encoding="utf-8"))
    rows: dict[str, dict[str, Any]] = {
        name: found["rows"][name] for name in found["seconds_a_step"] if name in found["rows"]
    }

    def single(key: str, times: float) -> dict[str, list[float]]:
        return {name: [] if row[key] is None else [times * row[key]] for name, row in rows.items()}

    every = found["settings"]["every n-th pair of BLiMP"]
    scores = [
        Score(name="Masked words: loss", unit="nats", values=single("mlm_loss", 1)),
        Score(name="Our 200 pairs: right", unit="%", values=single("pairs", 100)),
        Score(name=f"BLiMP, 1 in {every}: right", unit="%", values=single("blimp", 100)),
    ]
    for name in next(iter(rows.values()))["sets"]:
        sets = {objective: row["sets"][name] or [] for objective, row in rows.items()}
        metric = next(next(iter(seeds[0])) for seeds in sets.values() if seeds)
        values = {one: [100 * seed[metric] for seed in seeds] for one, seeds in sets.items()}
        scores.append(Score(name=f"{name}: {METRIC_NAMES[metric]}", unit="%", values=values))
    return EqualTime(
        settings=found["settings"],
        num_tokens={name: row["num_tokens"] for name, row in rows.items()},
        scores=tuple(scores),
    )


def equal_time_figure(found: EqualTime) -> Figure:
    """Draw a panel for each score: a dot per objective, its seeds' range, and the band of BERT."""
    num_rows = -(-len(found.scores) // COLUMNS)
    height = num_rows * (_ROW * len(found.objectives) + _ABOVE)
    fig = subplots(
        rows=num_rows,
        cols=COLUMNS,
        shared_yaxes=True,
        subplot_titles=[f"{s.name}, {s.unit}".replace(": ", "<br>") for s in found.scores],
        horizontal_spacing=0.03,
        vertical_spacing=_ABOVE / height,
    )
    places = {name: place for place, name in enumerate(found.objectives)}
    for number, score in enumerate(found.scores):
        row, column = number // COLUMNS + 1, number % COLUMNS + 1
        seeds = {name: values for name, values in score.values.items() if values}
        medians = [statistics.median(values) for values in seeds.values()]
        lows, highs = map(min, seeds.values()), map(max, seeds.values())
        colours = [theme.ACCENT if name in REPEATED else theme.SEGMENT_A for name in seeds]
        digits = 1 if score.unit == "%" else _SEEN
        fig.add(
            "scatter",
            row=row,
            col=column,
            x=medians,
            y=[places[name] for name in seeds],
            mode="markers",
            marker={"size": 8, "color": colours},
            error_x=error_bars(medians, lows, highs, theme.SPECIAL, thickness=2),
            customdata=[theme.escape(name) for name in seeds],
            hovertemplate=f"%{{customdata}}: %{{x:.{digits}f}} {score.unit}<extra></extra>",
            showlegend=False,
        )
        repeated = [value for name in REPEATED for value in seeds.get(name, ())]
        if repeated:
            fig.add_shape(
                row=row,
                col=column,
                type="rect",
                x0=min(repeated),
                x1=max(repeated),
                y0=-0.5,
                y1=len(places) - 0.5,
                fillcolor=theme.ACCENT,
                opacity=0.15,
                line_width=0,
                layer="below",
            )
    theme.plot_layout(fig, "", "", "", height)
    fig.update_xaxes(nticks=4)
    fig.update_yaxes(
        range=[len(places) - 0.5, -0.5],
        tickvals=list(places.values()),
        ticktext=[theme.escape(name) for name in places],
    )
    fig.update_annotations(font={"size": 13})
    fig.update_layout(margin={"t": 44})
    return fig


def equal_time_table(found: EqualTime) -> pd.DataFrame:
    """Return a row for each objective, a column for each score: medians over seeds."""
    table = pd.DataFrame(found.num_tokens.items(), columns=["objective", "tokens"])
    for score in found.scores:
        seeds = [score.values[name] for name in found.objectives]
        medians = [statistics.median(values) if values else None for values in seeds]
        table[f"{score.name}, {score.unit}"] = medians
    return table


EQUAL_TIME = Picture(
    name="objectives-equal-time",
    figure=equal_time_figure,
    table=equal_time_table,
    how=(
        "A dot is an objective's median over {seeds} fine-tuning seeds, the line their range. Pink "
        "is BERT's own recipe, trained twice; a dot within the band of its two runs cannot be "
        "distinguished from it. No dot means that the objective has no such head. All networks had "
        "{layers} layers of width {hidden}, the same text and {minutes:g} minutes on one core, "
        "{low:.1f} to {high:.1f} million tokens, so the order says nothing about long runs: an "
        "objective that learns from more places per step, as ELECTRA does, costs more per step "
        "here. ALBERT's layers share their weights. Lower loss is better; it is measured on BERT's "
        "masks, and 100/0/0, span-sbo and plm were trained on others. Minimal pairs and BLiMP are "
        "scored without fine-tuning."
    ),
    code="""
import json

from bertscope.app_root import find_app_root

# Measured by `python -m benchmarks objectives`, which trains and fine-tunes every row.
file = find_app_root() / "app" / "objectives" / "equal_time.json"
found = json.loads(file.read_text(encoding="utf-8"))
found["rows"]
""",
)


def show_equal_time() -> None:
    """Draw the scores of networks trained with each objective for the same time."""
    st.subheader("Trained for the same time", anchor=False)
    found = measured()
    tokens = [number / 1e6 for number in found.num_tokens.values()]
    settings = found.settings
    EQUAL_TIME.show(
        None,
        found,
        setup="",
        seeds=settings["fine-tuning seeds"],
        layers=settings["layers"],
        hidden=settings["hidden"],
        minutes=settings["minutes"],
        low=min(tokens),
        high=max(tokens),
    )
