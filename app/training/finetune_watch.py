"""A fine-tuning, or a series of them, while it runs and after it: curves, what is wrong."""

from typing import Literal, NamedTuple

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.finetuning.label_curve import CURVE_FILE, LabelCurve
from bertcore.finetuning.run import rank

from ..access import checkpoints, places
from ..plots import METRIC_NAMES, Figure, plain
from ..plots.charts import label_curve, label_table
from ..run_folders.finetune_runs import checkpoint_of, current_trial, dev_errors, metric_of
from ..run_folders.run import Run, Trial
from ..shell import Picture, open_page, sidebar
from ..shell.links import COMPARED_WITH, SUGGESTED
from ..task_model.score_figures import error_table
from .curves import Panel, draw_panels, show_numbers

_OPENING = "_finetuned_opening"
WRONG_ROWS = 10  # wrong examples that are visible without scrolling

_WIDTHS = {"text": 195, "pair": 115, "label": 72, "severity": 88}
"""Pixels of the columns of wrong examples: half a window of 1,280 shows them all."""


class Severity(NamedTuple):
    """What orders the wrong examples of a task."""

    column: str
    how: str
    is_fraction: bool = True


SEVERITIES = {
    "regress": Severity("distance", "the farthest first", False),
    "tag": Severity(
        "words wrong", "those with the most wrong words first; the first wrong word is named"
    ),
    "qa": Severity("F1 lost", "those that share the fewest words with a right answer first"),
}
BY_CONFIDENCE = Severity("confidence", "the most confident first")


def _curves(table: pd.DataFrame, metric: str, loss: str) -> Figure:
    """Draw the loss, and below it the metric by which checkpoints are compared, by step."""
    name = METRIC_NAMES.get(metric, metric)
    panels: tuple[Panel, ...] = (
        (f"Loss, {loss}", "loss", "dev_loss", False),
        (f"{name} on the dev data", "", f"dev_{metric}", True),
    )
    return draw_panels(table, panels, names=("training data", "dev data"), columns=1)


CURVES = Picture(
    name="finetuning",
    figure=_curves,
    table=pd.DataFrame,
    how=(
        "Blue is the training data, the mean since the last point. Orange is the dev data, which "
        "the model never trains on; judge by this one. The checkpoint with the best {metric} is "
        "kept. If orange rises in the first picture while blue falls, the model is memorising its "
        "examples."
    ),
    code="""
import pandas as pd

table = pd.read_json({path!r}, lines=True)
table[{columns!r}]
""",
)


SERIES = Picture(
    name="label-curve",
    figure=label_curve,
    table=label_table,
    how=(
        "A point is the median {metric} on the dev data after the last step, and its bar goes from "
        "the least to the most over the seeds. *Pretrained*: the whole network learns.{frozen} "
        "*Untrained*: the whole network, from random weights. All learn from the same examples in "
        "the same number of steps. Bars that overlap may differ by chance."
    ),
    code="""
import json
from pathlib import Path

import pandas as pd

points = pd.DataFrame(json.loads(Path({path!r}).read_text())["points"])
points.groupby(["start", "num_labels"])["value"].agg(["median", "min", "max"])
""",
)


def frozen_line(curve: LabelCurve) -> str:
    """Return the sentence on the frozen line, with a space before it; "" if there is none."""
    if "frozen" not in curve.starts:
        return ""
    rate = "" if curve.frozen_rate is None else f", at a peak rate of {curve.frozen_rate:g}"
    return f" *Frozen*: the pooler and the new head alone{rate}."


def show_series(run: Run) -> None:
    """Draw a series by number of labels, below its state and buttons."""
    curve = run.curve
    if curve is None:
        return
    done = f"{len(curve.points)} of {curve.num_planned} fine-tunings"
    st.progress(run.fraction_done, text=done)
    if not curve.points:
        return
    metric = METRIC_NAMES.get(curve.metric, curve.metric)
    scores = [(point.start, point.num_labels, point.value) for point in curve.points]
    path = places.hide(str(run.path / CURVE_FILE))
    y_title = f"{metric} on {curve.num_dev:,} dev examples"
    with st.container(key="label_curve"):
        SERIES.show(
            None,
            scores,
            drawn={"y_title": y_title},
            setup="",
            path=path,
            metric=metric,
            frozen=frozen_line(curve),
        )


