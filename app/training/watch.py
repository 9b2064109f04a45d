"""A run while it trains: numbers, buttons, the coach's findings, curves and checkpoints."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from bertcore.analysis.heads.entropy_history import HeadHistory, head_history
from bertcore.analysis.health.run_coach import check_run
from bertcore.base.durations import duration
from bertcore.training.probes import Probe, probe_files, read_probe

from ..access import checkpoints, places, training
from ..plots.untrusted_text import plain
from ..run_folders import process
from ..run_folders.finetune_runs import metric_of
from ..run_folders.run import STATES, Run
from ..run_folders.runs import all_runs, best_checkpoint, check_room, metrics
from ..run_folders.runs import checkpoints as saved
from ..shell import cache, frame, sidebar
from ..shell.picture import Picture
from ..shell.render_signal import arrival
from . import finetune_watch
from .curve_figures import curve_table, curves

REFRESH_SECONDS = 2.0
_OPENED = "_checkpoint_opened"
_CHANGED = "training_changed"
"""Key of the container of runs when one began or ended since the page was drawn."""
LINKED_PAGES = {"attention": "Attention", "masked-words": "Masked words", "layer-map": "Layer map"}
_COLUMNS = (
    "step",
    "valid_loss",
    "mlm_loss",
    "valid_mlm_loss",
    "nsp_accuracy",
    "valid_nsp_accuracy",
)
"""Metrics that the Python under the curves prints, if a run has them."""
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
LATEST_PROBES = 5
"""Latest probes from which the coach judges the heads."""
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


def _same(table: pd.DataFrame) -> pd.DataFrame:
    return table


CURVES = Picture(
    name="training",
    figure=curves,
    table=_same,
    how=(
        "Blue is the training text, one batch per point, so it is noisy. Orange is held-out text, "
        "which the model never trains on; judge by this one. {guessing}. If orange rises while "
        "blue falls, the model overfits."
    ),
    code="""
import pandas as pd

table = pd.read_json({path!r}, lines=True)
table[{columns!r}]
""",
)
GUESSING = "A loss of ln V means pure guessing"
GUESSING_BY_TERM = {
    "replaced_loss": (
        "The loss is the generator's plus 50 times the discriminator's; for these, ln V and ln 2 "
        "mean pure guessing"
    ),
    "sbo_loss": (
        "The loss is that of the hidden words, from their places and again from the ends of their "
        "spans: 2 ln V means pure guessing"
    ),
    "sop_loss": (
        "The loss is that of the words plus that of the sentence order: ln V + ln 2 means pure "
        "guessing"
    ),
}
"""In runs whose loss has a further term, by the column of that term."""
UNIGRAMS = "; at the dashed line the model knows how frequent words are and nothing else"


def table_of_runs(runs: list[Run]) -> pd.DataFrame:
    """Return a row for each run; fractions are 0 to 1."""
    return pd.DataFrame(
        [
            {
                "run": run.name,
                "state": STATES[run.state][0],
                "done": round(run.fraction_done, 2),
                "words right": _score(run, "valid_mlm_top1"),
                "next sentence": _score(run, "valid_nsp_accuracy"),
                "loss of words": _score(run, "valid_mlm_loss"),
                "score": _dev_score(run),
                "step": run.step,
                "time": duration(run.seconds),
            }
            for run in runs
        ]
    )


def show_runs(runs: list[Run]) -> None:
    """Draw the table of all runs, the columns to compare first."""
    number = st.column_config.NumberColumn
    held_out = "on held-out text at the last evaluation of the run."
    st.dataframe(
        table_of_runs(runs),
        hide_index=True,
        width="stretch",
        placeholder="–",
        height=min(36 * (len(runs) + 1), 260),
        column_config={
            "state": st.column_config.TextColumn(width=74),
            "done": number(format="percent", width=54),
            "words right": number(
                "words", format="percent", width=62, help=f"Hidden words right, {held_out}"
            ),
            "next sentence": number(
                "pairs", format="percent", width=60, help=f"Next sentence right, {held_out}"
            ),
            "loss of words": number(
                "loss", format="%.2f", width=54, help=f"Loss of the hidden words, nats, {held_out}"
            ),
            "score": st.column_config.TextColumn(
                "dev score", width=110, help="Of a fine-tuning run, on its dev data."
            ),
            "step": number(width=64),
            "time": st.column_config.TextColumn(width=64),
        },
        column_order=_columns_of(runs),
    )


def _columns_of(runs: list[Run]) -> list[str]:
    """Return the columns of the table: the scores of the kinds of runs that there are."""
    kinds = {run.kind for run in runs}
    of_words = ["words right", "next sentence", "loss of words"] if "pretrain" in kinds else []
    of_tables = ["score"] if "finetune" in kinds else []
    return ["run", "state", "done", *of_words, *of_tables, "step", "time"]


def watch(path: Path, others: list[Run]) -> None:
    """Draw all runs of a folder, and one of them in full.

    While a process works on one of them, this part of the page updates by itself.

    Args:
        path: The run that is drawn in full.
        others: All runs, as the page's list has them.
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
                    show_runs(runs)
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
    if run.kind == "finetune":
        finetune_watch.show(run)
        return
    _show_coach(run)
    _show_curves(run)
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
    if run.kind == "finetune":
        process.start(run.path, ["--resume"], command="finetune", append=True)
    else:
        process.start(run.path, ["--resume"], append=True)
    st.rerun(scope="app")


