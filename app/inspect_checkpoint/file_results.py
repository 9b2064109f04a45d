"""A labelled file: metrics, confusion, calibration, slices, and the worst errors."""

import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.attribution import FileRun, MetricTable, WrongAnswer
from bertcore.evaluation.breakdown import Calibration, Slice
from bertcore.tasks.model import TaskModel

from ..component import clicked_row, hear
from ..plots import METRIC_NAMES, Figure, error_bars, subplots, tabulate, theme
from ..plots.charts import Intervals
from ..shell import TEXT_A, TEXT_B, Compute, Field, Picture, cache, frame, one_of
from ..shell.jobs.waiting import Pending
from ..shell.links import short_address
from ..task_model.choices import LABEL, PREDICTED, READ_PAIR, TEXT_CHOICES, VIEW, WORD
from ..task_model.file_choice import Labelled, Stop, answer_file, choose_file, show_notes
from ..task_model.model import FILE_CODE, Inputs, TaskKey
from ..task_model.score_figures import error_table
from ..task_model.task_views import TaskView, view_of


def reliability(calibration: Calibration) -> Figure:
    """Draw how often answers of each confidence are right, and how many there are."""
    middle = (calibration.edges[:-1] + calibration.edges[1:]) / 2
    width = float(calibration.edges[1] - calibration.edges[0])
    fig = subplots(2, 1, row_heights=[0.74, 0.26], shared_xaxes=True, vertical_spacing=0.06)
    fig.add(
        "scatter",
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        line={"color": theme.SPECIAL, "dash": "dot"},
        hoverinfo="skip",
        name="perfect calibration",
        row=1,
        col=1,
    )
    fig.add(
        "bar",
        x=middle,
        y=calibration.accuracy,
        width=width * 0.92,
        marker={"color": theme.SEGMENT_A, "opacity": 0.5, "line_width": 0},
        error_y=error_bars(calibration.accuracy, calibration.low, calibration.high, theme.SPECIAL),
        customdata=np.column_stack([calibration.confidence, calibration.counts]),
        hovertemplate="confidence %{customdata[0]:.3f}: %{y:.1%} of %{customdata[1]:,} "
        "right<extra></extra>",
        name="right",
        row=1,
        col=1,
    )
    fig.add(
        "scatter",
        x=calibration.confidence,
        y=calibration.accuracy,
        mode="markers",
        marker={"color": theme.ACCENT, "size": 7},
        hoverinfo="skip",
        name="mean confidence",
        row=1,
        col=1,
    )
    fig.add(
        "bar",
        x=middle,
        y=calibration.counts,
        width=width * 0.92,
        marker={"color": theme.SPECIAL, "line_width": 0},
        hovertemplate="%{y:,} answers<extra></extra>",
        showlegend=False,
        row=2,
        col=1,
    )
    theme.plot_layout(fig, "", "", "", 400)
    fig.update_xaxes(range=[0, 1], showgrid=False, tickformat=".0%")
    fig.update_xaxes(title_text="confidence", row=2)
    fig.update_yaxes(title_text="fraction right", range=[0, 1.02], tickformat=".0%", row=1)
    fig.update_yaxes(title_text="answers", row=2, nticks=3)
    fig.update_layout(margin={"t": 30, "r": 24})  # room for "100%"
    return fig


def calibration_table(calibration: Calibration) -> pd.DataFrame:
    """Return a row for each bin."""
    return pd.DataFrame(
        {
            "from": calibration.edges[:-1],
            "to": calibration.edges[1:],
            "answers": calibration.counts,
            "confidence": calibration.confidence,
            "right": calibration.accuracy,
            "low": calibration.low,
            "high": calibration.high,
        }
    )


_RUN = "_inspect_run"
SLICES = Field("inspect_slices", "length")
SLICE_NAMES = {"length": "By length", "label": "By true label"}
PAGES = {"attention": "Attention", "what-if": "What if?"}
"""Pages that each error links to, named to fit the columns of the links."""
_WIDTHS = {"row": 55, "text": 285, "pair": 205, "label": 75, "severity": 92, "link": 72}
"""Pixels of the columns of errors: a window of 1,280 shows a text, its labels and its links."""
_LONG_ANSWER = 125
"""Pixels of an answer that is a word with its tag, or some words of a text."""


