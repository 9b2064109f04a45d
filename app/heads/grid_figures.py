"""All heads as a grid coloured by one measure, and one head's habits as bars."""

import math

import numpy as np
import pandas as pd

from bertcore.analysis.heads.measures import MEASURES
from bertcore.analysis.heads.report import HeadReport
from bertcore.analysis.heads.syntax import DIRECTIONS

from ..plots import BERT, Figure, SpecialTokens, error_bars, theme
from ..plots.before_after import head_table
from ..plots.cells import clickable_heads, heat_from_zero
from ..plots.special_tokens import relabelled
from .names import HABITS, NamedMeasure, relation_title

NOT_A_NUMBER = "not a number: no sentence has it, or the weights contain NaN"


def head_grid(
    report: HeadReport,
    measured: NamedMeasure,
    *,
    opened: tuple[int, int] | None,
    marks: SpecialTokens = BERT,
) -> Figure:
    """Return the grid: rows are layers, columns heads, colour the mean of a measure.

    Args:
        opened: The framed head, or None.
        marks: The special tokens of the checkpoint.

    A transparent point covers each cell: these points can be clicked, and carry "layer.head" as
    `customdata`.
    """
    values = measured.values(report)
    num_layers, num_heads = values.mean.shape
    layers, heads = np.divmod(np.arange(num_layers * num_heads), num_heads)
    words = [
        f"<b>layer {layer} head {head}</b><br>{interval_text(measured, report, layer, head)}"
        for layer, head in zip(layers.tolist(), heads.tolist(), strict=True)
    ]
    times, digits = (100, "{:.0f}") if measured.is_fraction else (1, "{:.1f}")
    heat = heat_from_zero(values.mean, times * values.mean, num_heads, "", digits)
    heat["colorbar"] = {"tickformat": ".0%" if measured.is_fraction else ".1f", "thickness": 12}
    fig = clickable_heads(
        heat,
        values.mean.shape,
        size=max(6.0, min(34.0, 300 / max(num_layers, num_heads))),
        words=words,
        hover="%{text}<extra></extra>",
        opened=opened,
    )
    title = f"Attends to: {measured.title}" if measured.name in HABITS else measured.title
    height = grid_height(report)
    theme.plot_layout(fig, theme.escape(title), "head", "layer", height)
    fig.update_xaxes(constrain="domain")
    return relabelled(fig, marks)


def head_bars(report: HeadReport, layer: int, head: int, *, marks: SpecialTokens = BERT) -> Figure:
    """Return a head's habits as bars with their intervals, and what a uniform head would have.

    Without `evenness`, which is not a fraction of the attention.
    """
    names, means, lows, highs, uniform, words = [], [], [], [], [], []
    for name in reversed(HABITS):
        measured = NamedMeasure(name)
        mean, low, high = (float(part[layer, head]) for part in measured.values(report))
        if math.isnan(mean) or name == "evenness":  # entropy, not a part of the attention
            continue
        names.append(theme.escape(measured.title))
        means.append(mean)
        lows.append(mean if math.isnan(low) else low)
        highs.append(mean if math.isnan(high) else high)
        uniform.append(measured.baseline(report))
        words.append(interval_text(measured, report, layer, head))
    fig = Figure()
    fig.add(
        "bar",
        x=means,
        y=names,
        orientation="h",
        name="this head",
        marker_color=theme.SEGMENT_A,
        error_x=error_bars(means, lows, highs, theme.SPECIAL, thickness=1.5, width=4),
        text=words,
        textposition="none",
        hovertemplate="<b>%{y}</b><br>%{text}<extra></extra>",
    )
    fig.add(
        "scatter",
        x=uniform,
        y=names,
        mode="markers",
        name="a head that attends to all tokens alike",
        marker={
            "symbol": "line-ns-open",
            "size": 13,
            "color": theme.SEGMENT_B,
            "line": {"width": 2.5},
        },
        hovertemplate="all alike: %{x:.1%}<extra></extra>",
    )
    title = f"What layer {layer} head {head} attends to"
    theme.plot_layout(fig, title, "fraction of its attention", "", 400)
    fig.update_layout(height=grid_height(report), hovermode="closest")
    fig.update_layout(legend={"y": -0.2, "yanchor": "top", "x": 0, "xanchor": "left"})
    fig.update_xaxes(range=[0, 1.02], tickformat=".0%")
    return relabelled(fig, marks)


def grid_height(report: HeadReport) -> int:
    """Return the height of the grid, and of the bars beside it, in pixels."""
    num_layers = report.statistics.means.mean.shape[0]
    return int(min(640, max(380, 110 + 34 * num_layers)))


def interval_text(measured: NamedMeasure, report: HeadReport, layer: int, head: int) -> str:
    """Return a value with its interval and number of cases, in words."""
    mean = float(measured.values(report).mean[layer, head])
    if math.isnan(mean):
        return NOT_A_NUMBER
    return f"{_written(measured, mean)} ({uncertainty(measured, report, layer, head)})"


def uncertainty(measured: NamedMeasure, report: HeadReport, layer: int, head: int) -> str:
    """Return the interval of a value and its number of cases, in words."""
    _, low, high = (float(part[layer, head]) for part in measured.values(report))
    count = count_text(measured, report)
    if math.isnan(low):
        return f"{count}: too few for an interval"
    return f"95%: {_written(measured, low)} to {_written(measured, high)}; {count}"


def count_text(measured: NamedMeasure, report: HeadReport) -> str:
    """Return the number of sentences or cases, in words."""
    number = measured.count(report)
    return f"{number:,} {'case' if measured.direction else 'sentence'}{'s' * (number != 1)}"


def _written(measured: NamedMeasure, value: float) -> str:
    return f"{value:.1%}" if measured.is_fraction else f"{value:.2f}"


def grid_table(report: HeadReport, measured: NamedMeasure) -> pd.DataFrame:
    """Return the table of the measures, or of the relations if one of these is drawn."""
    return (relations_table if measured.direction else measures_table)(report)


def habits_table(report: HeadReport, layer: int, head: int) -> pd.DataFrame:
    """Return the rows of `measures_table` of one head."""
    table = measures_table(report)
    return table[(table["layer"] == layer) & (table["head"] == head)]


def measures_table(report: HeadReport) -> pd.DataFrame:
    """Return one row for each head and measure: mean, interval, uniform head, sentences."""
    tables, statistics = [], report.statistics
    for name in MEASURES:
        index = MEASURES.index(name)
        table = head_table(statistics.of(name)._asdict())
        table.insert(2, "measure", name)
        uniform, number = float(statistics.uniform[index]), int(statistics.num_sentences[index])
        tables.append(table.assign(uniform=uniform, sentences=number))
    return pd.concat(tables, ignore_index=True)


def relations_table(report: HeadReport) -> pd.DataFrame:
    """Return one row for each relation, direction and head: accuracy, interval, baseline."""
    tables, scores = [], report.scores
    for relation in scores.relations:
        for direction in DIRECTIONS:
            num_cases = scores.cases(relation, direction)
            if not num_cases:
                continue
            offset, baseline = scores.baseline(relation, direction)
            mean, low, high = scores.accuracy(relation, direction)
            table = head_table({"accuracy": mean, "low": low, "high": high})
            table.insert(0, "relation", relation)
            table.insert(1, "meaning", relation_title(relation))
            table.insert(2, "direction", direction)
            fixed = {"fixed_offset": offset, "fixed_offset_accuracy": baseline}
            tables.append(table.assign(**fixed, cases=num_cases))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
