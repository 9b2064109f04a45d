"""A run while it trains: numbers, buttons, curves, what is wrong, and checkpoints."""

from operator import call
from pathlib import Path
from typing import Literal

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.runs import metric_of
from bertcore.base.durations import duration
from bertcore.training.finetuning.label_curve import LabelCurve
from bertcore.training.finetuning.run import rank
from bertcore.training.pretraining import RunFolder

from ...plots import METRIC_NAMES, plain
from ...plots.tables import wrong_answers
from ...server import checkpoints, places, training
from ...shell import frame, open_page, show, sidebar
from ...shell.browser.signals import arrival
from ...shell.links import COMPARED_WITH, SUGGESTED
from ...sources.run_folders import process
from ...sources.run_folders.runs import (
    STATES,
    Run,
    Trial,
    all_runs,
    check_room,
    dev_errors,
    metrics,
)
from .views import CURVES, LABELS

REFRESH_SECONDS = 2.0
_OPENED = "_checkpoint_opened"
"""Key of the page to open with a checkpoint that was opened just now; "" to stay here."""
_CHANGED = "training_changed"
"""Key of the container of runs when one began or ended since the page was drawn."""
_SHOWN = {
    "valid_mlm_top1": "Words right",
    "valid_next_top1": "Next tokens right",
    "valid_replaced_recall": "Replaced found",
    "valid_plm_top1": "Words right",
    "valid_written_top1": "Tokens right",
    "valid_nsp_accuracy": "Next sentence",
    "valid_sop_accuracy": "Sentence order",
    "valid_minimal_pairs": "Minimal pairs",
}
"""Held-out fractions that are shown above the curves, if a run has them."""
HELP_SCORES = "Nats; scores and losses are on held-out data at the last evaluation of the run."
WRONG_ROWS = 10  # wrong examples that are visible without scrolling


PREPARING = "The run reads its data first. You may leave this page: it continues by itself."
HOW_CHECKPOINTS = "Open a checkpoint here for all other pages; *Compare* sets two side by side."


def _show_runs(runs: list[Run]) -> None:
    """Draw the table of all runs, the columns to compare first; fractions are 0 to 1."""
    table = [
        {
            "run": run.name,
            "state": STATES[run.state][0],
            "done": round(run.fraction_done, 2),
            "words right": (run.scores or {}).get("valid_mlm_top1"),
            "next sentence": (run.scores or {}).get("valid_nsp_accuracy"),
            "loss of words": (run.scores or {}).get("valid_mlm_loss"),
            "score": _dev_score(run),
            "step": run.step,
            "time": duration(run.seconds) if run.seconds else None,
        }
        for run in runs
    ]
    kinds = {run.kind for run in runs}
    of_words = ["words right", "next sentence", "loss of words"] if "pretrain" in kinds else []
    of_tables = ["score"] if "finetune" in kinds else []
    percentages = ("done", "words right", "next sentence")
    st.dataframe(
        pd.DataFrame(table).round(3),
        hide_index=True,
        width="stretch",
        placeholder="–",
        height=min(36 * (len(runs) + 1), 260),
        column_config={
            **{name: st.column_config.NumberColumn(format="percent") for name in percentages},
            "loss of words": st.column_config.NumberColumn(format="%.2f", help=HELP_SCORES),
        },
        column_order=["run", "state", "done", *of_words, *of_tables, "step", "time"],
    )


def watch(path: Path, others: list[Run]) -> None:
    """Draw all runs in the folder of `path`, and that one in full; the page's list has `others`.

    While a process works on one of them, this part of the page updates by itself.
    """
    if page := st.session_state.pop(_OPENED, None):
        open_page(page)
    states = {run.name: run.state for run in others}
    is_alive = any(run.is_active for run in others)

    @st.fragment(run_every=REFRESH_SECONDS if is_alive else None)
    def live() -> None:
        if _OPENED in st.session_state:
            st.rerun(scope="app")  # the sidebar, which opens it, is not in this fragment
        with frame.guard():
            runs = all_runs(path.parent)
            has_changed = {run.name: run.state for run in runs} != states
            with st.container(key=_CHANGED if has_changed else "training_as_before"):
                if len(runs) > 1:
                    _show_runs(runs)
                run = next((run for run in runs if run.path == path), None)
                if run is None:
                    st.caption(f"{plain(path.name)} is no longer there.")
                else:
                    _show_run(run)

    live()
    if is_alive:  # the page then has other buttons, and no more updates after the last
        arrival(_CHANGED, key="training_arrival")


