"""The answers to a labelled file by the groups of a column, and the gaps between them."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from bertcore.analysis.attribution import FileRun
from bertcore.bias import Gap, GroupAudit, Rate, Rates, audit_groups
from bertcore.bias.group_audit import CANNOT_TELL
from bertcore.bias.group_gaps import LEAST, widest
from bertcore.tasks.column import column_names, column_values

from ..plots import METRIC_NAMES, plain, shorten, shorten_middle, tabulate, theme, with_interval
from ..plots.cell_table import records
from ..plots.charts import Intervals
from ..shell import Compute, Field, Picture, Progress, cache, frame, one_of, uploads
from ..task_model.file_choice import Labelled

NO_COLUMN = ""
COLUMN = Field("inspect_by", NO_COLUMN)
MEASURE = Field("inspect_by_measure", "")
GROUP_LABEL = Field("inspect_by_label", "")
MEANS = ("mean prediction", "mean error", "mean distance")
"""Measures of scores, which are not fractions."""
MOST_SENTENCES = 3
"""Most gaps that are put in words."""
SHORT_NAMES = {
    "accuracy": "Accuracy",
    "macro F1": "Macro F1",
    "selection rate": "Selection rate",
    "recall": "Recall",
    "false-positive rate": "False positives",
    "mean prediction": "Prediction",
    "mean error": "Error",
    "mean distance": "Distance",
}
"""Names of the measures on buttons."""
COMPARED = {
    "accuracy": "answers are right {gap} more often",
    "demographic parity": "the answer is {label} {gap} more often",
    "equal opportunity": "texts that are {label} are recognised {gap} more often",
    "equalized odds": "texts are rightly, or wrongly, called {label} {gap} more often",
    "mean prediction": "scores are {gap} higher",
    "mean error": "predicted minus true score is {gap} higher",
    "mean distance": "scores are {gap} further from the true ones",
}
"""What a gap says about the highest group compared with the lowest, by measure."""


def _rates(audit: GroupAudit) -> pd.DataFrame:
    """Return a row for each group, measure and label: all that the audit has."""
    rows = []
    for rates in audit.rates:
        for name, rate in zip(audit.names, rates.groups, strict=True):
            about = (audit.column, name, rates.measure, rates.label)
            rows.append((*about, rate.mean, rate.low, rate.high, rate.num_cases))
    return tabulate("column group measure label value low high cases", rows)


GROUPS = Picture(
    name="inspect-groups",
    chart=Intervals(table=_rates, name="group", number="cases", value="value"),
    how=(
        "A dot is a group of the column, with its number of texts in brackets; the line is its 95% "
        "interval, the dotted line all groups together. *Selection rate*: how often the model "
        "gives the label. *Recall*: how often it gives it to texts that have it. *False "
        "positives*: how often it gives it to texts that do not have it. A gap is the highest "
        "group minus the lowest, among groups with at least {least} texts (for recall, with the "
        "label; for false positives, without it); *chance* is the gap that 95% of samples stay "
        "within if the groups do not differ. {cannot}"
    ),
    code="""from pathlib import Path

from bertcore.analysis.attribution import run_file
from bertcore.bias import audit_groups
from bertcore.configs import Columns
from bertcore.tasks import open_task_model
from bertcore.tasks import column_values