def _slices(slices: Mapping[str, Sequence[Slice]]) -> pd.DataFrame:
    """Return a row for each slice."""
    return tabulate(
        "by slice number mean low high",
        (
            (by, s.name, s.number, s.mean, s.low, s.high)
            for by, groups in slices.items()
            for s in groups
        ),
    )


CALIBRATION = Picture(
    name="inspect-calibration",
    figure=reliability,
    table=calibration_table,
    how=(
        "Answers are grouped into ten bins by confidence. A bar is the fraction of right answers "
        "in its bin, with its 95% interval, and the pink dot is at the mean confidence of all "
        "answers in the bin. On the dotted line confidence equals the fraction of right answers; "
        "below it the model is overconfident. Expected calibration error, the mean gap: {ece}; "
        "the largest gap: {mce} (Guo et al. 2017)."
    ),
    code=FILE_CODE,
)
SLICE_MEANS = Picture(
    name="inspect-slices",
    chart=Intervals(table=_slices, name="slice", number="number", value="mean", includes_zero=True),
    how=(
        "The same answers in groups, with their number in brackets. Thin lines are 95% intervals, "
        "the dotted line is the mean of all answers. A group is weak if its whole interval is on "
        "the bad side of the dotted line."
    ),
    code=FILE_CODE,
)
ERRORS = Picture(
    name="inspect-errors",
    table=lambda errors: error_table(*errors),
    how=(
        "{which} ({shown}). They show best what the model has learned wrongly, or where the file "
        "has a wrong {answer}. Click the box at the left of a row to see why: the text opens in "
        "*One text* and on all other pages. *open* shows it on another page, in a new tab."
    ),
    code=FILE_CODE,
)


def show(page: frame.Page, model: TaskModel) -> None:
    """Draw the choice of a file, its run, and the results."""
    view = view_of(model.task)
    chosen = choose_file(view, page.bert_key.source, model.labels)
    if chosen is None:
        return
    running: tuple[cache.BertKey, Labelled, Stop, int] | None = st.session_state.get(_RUN)
    number = 0 if running is None else running[3] + 1
    row = st.container(horizontal=True, vertical_alignment="center")
    if row.button("Run the file", type="primary", icon=":material/play_arrow:"):
        running = (page.bert_key, chosen, Stop(), number)
        st.session_state[_RUN] = running
    if running is None or running[0] != page.bert_key:
        return
    key, labelled, stop, number = running
    if labelled != chosen:
        st.caption("Below is the last run. Run the file to update it.")
    try:
        run = Compute(name="inspect-file")(answer_file, TaskKey(key), labelled, stop, number)
    except Pending:
        label = "Stop and keep the results so far"
        row.button(label, key="stop_keep", on_click=stop.wanted.set)
        raise
    _draw(page, view, labelled, run)


def _draw(page: frame.Page, view: TaskView, labelled: Labelled, run: FileRun) -> None:
    if not run.is_whole:
        st.warning(f"Stopped: the results below are for the first {run.num_examples:,} examples.")
    show_notes(run.notes)
    code = {
        "path": page.bert_key.source,
        "columns": labelled.columns,
        "skip": labelled.skip_bad_rows,
    }
    metrics = run.metrics()
    _show_metrics(run, metrics, {**METRIC_NAMES, **view.metric_names})
    left, right = st.container(key="inspect_run").columns(2, gap="large")
    with left:
        view.show_file(page, run, metrics, code)
    with right if view.beside_calibration else left:
        _show_calibration(page, run, code)
    with st.container() if view.beside_calibration else right:
        _show_slices(page, view, run, code)
    _show_errors(page, view, run, code)


def _show_metrics(run: FileRun, metrics: MetricTable, names: Mapping[str, str]) -> None:
    num = run.num_examples
    st.header("1 example" if num == 1 else f"{num:,} examples", anchor=False)
    row = st.container(horizontal=True, gap="large", key="inspect_metrics")
    for name, value in metrics.metrics.items():
        low, high = metrics.intervals[name]
        box = row.container(width="content", gap=None)
        box.metric(names.get(name, name), f"{value:.3f}", width="content")
        if not math.isnan(low):  # of a single example
            box.caption(f"95%: {low:.3f} to {high:.3f}")


