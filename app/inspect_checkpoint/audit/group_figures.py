"""Figures and tables of the answers by group."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import pandas as pd

from bertcore.bias import Gap, GroupAudit, Rate, Rates

from ...plots import theme
from ...plots.error_bars import error_bars
from ...plots.figure import Figure, scatter
from ...plots.formats import shorten

ROW_PIXELS = 32
_LONGEST_NAME = 30
MEANS = ("mean prediction", "mean error", "mean distance")
"""Measures of scores, which are not fractions."""


class Shown(NamedTuple):
    """One measure by group."""

    audit: GroupAudit
    rates: Rates


def group_dots(result: Shown) -> Figure:
    """Draw a row for each group: its rate with a 95% interval; the dotted line is that of all."""
    audit, rates = result
    there = [g for g, rate in enumerate(rates.groups) if not math.isnan(rate.mean)]
    known = [rates.groups[g] for g in there]
    fig = Figure()
    fig.add_trace(
        scatter(
            x=[rate.mean for rate in known],
            y=there,
            mode="markers",
            marker={"color": theme.SEGMENT_A, "size": 11},
            error_x=error_bars(
                [rate.mean for rate in known],
                [_or(rate.low, rate.mean) for rate in known],
                [_or(rate.high, rate.mean) for rate in known],
                theme.SEGMENT_A,
                thickness=1.6,
            ),
            customdata=[
                [theme.escape(audit.names[g]), in_numbers(rate, rates.measure), rate.num_cases]
                for g, rate in zip(there, known, strict=True)
            ],
            hovertemplate="<b>%{customdata[0]}</b>: %{customdata[1]}, "
            "of %{customdata[2]:,}<extra></extra>",
            showlegend=False,
        )
    )
    cases = sum(rate.num_cases for rate in known)
    if cases and rates.measure != "macro F1":
        mean = sum(rate.mean * rate.num_cases for rate in known) / cases
        fig.add_vline(x=mean, line={"dash": "dot", "color": theme.SPECIAL})
    names = [
        f"{theme.escape(shorten(name, _LONGEST_NAME))} ({rate.num_cases:,})"
        for name, rate in zip(audit.names, rates.groups, strict=True)
    ]
    theme.plot_layout(fig, "", title_of(rates), "", ROW_PIXELS * len(names) + 80)
    fig.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[len(names) - 0.4, -0.6],
        showgrid=False,
    )
    if rates.measure not in MEANS:
        fig.update_xaxes(range=[-0.02, 1.02], tickformat=".0%")
    fig.update_layout(margin_r=24, dragmode=False)  # room for "100%"
    return fig


def _or(end: float, mean: float) -> float:
    """Return the end of an interval, or the mean if a single case has none."""
    return mean if math.isnan(end) else end


def title_of(rates: Rates) -> str:
    """Return what a figure shows, safe in a figure."""
    if rates.label is None:
        return rates.measure
    return f"{rates.measure} of {theme.escape(shorten(rates.label, _LONGEST_NAME))}"


def in_numbers(rate: Rate, measure: str) -> str:
    """Return a rate with its interval."""
    form = ".3f" if measure in MEANS else ".1%"
    if math.isnan(rate.mean):
        return "none"
    if math.isnan(rate.low):
        return f"{rate.mean:{form}}"
    return f"{rate.mean:{form}} ({rate.low:{form}} to {rate.high:{form}})"


def rate_table(result: Shown) -> pd.DataFrame:
    """Return a row for each group, measure and label: all that the audit has."""
    audit = result.audit
    return pd.DataFrame(
        [
            {
                "column": audit.column,
                "group": name,
                "measure": rates.measure,
                "label": rates.label,
                "value": rate.mean,
                "low": rate.low,
                "high": rate.high,
                "cases": rate.num_cases,
            }
            for rates in audit.rates
            for name, rate in zip(audit.names, rates.groups, strict=True)
        ]
    )


def overall_table(audit: GroupAudit) -> pd.DataFrame:
    """Return a row for each group with the measures that belong to no label."""
    overall = [rates for rates in audit.rates if rates.label is None]
    return pd.DataFrame(
        [
            {
                "group": name,
                "examples": audit.num_examples[g],
                **{rates.measure: in_numbers(rates.groups[g], rates.measure) for rates in overall},
            }
            for g, name in enumerate(audit.names)
        ]
    )


def gap_table(gaps: Iterable[Gap]) -> pd.DataFrame:
    """Return a row for each gap, in their order."""
    return pd.DataFrame(
        [
            {
                "gap": gap.measure,
                "label": gap.label,
                "value": gap.value,
                "low": gap.low,
                "high": gap.high,
                "chance": gap.chance,
                "beyond chance": gap.is_beyond_chance,
                "highest": gap.highest,
                "lowest": gap.lowest,
                "groups": gap.num_groups,
            }
            for gap in gaps
        ]
    )