model, file = open_task_model({path!r}), Path("my-file")
columns = {columns}
run = run_file(model, file, columns=columns, skip_bad_rows={skip})
values = column_values(file, model.task.name, {column!r}, columns=columns)
audit = audit_groups(run, values, {column!r})
audit.rates, audit.gaps
""",
)


def show(page: frame.Page, labelled: Labelled, run: FileRun, code: Mapping[str, Any]) -> None:
    """Draw the choice of a column, and the answers by its groups.

    Args:
        page: The page.
        labelled: The file.
        run: The answers.
        code: Fills the braces of the Python.
    """
    st.header("Does it answer groups alike?", anchor=False)
    with frame.guard():
        try:
            names: tuple[str, ...] = cache.of_file(
                uploads.read_apart, labelled.path, column_names, run.task.name, labelled.columns
            )
        except ValueError as error:
            st.caption(plain(str(error).replace(repr(str(labelled.path)), "The file")))
            return
        read = {labelled.columns.text, labelled.columns.text_pair, labelled.columns.label}
        options = [NO_COLUMN, *(name for name in names if name and name not in read)]
        column = st.selectbox(
            "A column of groups, such as gender, dialect or source",
            options,
            format_func=lambda name: shorten_middle(name) if name else "(none)",
            key=COLUMN.key(options=options),
            width=420,
        )
        if column != NO_COLUMN:
            _compare(page, labelled, run, column, code)


def _compare(
    page: frame.Page,
    labelled: Labelled,
    run: FileRun,
    column: str,
    code: Mapping[str, Any],
) -> None:
    audit = Compute(name=GROUPS.name)(_audited, labelled, run, column)
    for note in audit.notes:
        st.caption(plain(note))
    st.dataframe(_overall(audit), hide_index=True, width="stretch")
    values = {**code, "column": column, "least": LEAST, "cannot": CANNOT_TELL}
    GROUPS.show(
        page,
        audit,
        drawn=_drawn(_choose(audit)),
        setup="",
        record=audit,
        with_caption=False,
        **values,
    )
    _show_gaps(audit)
    GROUPS.caption(**values)


def _audited(labelled: Labelled, run: FileRun, column: str, *, progress: Progress) -> GroupAudit:
    progress(0.0, "Comparing the groups")
    values = uploads.read_apart(
        labelled.path, column_values, run.task.name, column, columns=labelled.columns
    )
    return audit_groups(run, values, column)


def _choose(audit: GroupAudit) -> Rates:
    """Draw the choice of a measure, and of a label if it has one."""
    measures = list(dict.fromkeys(rates.measure for rates in audit.rates))
    names = {one: {**METRIC_NAMES, **SHORT_NAMES}.get(one, one) for one in measures}
    measure = one_of("Measure", names, MEASURE, default=measures[0])
    of_measure = {rates.label: rates for rates in audit.rates if rates.measure == measure}
    labels = [label for label in of_measure if label is not None]
    if not labels:
        return of_measure[None]
    label = st.selectbox(
        "Label",
        labels,
        format_func=shorten_middle,
        key=GROUP_LABEL.key(default=labels[-1], options=labels),
        label_visibility="collapsed",
        width=220,
    )
    return of_measure[label]


def _drawn(rates: Rates) -> dict[str, Any]:
    """Return the fields of the chart for a measure, and for its label if it has one."""
    return {
        "only": {"measure": rates.measure, "label": rates.label},
        "line": _of_all(rates),
        "is_fraction": rates.measure not in MEANS,
        "x_title": _title(rates),
    }


def _of_all(rates: Rates) -> float | None:
    """Return the rate of all groups together; None for one that is no mean over cases."""
    known = [rate for rate in rates.groups if not math.isnan(rate.mean)]
    cases = sum(rate.num_cases for rate in known)
    if not cases or rates.measure == "macro F1":
        return None
    return sum(rate.mean * rate.num_cases for rate in known) / cases


def _title(rates: Rates) -> str:
    """Return what a figure shows, safe in a figure."""
    if rates.label is None:
        return rates.measure
    return f"{rates.measure} of {theme.escape(shorten(rates.label))}"


def _in_numbers(rate: Rate, measure: str) -> str:
    """Return a rate with its interval."""
    if math.isnan(rate.mean):
        return "none"
    return with_interval(rate.mean, rate.low, rate.high, ".3f" if measure in MEANS else ".1%")


def _overall(audit: GroupAudit) -> pd.DataFrame:
    """Return a row for each group with the measures that belong to no label."""
    overall = [rates for rates in audit.rates if rates.label is None]
    return pd.DataFrame(
        [
            {
                "group": name,
                "examples": audit.num_examples[g],
                **{rates.measure: _in_numbers(rates.groups[g], rates.measure) for rates in overall},
            }
            for g, name in enumerate(audit.names)
        ]
    )


def _show_gaps(audit: GroupAudit) -> None:
    """Draw the gaps in words, those widest beside chance first, and as a table."""
    if not audit.gaps:
        return
    gaps = widest(audit.gaps)
    beyond = [gap for gap in gaps if gap.is_beyond_chance]
    st.subheader("Gaps", anchor=False)
    if not beyond:
        st.markdown(
            "No gap is wider than those that chance opens between groups that do not differ."
        )
    # With two labels a gap in one is that in the other: it is stated once.
    told = {(gap.measure, round(gap.value, 9)): gap for gap in reversed(beyond)}
    for gap in [gap for gap in beyond if gap in told.values()][:MOST_SENTENCES]:
        st.markdown(f"- {gap_in_words(gap)}")
    if beyond:
        st.caption(
            f"Wider than chance: {len(beyond)} of {len(gaps)} gaps. If no group differed, about 1 "
            "in 20 would be."
        )
    column = st.column_config
    are_means = gaps[0].measure in MEANS
    numbers = ["value", "low", "high", "chance"]
    table = records(
        gaps,
        "gap=measure",
        "label",
        *numbers,
        "beyond chance=is_beyond_chance",
        "highest",
        "lowest",
        "groups=num_groups",
    )
    if not are_means:
        table[numbers] *= 100
    if table["label"].isna().all():
        del table["label"]
    form = "%.3f" if are_means else "%.1f%%"
    st.dataframe(
        table.fillna({"label": ""}),
        hide_index=True,
        width="stretch",
        height=min(320, 38 + 35 * len(gaps)),
        column_config={
            **{name: column.NumberColumn(format=form, width=62) for name in numbers},
            "label": column.TextColumn(width=70),
            "beyond chance": column.CheckboxColumn("beyond", width=62),
        },
    )


def gap_in_words(gap: Gap) -> str:
    """Return a gap as a sentence of Markdown."""

    def number(value: float) -> str:
        return f"{value:.3f}" if gap.measure in MEANS else f"{100 * value:.1f}"

    points = "" if gap.measure in MEANS else " points"
    label = f"*{plain(shorten_middle(gap.label))}*" if gap.label else ""
    what = COMPARED[gap.measure].format(label=label, gap=f"**{number(gap.value)}{points}**")
    highest, lowest = (plain(shorten_middle(name)) for name in (gap.highest, gap.lowest))
    return (
        f"{gap.measure.capitalize()}: for **{highest}** {what} than for **{lowest}** "
        f"(95%: {number(gap.low)} to {number(gap.high)}; chance: up to {number(gap.chance)})."
    )