def _show_calibration(page: frame.Page, run: FileRun, code: dict[str, Any]) -> None:
    """Draw the calibration curve, if answers have a confidence."""
    calibrated = run.calibration()
    if calibrated is None:
        return
    st.header("Calibration", anchor=False)
    CALIBRATION.show(
        page,
        calibrated,
        setup="",
        ece=f"{calibrated.expected_error:.3f}",
        mce=f"{calibrated.largest_error:.3f}",
        **code,
    )


def _show_slices(page: frame.Page, view: TaskView, run: FileRun, code: dict[str, Any]) -> None:
    st.header("Where is it weak?", anchor=False)
    slices = {"length": run.slices_by_length()}
    if by_label := run.slices_by_label():
        slices["label"] = by_label
    SLICES.key(options=list(slices))
    drawn = {
        "only": {"by": SLICES.value},
        "line": float(run.quality.mean()),
        "is_fraction": view.is_fraction,
        "x_title": view.quality,
    }
    SLICE_MEANS.show(page, slices, drawn=drawn, setup="", with_caption=False, **code)
    if len(slices) > 1:
        one_of("Slices", {name: SLICE_NAMES[name] for name in slices}, SLICES)
    SLICE_MEANS.caption()


def _show_errors(page: frame.Page, view: TaskView, run: FileRun, code: dict[str, Any]) -> None:
    errors = view.errors
    st.header(errors.title, anchor=False)
    if not run.errors:
        st.success("No answer is wrong.")
        return
    table = error_table(run.errors, errors.severity)
    links = table.assign(
        **{
            title: [
                short_address(name, page.bert_key, error.text, error.text_pair)
                for error in run.errors
            ]
            for name, title in PAGES.items()
        }
    )

    text_width = _WIDTHS["pair" if "second text" in table else "text"]
    answer_width = _LONG_ANSWER if errors.is_long else _WIDTHS["label"]
    column = st.column_config
    st.dataframe(
        links,
        hide_index=True,
        width="stretch",
        height=min(420, 38 + 35 * len(links)),
        key="inspect_errors",
        on_select=hear("inspect_errors", clicked_row, lambda row: _open(page, run.errors[row])),
        selection_mode="single-row",
        column_config={
            "row": column.NumberColumn(width=_WIDTHS["row"]),
            "true": column.TextColumn(width=answer_width),
            "predicted": column.TextColumn(width=answer_width),
            "text": column.TextColumn(width=text_width),
            "second text": column.TextColumn(width=text_width),
            errors.severity: column.NumberColumn(
                format="percent" if errors.is_probability else "%.2f", width=_WIDTHS["severity"]
            ),
            **{
                title: column.LinkColumn(display_text="open", width=_WIDTHS["link"])
                for title in PAGES.values()
            },
        },
    )
    ERRORS.offer(
        page,
        (run.errors, errors.severity),
        setup="",
        which=errors.which,
        answer=errors.answer,
        shown=f"{len(run.errors):,} of {run.num_errors:,}",
        **code,
    )


def _open(page: frame.Page, error: WrongAnswer) -> None:
    """Show a text of the file in the view of one text, and on all other pages."""
    TEXT_A.put(error.text)
    TEXT_B.put(error.text_pair or "")
    VIEW.put("text")
    LABEL.put(PREDICTED)
    if error.text_pair is not None:
        READ_PAIR.put(True)
    for field, choice in zip_longest(TEXT_CHOICES, error.choices[: len(TEXT_CHOICES)]):
        if error.choices:
            field.put(choice or "")
    word = PREDICTED
    if error.word is not None:
        before = error.text.split(" ")[: error.word]
        start = sum(map(len, before)) + len(before)
        source = Inputs(page.bert_key, error.text, None).stands_for
        offsets = source.encoding.offsets
        ends = {place: offsets[source.words[place].end - 1][1] for place in source.text_words}
        word = next((place for place, end in ends.items() if start < end), PREDICTED)
    WORD.put(word)
