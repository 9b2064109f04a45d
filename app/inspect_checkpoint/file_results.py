"""A labelled file: its choice, its run, metrics, confusion, calibration, slices, and errors."""

import dataclasses
import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import Any

import streamlit as st

from bertcore.analysis.attribution import FileRun, WrongAnswer, run_file, task_input
from bertcore.checkpoints.source import FINE_TUNED, labelled_file
from bertcore.configs import Columns
from bertcore.data.columnar import is_columnar
from bertcore.data.files import open_bytes
from bertcore.data.guess import guess
from bertcore.tasks.model import TaskModel
from bertcore.tasks.read import read_parts, send_parts
from bertcore.tasks.task import Task

from ..component import clicked_row, hear
from ..plots import METRIC_NAMES, plain, shorten_middle
from ..shell import (
    TEXT_A,
    TEXT_B,
    Compute,
    Field,
    Progress,
    UploadSource,
    cache,
    caption,
    frame,
    offer,
    one_of,
    show,
)
from ..shell.jobs.waiting import Pending
from ..shell.links import short_address
from ..shell.uploads import Copy, named, naming, process_of, read_apart
from ..task_model.labelled_file import MAX_MEGABYTES, choose_label_map, show_notes
from ..view import View
from .choices import LABEL, PREDICTED, READ_PAIR, TEXT_CHOICES, VIEW, WORD
from .tasks import TASK_VIEWS, TaskView
from .views import (
    CALIBRATION,
    CONFUSION,
    ERRORS,
    LABEL_SCORES,
    SCORES,
    SLICES,
    error_table,
    severity,
)

_BLOCK = 1 << 20
_ROW_BYTES = 100
"""About those of a row of texts in Parquet."""
USUAL_COLUMN = "(as found)"
JOINT_COLUMNS = "(a column for each label)"
SKIP_BAD_ROWS = Field("inspect_skip", False)
LABEL_MAP = Field("label_map", "")
"""What labels of the file stand for, as `Columns.label_map` takes it."""
COLUMNS = {name: Field(f"column_{name}", USUAL_COLUMN) for name in ("text", "text_pair", "label")}
"""Which column of a file is read, by field of `Columns`."""
_RUN = "_inspect_run"
SLICES_OPEN = Field("inspect_weak", False)
SLICE = Field("inspect_slices", "length")
SLICE_NAMES = {"length": "By length", "label": "By true label"}
PAGES = {"attention": "Attention", "what-if": "What if?"}
"""Pages that each error links to, named to fit the columns of the links."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A file to run and how to read it."""

    path: Path
    name: str
    """What the visitor calls it."""
    columns: Columns
    skip_bad_rows: bool


@dataclass(slots=True, eq=False)
class Stop:
    """A visitor's request to stop a run and keep the results so far."""

    wanted: threading.Event = dataclasses.field(default_factory=threading.Event)


def answer_file(
    model: TaskModel, chosen: Labelled, stop: Stop, number: int, *, progress: Progress
) -> FileRun:
    """Return the answers to a file.

    Args:
        model: The fine-tuned model.
        chosen: The file.
        stop: Set to stop it and keep the results so far.
        number: A new number runs it again.
    """
    progress(0.0, "Reading the file")
    total = rough_number(chosen.path, TASK_VIEWS[model.task.name].marks)

    def on_rows(done: int) -> None:
        progress(min(1.0, done / max(1, total)), f"{done:,} of about {total:,} examples")

    with naming(chosen.path, chosen.name):
        done = run_file(
            model,
            chosen.path,
            columns=chosen.columns,
            skip_bad_rows=chosen.skip_bad_rows,
            read=_read_parts,
            on_rows=on_rows,
            should_stop=stop.wanted.is_set,
        )
    return replace(done, notes=tuple(named(n, chosen.path, chosen.name) for n in done.notes))