def _show_run(run: Run) -> None:
    _show_state(run)
    if run.kind == "label-curve":
        if run.curve is not None:
            _show_series(run, run.curve)
    elif run.kind == "finetune":
        _show_fine_tuning(run)
    elif run.state not in ("preparing", "not started", "damaged"):
        if any("loss" in line for line in metrics(run.path)):
            _show_curves(run.path)
        elif run.state == "running":
            st.caption("The first numbers appear after 20 steps.")
        _show_checkpoints(run.path)


def folder_of(path: Path) -> dict[str, str]:
    """Return the Python of a view's `folder`, as the visitor may see it."""
    return {"folder": repr(places.hide(str(path)))}


def _show_curves(folder: Path, *trial: str) -> None:
    st.header(CURVES.question, anchor=False)
    # Read anew each time: the run may have changed.
    show(CURVES, None, folder, *trial, compute=call, spelled=folder_of(folder))


def _show_series(run: Run, curve: LabelCurve) -> None:
    """Draw a series by number of labels, below its state and buttons."""
    done = f"{len(curve.points)} of {curve.num_planned} fine-tunings"
    st.progress(run.fraction_done, text=done)
    if curve.points:
        with st.container(key="label_curve"):
            st.header(LABELS.question, anchor=False)
            show(LABELS, None, run.path, compute=call, spelled=folder_of(run.path))


def _show_fine_tuning(run: Run) -> None:
    """Draw a fine-tuning in full, below its state and buttons."""
    if not run.trials:
        return
    trial = _choose_trial(run)
    if not trial.lines:
        if run.state == "running":
            st.caption("The first numbers appear with the first evaluation.")
        return
    _show_trial_numbers(run, trial)
    _show_curves(run.path, trial.path.name)
    _show_wrong(run, trial)


def _show_state(run: Run) -> None:
    word, colour, icon = STATES[run.state]
    row = st.container(horizontal=True, vertical_alignment="center")
    row.badge(word, color=colour, icon=icon)
    may_start = process.may_start() and training.is_own(run.path)
    if run.is_active and run.pid and process.CAN_STOP and may_start:
        help_text = "The run saves first, and can be resumed."
        is_stopping = st.session_state.get("_stopping") == (str(run.path), run.pid)
        if row.button("Stop", icon=":material/stop:", help=help_text, disabled=is_stopping):
            process.stop(run.pid, has_begun=run.state == "running")
            st.session_state["_stopping"] = (str(run.path), run.pid)
            st.rerun(scope="app")
        if is_stopping:
            row.caption("Stopping: the run saves after this step.")
    elif run.is_active and may_start:
        row.caption(f"Running {plain(run.detail)}: it can be stopped there.")
    can_resume = run.state == "stopped" and may_start
    if can_resume and row.button("Resume", icon=":material/play_arrow:"):
        _resume(run)
    if run.kind == "finetune":
        _show_openers(run, row)
    if run.detail and run.state in ("damaged", "not started"):
        st.error(frame.message(run.detail))
    elif run.detail and run.state == "stopped":
        st.warning(f"It stopped by itself: {plain(places.hide(run.detail))}")
    if run.state == "preparing":
        st.info(PREPARING)
    if run.step and run.kind == "pretrain":
        speed = run.num_tokens / run.seconds if run.seconds else 0.0
        scores = run.scores or {}
        held_out = [(name, f"{scores[of]:.1%}") for of, name in _SHOWN.items() if of in scores]
        speeds = ("Tokens per second", f"{speed:,.0f}")
        _show_row(run, ("Step", f"{run.step:,}"), speeds, *held_out)


