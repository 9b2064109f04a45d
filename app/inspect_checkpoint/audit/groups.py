"""The answers to a labelled file by the groups of a column, and the gaps between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from bertcore.analysis.attribution import FileRun
from bertcore.bias import Gap, GroupAudit, audit_groups
from bertcore.bias.group_audit import CANNOT_TELL
from bertcore.bias.group_gaps import LEAST, widest
from bertcore.tasks.column import column_names, column_values

from ...plots.formats import shorten_middle
from ...plots.metric_names import METRIC_NAMES
from ...plots.untrusted_text import plain
from ...shell import frame
from ...shell.jobs import background, waiting
from ...shell.jobs.background import Work
from ...shell.one_of import one_of
from ...shell.picture import Picture
from ...shell.state import Field
from ...task_model.labelled_files import Labelled
from .group_figures import MEANS, Shown, gap_table, group_dots, overall_table, rate_table

NO_COLUMN = ""
COLUMN = Field("inspect_by", NO_COLUMN)
MEASURE = Field("inspect_by_measure", "")
GROUP_LABEL = Field("inspect_by_label", "")
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

GROUPS = Picture(
    name="inspect-groups",
    figure=group_dots,
    table=rate_table,
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
values = column_values(file, model.task, {column!r}, columns=columns)
audit = audit_groups(run, values, {column!r})
audit.rates, audit.gaps
""",
)


def show(
    page: frame.Page, labelled: Labelled, run: FileRun, number: int, code: Mapping[str, Any]
) -> None:
    """Draw the choice of a column, and the answers by its groups.

    Args:
        page: The page.
        labelled: The file.
        run: The answers.
        number: Number of the run.
        code: Fills the braces of the Python.
    """
    st.header("Does it answer groups alike?", anchor=False)
    with frame.guard():
        try:
            names = column_names(labelled.path, run.task, columns=labelled.columns)
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
            _compare(page, labelled, run, number, column, code)


def _compare(
    page: frame.Page,
    labelled: Labelled,
    run: FileRun,
    number: int,
    column: str,
    code: Mapping[str, Any],
) -> None:
    def work(progress: background.Progress) -> GroupAudit:
        progress(0.0, "Comparing the groups")
        values = column_values(labelled.path, run.task, column, columns=labelled.columns)
        return audit_groups(run, values, column)

    key = ("inspect-groups", page.bert_key, labelled, number, run.num_examples, column)
    audit: GroupAudit | None = waiting.result(Work(key, work), GROUPS.name)
    if audit is None:
        return
    for note in audit.notes:
        st.caption(plain(note))
    st.dataframe(overall_table(audit), hide_index=True, width="stretch")
    values = {**code, "column": column, "least": LEAST, "cannot": CANNOT_TELL}
    GROUPS.show(page, _choose(audit), setup="", record=audit, with_caption=False, **values)
    _show_gaps(audit)
    GROUPS.caption(**values)


def _choose(audit: GroupAudit) -> Shown:
    """Draw the choice of a measure, and of a label if it has one."""
    measures = list(dict.fromkeys(rates.measure for rates in audit.rates))
    names = {one: {**METRIC_NAMES, **SHORT_NAMES}.get(one, one) for one in measures}
    measure = one_of("Measure", names, MEASURE, default=measures[0])
    of_measure = {rates.label: rates for rates in audit.rates if rates.measure == measure}
    labels = [label for label in of_measure if label is not None]
    if not labels:
        return Shown(audit, of_measure[None])
    label = st.selectbox(
        "Label",
        labels,
        format_func=shorten_middle,
        key=GROUP_LABEL.key(default=labels[-1], options=labels),
        label_visibility="collapsed",
        width=220,
    )
    return Shown(audit, of_measure[label])


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
    table = gap_table(gaps)
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
