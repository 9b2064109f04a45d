"""A run while it trains: numbers, buttons, curves and checkpoints."""

from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from bertcore.base.durations import duration
from bertcore.training.probes import Probe, probe_files, read_probe

from ..access import checkpoints, places, training
from ..plots import plain
from ..run_folders import process
from ..run_folders.finetune_runs import metric_of
from ..run_folders.run import STATES, Run
from ..run_folders.runs import all_runs, best_checkpoint, check_room
from ..run_folders.runs import checkpoints as saved
from ..shell import cache, frame, sidebar
from ..shell.render_signal import arrival
from . import finetune_watch
from .curves import show_curves, show_numbers

REFRESH_SECONDS = 2.0
_OPENED = "_checkpoint_opened"
_CHANGED = "training_changed"
"""Key of the container of runs when one began or ended since the page was drawn."""
LINKED_PAGES = {"attention": "Attention", "masked-words": "Masked words", "layer-map": "Layer map"}
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
PREPARING = (
    "The run first learns the vocabulary and reads the text; training begins when that is done. "
    "You may leave this page: the run continues by itself."
)
PREPARING_TABLE = (
    "The run first reads the table and opens the checkpoint. You may leave this page: the run "
    "continues by itself."
)
HOW_CHECKPOINTS = (
    "Open a checkpoint here for all other pages, or open two in two tabs and compare them side by "
    "side."
)


def _show_runs(runs: list[Run]) -> None:
    """Draw the table of all runs, the columns to compare first; fractions are 0 to 1."""
    table = [
        {
            "run": run.name,
            "state": STATES[run.state][0],
            "done": round(run.fraction_done, 2),
            "words right": _score(run, "valid_mlm_top1"),
            "next sentence": _score(run, "valid_nsp_accuracy"),
            "loss of words": _score(run, "valid_mlm_loss"),
            "score": _dev_score(run),
            "step": run.step,
            "time": duration(run.seconds) if run.seconds else None,
        }
        for run in runs
    ]
    kinds = {run.kind for run in runs}
    of_words = ["words right", "next sentence", "loss of words"] if "pretrain" in kinds else []
    of_tables = ["score"] if "finetune" in kinds else []
    text, number = st.column_config.TextColumn, st.column_config.NumberColumn
    held_out = "on held-out text at the last evaluation of the run."
    words, pairs = f"Hidden words right, {held_out}", f"Next sentence right, {held_out}"
    loss = f"Loss of the hidden words, nats, {held_out}"
    st.dataframe(
        pd.DataFrame(table),
        hide_index=True,
        width="stretch",
        placeholder="–",
        height=min(36 * (len(runs) + 1), 260),
        column_config={
            "state": text(width=74),
            "done": number(format="percent", width=54),
            "words right": number("words", format="percent", width=62, help=words),
            "next sentence": number("pairs", format="percent", width=60, help=pairs),
            "loss of words": number("loss", format="%.2f", width=54, help=loss),
            "score": text("dev score", width=110, help="Of a fine-tuning run, on its dev data."),
            "step": number(width=64),
            "time": text(width=64),
        },
        column_order=["run", "state", "done", *of_words, *of_tables, "step", "time"],
    )


def watch(path: Path, others: list[Run]) -> None:
    """Draw all runs in the folder of `path`, and that one in full; the page's list has `others`.

    While a process works on one of them, this part of the page updates by itself.
    """
    states = {run.name: run.state for run in others}
    is_alive = any(run.is_active for run in others)

    @st.fragment(run_every=REFRESH_SECONDS if is_alive else None)
    def live() -> None:
        if st.session_state.pop(_OPENED, False):
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
    if run.kind != "pretrain":
        (finetune_watch.show if run.kind == "finetune" else finetune_watch.show_series)(run)
        return
    show_curves(run)
    if run.state not in ("preparing", "not started", "damaged"):
        _show_checkpoints(run.path)


def _show_state(run: Run) -> None:
    word, colour, icon = STATES[run.state]
    row = st.container(horizontal=True, vertical_alignment="center")
    row.badge(word, color=colour, icon=icon)
    may_start = process.may_start() and training.is_own(run.path)
    if run.is_active and run.pid and process.CAN_STOP and may_start:
        help_text = "The run saves first, and can be resumed."
        if row.button("Stop", icon=":material/stop:", help=help_text, disabled=_is_stopping(run)):
            process.stop(run.pid, has_begun=run.state == "running")
            st.session_state["_stopping"] = (str(run.path), run.pid)
            st.rerun(scope="app")
        if _is_stopping(run):
            row.caption("Stopping: the run saves after this step.")
    elif run.is_active and may_start:
        row.caption(f"Running {plain(run.detail)}: it can be stopped there.")
    can_resume = run.state == "stopped" and may_start
    if can_resume and row.button("Resume", icon=":material/play_arrow:"):
        _resume(run)
    if run.kind == "finetune":
        finetune_watch.show_openers(run, row)
    if run.detail and run.state in ("damaged", "not started"):
        st.error(plain(frame.sentence_of(ValueError(run.detail))))
    elif run.detail and run.state == "stopped":
        st.warning(f"It stopped by itself: {plain(places.hide(run.detail))}")
    if run.state == "preparing":
        st.info(PREPARING if run.kind == "pretrain" else PREPARING_TABLE)
    if run.step and run.kind == "pretrain":
        _show_numbers(run)


def _is_stopping(run: Run) -> bool:
    return st.session_state.get("_stopping") == (str(run.path), run.pid)


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


def _show_numbers(run: Run) -> None:
    speed = run.num_tokens / run.seconds if run.seconds else 0.0
    scores = run.scores or {}
    held_out = [(title, f"{scores[name]:.1%}") for name, title in _SHOWN.items() if name in scores]
    show_numbers(run, ("Step", f"{run.step:,}"), ("Tokens per second", f"{speed:,.0f}"), *held_out)


def probes(path: Path) -> list[Probe]:
    """Return the probes of a run, each read once."""
    return [cache.of_file(read_probe, file) for file in probe_files(path).values()]


def _show_checkpoints(path: Path) -> None:
    folders = saved(path)
    st.header("Checkpoints of the run", anchor=False)
    if not folders:
        st.caption("No checkpoint is saved yet.")
        return
    st.caption(HOW_CHECKPOINTS)
    best = best_checkpoint(path)
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
        links = [
            f"[{title}]({page}?{urlencode({'checkpoint': source})})"
            for page, title in LINKED_PAGES.items()
        ]
        row.markdown("in a new tab: " + " · ".join(links))


def _open(source: str) -> None:
    """Open a checkpoint of the run on all pages."""
    sidebar.choose(source)
    st.session_state[_OPENED] = True


def _dev_score(run: Run) -> str | None:
    if run.kind != "finetune" or run.scores is None:
        return None
    metric = metric_of(run)
    return f"{run.scores[f'dev_{metric}']:.3f} {metric}"


def _score(run: Run, name: str) -> float | None:
    value = None if run.scores is None else run.scores.get(name)
    return None if value is None else round(float(value), 3)