def _resume(run: Run) -> None:
    known, limits = all_runs(run.path.parent), training.limits()
    training.check_start(
        run.path,
        minutes=None if limits is None else limits.minutes,  # at which it is stopped again
        num_bytes=0,
        active=sum(other.is_active for other in known),
    )
    check_room(known)
    process.start(run.path, None, kind=run.kind)
    st.rerun(scope="app")


def _show_row(run: Run, first: tuple[str, str], *others: tuple[str, str]) -> None:
    """Draw names and values of numbers in a row, with how much is done and how long it takes."""
    left = run.seconds_left
    ahead = "" if left is None or run.state == "finished" else f", {duration(left)} left"
    done = ("Done", f"{run.fraction_done:.0%}")
    row = st.container(horizontal=True, key="run_numbers")
    for name, value in (first, done, ("Time", f"{duration(run.seconds)}{ahead}"), *others):
        row.metric(name, value, width="content")


def _show_checkpoints(path: Path) -> None:
    run = RunFolder(path)
    folders = run.checkpoints()
    st.header("Checkpoints of the run", anchor=False)
    if not folders:
        st.caption("No checkpoint is saved yet.")
        return
    st.caption(HOW_CHECKPOINTS)
    best = run.best_checkpoint()
    for folder in reversed(folders):
        row = st.container(horizontal=True, vertical_alignment="center")
        source = checkpoints.name_of(folder)
        chosen = sidebar.CHECKPOINT.value == source
        marks = [mark for mark, holds in (("best", folder == best), ("open here", chosen)) if holds]
        more = f" ({', '.join(marks)})" if marks else ""
        row.markdown(f"**{folder.name.replace('-', ' ')}**{more}")
        row.button(
            "Open here",
            key=f"open_{folder.name}",
            on_click=_open,
            args=(source,),
            disabled=chosen,
            type="tertiary",
            icon=":material/folder_open:",
        )


def _open(source: str, page: str = "") -> None:
    """Open a checkpoint of the run on all pages; on Compare beside the one that it started from."""
    sidebar.choose(source)
    if page == "compare":
        COMPARED_WITH.put(SUGGESTED)
    st.session_state[_OPENED] = page


def _show_openers(run: Run, row: DeltaGenerator) -> None:
    """Draw what opens the best checkpoint so far on other pages, once no process works on it."""
    checkpoint = None if run.is_active or not run.trials else run.checkpoint
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


def _choose_trial(run: Run) -> Trial:
    """Draw the choice of a learning rate and seed, if several are tried."""
    current = run.current_trial
    if len(run.trials) == 1:
        return current
    trials = {trial.path.name: trial for trial in run.trials}
    name = st.selectbox(
        "Learning rate and seed",
        list(trials),
        index=run.trials.index(current),
        key=f"trial_{run.name}",
        width=260,
    )
    return trials[name]


def _show_trial_numbers(run: Run, trial: Trial) -> None:
    metric = metric_of(run.config)
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
    _show_row(run, ("Epoch", f"{trial.epoch:.2g} of {epochs}"), *more)


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
    severity, how, form = "confidence", "the most confident first", "percent"
    which = f"{wrong.num_wrong:,} of {wrong.num_examples:,} dev examples are wrong"
    if task == "regress":
        which = f"The {len(wrong.errors)} scores that are farthest off"
        severity, how, form = "distance", "the farthest first", "%.2f"
    st.caption(f"{plain(which)} at step {wrong.step:,}, {how}.")
    table = wrong_answers(wrong.errors, severity)
    st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        height=36 * (min(WRONG_ROWS, len(table)) + 1),
        column_config={severity: st.column_config.NumberColumn(format=form)},
        column_order=["text", "second text", "true", "predicted", severity],
    )


def _dev_score(run: Run) -> str | None:
    if run.kind != "finetune" or run.scores is None:
        return None
    metric = metric_of(run.config)
    return f"{run.scores[f'dev_{metric}']:.3f} {metric}"