def show(run: Run) -> None:
    """Draw a fine-tuning in full, below its state and buttons."""
    if not run.trials:
        return
    trial = _choose_trial(run)
    if not trial.lines:
        if run.state == "running":
            st.caption("The first numbers appear with the first evaluation.")
        return
    _show_numbers(run, trial)
    metric = metric_of(run)
    path = places.hide(str(trial.path / "metrics.jsonl"))
    is_score = run.config["task"] == "regress"
    columns = ["step", "loss", "dev_loss", f"dev_{metric}"]
    table = pd.DataFrame(trial.lines)
    left, right = st.container(key="finetuning").columns(2, gap="medium")
    with left:
        CURVES.show(
            None,
            table,
            drawn={"metric": metric, "loss": "squared" if is_score else "nats"},
            setup="",
            path=path,
            columns=[column for column in columns if column in table],
            metric=METRIC_NAMES.get(metric, metric),
        )
    with right:
        _show_wrong(run, trial)


def show_openers(run: Run, row: DeltaGenerator) -> None:
    """Draw what opens the best checkpoint so far on other pages, once no process works on it."""
    page = st.session_state.pop(_OPENING, None)
    if page is not None:
        open_page(page)
    checkpoint = None if run.is_active or not run.trials else checkpoint_of(run)
    if checkpoint is None:
        return
    source = checkpoints.name_of(checkpoint)
    kind: Literal["primary", "secondary"] = "primary" if run.state == "finished" else "secondary"
    for label, page, icon in (
        ("Inspect it", "inspect_checkpoint", ":material/troubleshoot:"),
        ("Compare before and after", "compare", ":material/compare_arrows:"),
    ):
        row.button(
            label, key=f"open_{page}", on_click=_open, args=(source, page), type=kind, icon=icon
        )
    if sidebar.CHECKPOINT.value == source:
        row.caption("It is open on all pages.")


def _open(source: str, page: str) -> None:
    """Open a checkpoint on all pages; on Compare beside the one that it started from."""
    sidebar.choose(source)
    if page == "compare":
        COMPARED_WITH.put(SUGGESTED)
    st.session_state[_OPENING] = page


def _choose_trial(run: Run) -> Trial:
    """Draw the choice of a learning rate and seed, if several are tried."""
    current = current_trial(run)
    if len(run.trials) == 1:
        return current
    names = [trial.name for trial in run.trials]
    name = st.selectbox(
        "Learning rate and seed",
        names,
        index=names.index(current.name),
        key=f"trial_{run.name}",
        width=260,
    )
    return next(trial for trial in run.trials if trial.name == name)


def _show_numbers(run: Run, trial: Trial) -> None:
    metric = metric_of(run)
    scored = [line for line in trial.lines if f"dev_{metric}" in line]
    seconds = float(trial.lines[-1].get("seconds", 0.0))
    more = []
    if run.num_examples and seconds:
        speed = trial.epoch * run.num_examples / seconds
        more.append(("Examples per second", f"{speed:,.0f}"))
    if scored:
        name = METRIC_NAMES.get(metric, metric)
        best = max(scored, key=lambda line: rank(line[f"dev_{metric}"], line["dev_loss"]))
        more.append((f"{name} now", f"{scored[-1][f'dev_{metric}']:.3f}"))
        more.append((f"Best, at step {best['step']:,}", f"{best[f'dev_{metric}']:.3f}"))
    epochs = run.config["config"]["epochs"]
    show_numbers(run, ("Epoch", f"{trial.epoch:.2g} of {epochs}"), *more)


def _show_wrong(run: Run, trial: Trial) -> None:
    wrong = dev_errors(trial)
    st.header("Wrong at the last evaluation", anchor=False)
    if wrong is None:
        st.caption("This run has no wrong examples on record: it was made by an older version.")
        return
    if not wrong.errors:
        st.success(f"All {wrong.num_examples:,} dev examples are right at step {wrong.step:,}.")
        return
    task = str(run.config["task"])
    severity = SEVERITIES.get(task, BY_CONFIDENCE)
    which = f"{wrong.num_wrong:,} of {wrong.num_examples:,} dev examples are wrong"
    if task == "regress":
        which = f"The {len(wrong.errors)} scores that are farthest off"
    st.caption(f"{plain(which)} at step {wrong.step:,}, {severity.how}.")
    table = error_table(wrong.errors, severity.column)
    form = "percent" if severity.is_fraction else "%.2f"
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        height=36 * (min(WRONG_ROWS, len(table)) + 1),
        column_config={
            "text": text(width=_WIDTHS["pair" if "second text" in table else "text"]),
            "second text": text(width=_WIDTHS["pair"]),
            "true": text(width=_WIDTHS["label"]),
            "predicted": text(width=_WIDTHS["label"]),
            severity.column: number(format=form, width=_WIDTHS["severity"]),
        },
        column_order=["text", "second text", "true", "predicted", severity.column],
    )