def rough_number(path: Path, marks: Sequence[bytes]) -> int:
    """Return about how many examples a file has, for the progress.

    Args:
        marks: What it has about once for each example.
    """
    with open_bytes(path) as file:
        start = file.read(_BLOCK)
        if is_columnar(start):
            return max(1, path.stat().st_size // _ROW_BYTES)
        blocks = chain([start], iter(partial(file.read, _BLOCK), b""))
        return max(1, sum(block.count(mark) for block in blocks for mark in marks))


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

    Raises:
        ValueError, OSError, RuntimeError: If the file cannot be read.
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
        st.markdown(
            f"**Example:** the dev data of `{source}`, on which its best checkpoint was chosen."
        )
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
        st.caption(plain(f"{shorten_middle(name, 60)} is read with {dialect}."))
    columns = _columns(view, names, view.joint_columns(names, labels))
    if labels:
        columns = replace(columns, label_map=choose_label_map(LABEL_MAP))
    skip = st.toggle("Leave out rows that cannot be read", key=SKIP_BAD_ROWS.key())
    return Labelled(path, name, columns, skip)


def _columns(view: TaskView, names: tuple[str, ...], joint: str | None) -> Columns:
    """Draw the choice of columns; nothing if the file has none.

    Args:
        view: View of the task.
        names: Names of the columns.
        joint: The columns that are the label together, if any; they are the default.
    """
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


def show_file(page: frame.Page, model: TaskModel) -> None:
    """Draw the choice of a file, its run, and the results."""
    view = TASK_VIEWS[model.task.name]
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
    _, labelled, stop, number = running
    if labelled != chosen:
        st.caption("Below is the last run. Run the file to update it.")
    try:
        run = run_of(page, labelled, stop, number)
    except Pending:
        label = "Stop and keep the results so far"
        row.button(label, key="stop_keep", on_click=stop.wanted.set)
        raise
    if not run.is_whole:
        st.warning(f"Stopped: the results below are for the first {run.num_examples:,} examples.")
    show_notes(run.notes)
    _show_metrics(run)
    pictures = [LABEL_SCORES] if run.task == "multilabel" else []
    pictures += [SCORES] if run.task == "regress" else [CALIBRATION]
    pictures[:0] = [CONFUSION] if run.metrics().confusion is not None else []
    columns = st.container(key="inspect_run").columns(2, gap="large")
    for column, picture in zip(columns, pictures, strict=False):
        with column:
            st.header(picture.question, anchor=False)
            draw_run(picture, page, labelled, run)
    _show_errors(page, labelled, run)
    show_slices(page, labelled, stop, number)


def run_of(page: frame.Page, labelled: Labelled, stop: Stop, number: int) -> FileRun:
    """Return the answers to a file, computed once."""
    key = cache.TaskKey(page.bert_key)
    return Compute(name="inspect-file")(answer_file, key, labelled, stop, number)


def draw_run(
    view: View[FileRun], page: frame.Page, labelled: Labelled, run: FileRun, **options: Any
) -> None:
    """Draw a view of a run."""
    call = labelled.name, labelled.columns, labelled.skip_bad_rows
    show(view, page, *call, compute=lambda *_, **named: run, **options)


@frame.closed(SLICES.question, SLICES_OPEN, SLICE)
def show_slices(page: frame.Page, labelled: Labelled, stop: Stop, number: int) -> None:
    """Draw the quality of answers in groups."""
    run = run_of(page, labelled, stop, number)
    names = SLICE_NAMES if run.slices_by_label() else {"length": SLICE_NAMES["length"]}
    SLICE.key(options=list(names))
    draw_run(SLICES, page, labelled, run, drawn={"by": SLICE.value}, with_caption=False)
    if len(names) > 1:
        one_of("Slices", names, SLICE)
    caption(SLICES, run)


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
    st.header(ERRORS.question, anchor=False)
    if not run.errors:
        st.success("No answer is wrong.")
        return
    table = error_table(run)
    for name, title in PAGES.items():
        table[title] = [
            short_address(name, page.bert_key, error.text, error.text_pair) for error in run.errors
        ]
    column, has_pair = st.column_config, "second text" in table
    wide = column.TextColumn(width="medium" if has_pair else "large")
    form = "%.2f" if run.task == "regress" else "percent"
    links = dict.fromkeys(PAGES.values(), column.LinkColumn(display_text="open", width="small"))
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
            severity(run): column.NumberColumn(format=form, width="small"),
            **narrow,
            **links,
        },
    )
    st.caption(
        "Click the box at the left of a row to see why: the text opens in *One text* and on all "
        "other pages. *open* shows it on another page, in a new tab."
    )
    call = labelled.name, labelled.columns, labelled.skip_bad_rows
    offer(ERRORS, page, run, *call)


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
        source = task_input(cache.TaskKey(page.bert_key).stands_for, error.text)
        offsets = source.encoding.offsets
        ends = {place: offsets[source.words[place].end - 1][1] for place in source.text_words}
        word = next((place for place, end in ends.items() if start < end), PREDICTED)
    WORD.put(word)
