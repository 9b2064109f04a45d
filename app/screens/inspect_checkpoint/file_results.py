"""A labelled file: its choice, its run, metrics, confusion, calibration, slices, and errors."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from bertcore.analysis.attribution import FileRun, FileWords, WrongAnswer, explain_file, run_file
from bertcore.configs import Columns
from bertcore.data.guess import guess
from bertcore.model.checkpoints.source import FINE_TUNED, labelled_file
from bertcore.training.tasks.model import TaskModel
from bertcore.training.tasks.read import read_parts, send_parts
from bertcore.training.tasks.task import Task

from ...parts.component import clicked_row, hear
from ...plots import METRIC_NAMES, plain, shorten_middle
from ...shell import (
    TEXT_A,
    TEXT_B,
    Compute,
    Field,
    Progress,
    UploadSource,
    cache,
    frame,
    offer,
    show,
)
from ...shell.browser.signals import go_to_top
from ...shell.uploads.on_disk import Copy, named, naming, process_of, read_apart
from ...shell.words import tr
from ...sources.labelled_file import MAX_MEGABYTES, choose_label_map, show_notes
from ...view import View
from . import views
from .tasks import LABEL, OPENED, PREDICTED, READ_PAIR, TASK_VIEWS, TEXT_CHOICES, WORD, TaskView

USUAL_COLUMN = "(as found)"
JOINT_COLUMNS = "(a column for each label)"
SKIP_BAD_ROWS = Field("inspect_skip", False)
LABEL_MAP = Field("label_map", "")
"""What labels of the file stand for, as `Columns.label_map` takes it."""
COLUMNS = {name: Field(f"column_{name}", USUAL_COLUMN) for name in ("text", "text_pair", "label")}
"""Which column of a file is read, by field of `Columns`."""
_RUN, _SHOWN = "_inspect_run", "_inspect_shown"
SLICES_OPEN = Field("inspect_weak", False)
WORDS_OPEN = Field("inspect_file_words", False)
MOST_EXPLAINED = 1000
"""Rows whose words are explained here; `bertscope evaluate --attributions` takes all."""
DEV_DATA = "the dev data of `{source}`, on which its best checkpoint was chosen"
EXAMPLES = {"qa": "30 questions written for `{source}`, which learned from none of them"}
"""What ships beside a checkpoint, where it is not its dev data."""
QUALITIES = {
    "multilabel": "mean F1 of a text's labels",
    "regress": "mean distance from the true score",
    "tag": "right tags",
    "qa": "mean F1",
}
"""What slices are the mean of, where it is not the fraction of right answers."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A file to run and how to read it."""

    path: Path
    name: str
    """What the visitor calls it."""
    columns: Columns
    skip_bad_rows: bool

    @property
    def call(self) -> tuple[str, Columns, bool]:
        """The first arguments of the views."""
        return self.name, self.columns, self.skip_bad_rows


def answer_file(model: TaskModel, chosen: Labelled, number: int, *, progress: Progress) -> FileRun:
    """Return the answers to a file.

    Args:
        model: The fine-tuned model.
        chosen: The file.
        number: A new number runs it again.
    """
    progress(0.0, "Reading the file")

    def on_rows(done: int) -> None:
        progress(0.0, f"{done:,} examples so far")

    with naming(chosen.path, chosen.name):
        done = run_file(
            model,
            chosen.path,
            columns=chosen.columns,
            skip_bad_rows=chosen.skip_bad_rows,
            read=_read_parts,
            on_rows=on_rows,
        )
    return replace(done, notes=tuple(named(n, chosen.path, chosen.name) for n in done.notes))


def _read_parts(path: Path, task: Task, **options: Any) -> Iterator[Any]:
    """Read a file as `read_parts` does, a large upload in a process that waits for the network."""
    apart = process_of(path)
    if apart is None:
        return read_parts(path, task, **options)
    limits = replace(apart.limits, seconds=None)
    parts: Iterator[Any] = replace(apart, limits=limits).parts(
        send_parts, path, task.name, **options
    )
    return parts