def _show_numbers(run: Run) -> None:
    speed = run.num_tokens / run.seconds if run.seconds else 0.0
    left = run.seconds_left
    ahead = "" if left is None or run.state == "finished" else f", {duration(left)} left"
    scores = run.scores or {}
    row = st.container(horizontal=True, key="run_numbers")
    row.metric("Step", f"{run.step:,}", width="content")
    row.metric("Done", f"{run.fraction_done:.0%}", width="content")
    row.metric("Time", f"{duration(run.seconds)}{ahead}", width="content")
    row.metric("Tokens per second", f"{speed:,.0f}", width="content")
    for name, title in _SHOWN.items():
        if name in scores:
            row.metric(title, f"{scores[name]:.1%}", width="content")


def _show_coach(run: Run) -> None:
    lines = metrics(run.path)
    if not lines:
        return
    findings = check_run(
        lines,
        fraction_done=run.fraction_done,
        unigram_entropy=run.unigram_entropy,
        heads=_heads(run.path),
    )
    boxes = {"problem": st.error, "warning": st.warning, "note": st.info}
    for finding in findings:
        boxes[finding.severity](plain(finding.sentence), icon=":material/stethoscope:")
    if not findings and run.scores is not None:
        st.success("The coach sees nothing wrong with this run.", icon=":material/stethoscope:")


def _heads(path: Path) -> HeadHistory | None:
    recorded = probes(path, latest=LATEST_PROBES)
    return head_history(recorded) if recorded else None


def probes(path: Path, *, latest: int | None = None) -> list[Probe]:
    """Return the probes of a run, each read once; the last `latest` of them, or all."""
    files = list(probe_files(path).values())
    return [cache.of_file(read_probe, file) for file in (files[-latest:] if latest else files)]


def _show_curves(run: Run) -> None:
    peak = run.config.get("optimizer", {}).get("learning_rate")
    table = curve_table(metrics(run.path), peak)
    if table.empty:
        if run.state == "running":
            st.caption("The first numbers appear after 20 steps.")
        return
    random = (run.scores or {}).get("valid_share_random")
    chance = None if random is None else max(random, 1 - random)
    columns = [name for name in _COLUMNS if name in table]
    guessing = next((GUESSING_BY_TERM[c] for c in GUESSING_BY_TERM if c in table), GUESSING)
    has_line = run.unigram_entropy is not None and not {"mlm_loss", "valid_mlm_loss"}.isdisjoint(
        table
    )
    CURVES.show(
        None,
        table,
        drawn={"unigram_entropy": run.unigram_entropy, "chance": chance},
        setup="",
        path=places.hide(str(run.path / "metrics.jsonl")),
        columns=columns,
        guessing=guessing + (UNIGRAMS if has_line else ""),
    )


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