def choose_file(view: TaskView, source: str, labels: tuple[str, ...]) -> Labelled | None:
    """Draw the upload of a file and how to read it; a shipped checkpoint brings its own file.

    The last upload stays chosen, on every page that asks for a labelled file.

    Args:
        view: View of the task.
        source: Source of the checkpoint.
        labels: Labels of the model.

    ValueError, OSError or RuntimeError if the file cannot be read.
    """
    box = UploadSource(
        key="inspect_upload",
        label=view.upload,
        megabytes=MAX_MEGABYTES,
        most=MAX_MEGABYTES * 10**6,
        instead="Upload a part of it.",
        read=itemgetter(0),
        about=lambda copy: shorten_middle(copy.name, 60),
    )
    upload: Copy | None = box.choose()
    if upload is None:
        st.caption(
            f"{view.files}. The file stays on this server and is read a few thousand rows at a "
            "time. In a terminal, `bertscope evaluate` does the same."
        )
        if source not in FINE_TUNED:
            return None
        st.markdown(f"**Example:** {EXAMPLES.get(source, DEV_DATA).format(source=source)}.")
    path = labelled_file(source) if upload is None else upload.path
    name = path.name if upload is None else upload.name
    try:
        with naming(path, name):
            dialect = cache.of_file(read_apart, path, guess).dialect
            names = view.column_names(path)
    except ValueError as error:
        if upload is not None:
            box.refuse(error)
        raise
    if upload is not None and dialect:
        st.caption(plain(f"{shorten_middle(name, 60)} is read as {dialect}."))
    columns = _columns(view, names, view.joint_columns(names, labels))
    if labels:
        columns = replace(columns, label_map=choose_label_map(LABEL_MAP))
    skip = st.toggle(tr("Leave out rows that cannot be read"), key=SKIP_BAD_ROWS.key())
    return Labelled(path, name, columns, skip)


def _columns(view: TaskView, names: tuple[str, ...], joint: str | None) -> Columns:
    """Draw the choice of columns, if any; `joint` is the label over several, the default."""
    if not names:
        return Columns()
    row = st.container(horizontal=True)
    picked: dict[str, str | None] = {}
    for field, title in view.columns.items():
        is_joint = field == "label" and joint is not None
        options = [joint] * is_joint + [USUAL_COLUMN, *names]
        column = row.selectbox(
            title,
            options,
            format_func=lambda name: JOINT_COLUMNS if name == joint else shorten_middle(name),
            key=COLUMNS[field].key(default=options[0], options=options),
            width=220,
        )
        picked[field] = None if column == USUAL_COLUMN else column
    return Columns(**picked)


def words_of_file(model: TaskModel, chosen: Labelled, *, progress: Progress) -> FileWords:
    """Return the attributions of the first MOST_EXPLAINED rows of a file."""
    with naming(chosen.path, chosen.name):
        done = explain_file(
            model,
            chosen.path,
            columns=chosen.columns,
            skip_bad_rows=chosen.skip_bad_rows,
            most_rows=MOST_EXPLAINED,
            read=_read_parts,
            on_fraction=lambda fraction: progress(fraction, "Explaining the rows"),
        )
    return replace(done, notes=tuple(named(n, chosen.path, chosen.name) for n in done.notes))


@frame.closed(
    "How good is it on a labelled file?", OPENED, SLICES_OPEN, WORDS_OPEN, LABEL_MAP, at="file"
)
def show_file(page: frame.Page) -> None:
    """Draw the choice of a file, its run, and the results."""
    if st.session_state.pop(_SHOWN, False):
        go_to_top()
        st.rerun()  # a row was clicked, and its text is above
    model = page.task_model
    view = TASK_VIEWS[model.task.name]
    chosen = choose_file(view, page.bert_key.source, model.labels)
    if chosen is None:
        return
    show_run(page, chosen)
    if model.task.head_kind == "sequence":
        show_file_words(page, chosen)


def show_run(page: frame.Page, chosen: Labelled) -> None:
    """Draw the run of a file and its results."""
    running: tuple[cache.BertKey, Labelled, int] | None = st.session_state.get(_RUN)
    if st.button(tr("Run the file"), type="primary", icon=":material/play_arrow:"):
        running = (page.bert_key, chosen, 0 if running is None else running[2] + 1)
        st.session_state[_RUN] = running
    if running is None or running[0] != page.bert_key:
        return
    _, labelled, number = running
    if labelled != chosen:
        st.caption(tr("Below is the last run. Run the file to update it."))
    run = run_of(page, labelled, number)
    show_notes(run.notes)
    _show_metrics(run)
    pictures = [views.LABEL_SCORES] if run.task == "multilabel" else []
    pictures += [views.SCORES] if run.task == "regress" else [views.CALIBRATION]
    pictures[:0] = [views.CONFUSION] if run.metrics().confusion is not None else []
    columns = st.container(key="inspect_run").columns(2, gap="large")
    for column, picture in zip(columns, pictures, strict=False):
        with column:
            st.header(tr(picture.question), anchor=False)
            draw_run(picture, page, labelled, run)
    _show_errors(page, labelled, run)
    show_slices(page, labelled, number)


def run_of(page: frame.Page, labelled: Labelled, number: int) -> FileRun:
    """Return the answers to a file, computed once."""
    key = cache.TaskKey(page.bert_key)
    return Compute(name="inspect-file")(answer_file, key, labelled, number)


def draw_run(
    view: View[FileRun], page: frame.Page, labelled: Labelled, run: FileRun, **options: Any
) -> None:
    """Draw a view of a run."""
    show(view, page, *labelled.call, compute=lambda *_, **named: run, **options)


@frame.closed(views.SLICES.question, SLICES_OPEN)
def show_slices(page: frame.Page, labelled: Labelled, number: int) -> None:
    """Draw the quality of answers in groups."""
    run = run_of(page, labelled, number)
    drawn: dict[str, Any] = {"line": float(run.quality.mean())}
    if run.task in QUALITIES:
        drawn["x_title"] = QUALITIES[run.task]
    if run.task == "regress":
        drawn |= {"is_fraction": False, "includes_zero": True}
    draw_run(views.SLICES, page, labelled, run, drawn=drawn)


@frame.closed(views.FILE_WORDS.question, WORDS_OPEN)
def show_file_words(page: frame.Page, chosen: Labelled) -> None:
    """Draw the words that add most to each class, and to wrong answers, over all rows."""

    def compute(*_: Any, **__: Any) -> FileWords:
        key = cache.TaskKey(page.bert_key)
        return Compute(name="inspect-words-of-file")(words_of_file, key, chosen)

    call = (*chosen.call, MOST_EXPLAINED)
    explained = show(views.FILE_WORDS, page, *call, compute=compute, with_json=True)
    show_notes(() if explained is None else explained.notes)


def _show_metrics(run: FileRun) -> None:
    metrics, names = run.metrics(), METRIC_NAMES
    if run.task == "multilabel":
        names = {**names, "accuracy": "Exact match"}
    num = run.num_examples
    st.header("1 example" if num == 1 else f"{num:,} examples", anchor=False)
    row = st.container(horizontal=True, gap="large", key="inspect_metrics")
    for name, value in metrics.metrics.items():
        low, high = metrics.intervals[name]
        box = row.container(width="content", gap=None)
        box.metric(names.get(name, name), f"{value:.3f}", width="content")
        if not math.isnan(low):  # of a single example
            box.caption(f"95%: {low:.3f} to {high:.3f}")


def _show_errors(page: frame.Page, labelled: Labelled, run: FileRun) -> None:
    """Draw the worst errors as a table with links; a click opens a text."""
    st.header(tr(views.ERRORS.question), anchor=False)
    if not run.errors:
        st.success(tr("No answer is wrong."))
        return
    table = views.ERRORS.table(run)
    assert isinstance(table, pd.DataFrame)
    column, has_pair = st.column_config, "second text" in table
    wide = column.TextColumn(width="medium" if has_pair else "large")
    form = "%.2f" if run.task == "regress" else "percent"
    narrow = dict.fromkeys(("true", "predicted"), column.TextColumn(width="small"))
    st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        height=min(420, 38 + 35 * len(table)),
        key="inspect_errors",
        on_select=hear("inspect_errors", clicked_row, lambda row: _open(page, run.errors[row])),
        selection_mode="single-row",
        column_config={
            "row": column.NumberColumn(width="small"),
            "text": wide,
            "second text": wide,
            views.severity(run): column.NumberColumn(format=form, width="small"),
            **narrow,
        },
    )
    st.caption(
        tr(
            "Click the box at the left of a row to see why: its text opens above and on all other "
            "pages."
        )
    )
    offer(views.ERRORS, page, run, *labelled.call)


def _open(page: frame.Page, error: WrongAnswer) -> None:
    """Show a text of the file in the view of one text, and on all other pages."""
    TEXT_A.put(error.text)
    TEXT_B.put(error.text_pair or "")
    st.session_state[_SHOWN] = True
    LABEL.put(PREDICTED)
    if error.text_pair is not None:
        READ_PAIR.put(True)
    for field, choice in zip_longest(TEXT_CHOICES, error.choices[: len(TEXT_CHOICES)]):
        if error.choices:
            field.put(choice or "")
    WORD.put(PREDICTED)
