"""Two checkpoints by size, speed, and score on a labelled file."""

from __future__ import annotations

import math
from collections.abc import Callable

import streamlit as st

from bertcore.analysis.compare.checkpoints import with_mask_of
from bertcore.analysis.compare.speed import size_of, text_speeds
from bertcore.analysis.compare.trade_off import MOST_TIMED, Paired, TradeOff, trade_off
from bertcore.checkpoints.source import FINE_TUNED
from bertcore.tasks.model import TaskModel

from ..plots.metric_names import METRIC_NAMES
from ..plots.untrusted_text import plain
from ..second_checkpoint.sides import Side
from ..shell import cache, frame
from ..shell.jobs import background, waiting
from ..shell.jobs.background import Work
from ..shell.picture import Picture
from ..task_model import model as inspection
from ..task_model.file_choice import choose_file
from ..task_model.labelled_files import Labelled
from ..task_model.task_views import view_of
from .case import Case, code_of, opening_code
from .trade_off_figures import Measured, score_dots, score_table, size_bars, size_table

_TIMES, _RUN = "_compare_times", "_compare_run"
NO_SCORE = (
    "**No scores.** {reason} Only two checkpoints that were fine-tuned for the same task can be "
    "scored here."
)

SIZE = Picture(
    name="compare-size",
    figure=size_bars,
    table=size_table,
    how=(
        "Bars are relative to the longest in their row; × is {second} divided by {first}. Speed is "
        "that of the encoder alone, on this machine, on the text above ({tokens} tokens): the bar "
        "is the median of five passes, with both taking turns; the thin line goes from the slowest "
        "to the fastest. Other work on the machine slows both, so two speeds whose lines overlap "
        "cannot be distinguished (≈)."
    ),
    code="""
from bertcore.analysis.compare.speed import size_of, text_speeds

sizes = [size_of(b.name, b.config, b.module) for b in (first, second)]
speeds = text_speeds((first, second), [{texts}] * 2)
""",
)
SCORES = Picture(
    name="compare-scores",
    figure=score_dots,
    table=score_table,
    how=(
        "Each dot is a score on the {examples} examples of the file, with its 95% interval "
        "(bootstrap over the examples). Intervals that overlap do not mean that the two are equal: "
        "both answer the same questions, and McNemar's exact test counts those that only one got "
        "right."
    ),
    code="""
from pathlib import Path

from bertcore.analysis.compare.trade_off import trade_off
from bertcore.configs import Columns
from bertcore.tasks import open_task_model

models = [
    open_task_model(name, bert=bert)
    for name, bert in (({first_source!r}, first), ({second_source!r}, second))
]
found = trade_off(*models, Path("your-file"), columns={columns}, skip_bad_rows={skip})
""",
)


def show_trade_off(case: Case) -> None:
    """Draw size and speed on the text, and the scores on a labelled file."""
    _show_size(case)
    st.header("Which one answers better?", anchor=False)
    reason = _why_no_score(case)
    if reason:
        st.info(NO_SCORE.format(reason=plain(reason)))
        return
    _show_scores(case)


def _show_size(case: Case) -> None:
    times: int = st.session_state.get(_TIMES, 0)

    def work(progress: background.Progress) -> Measured:
        models = [side.bert for side in case.sides]
        texts = [
            (
                with_mask_of(model, case.text_a),
                None if case.text_b is None else with_mask_of(model, case.text_b),
            )
            for model in models
        ]
        one, two = (
            size_of(name, model.config, model.module)
            for name, model in zip(case.names, models, strict=True)
        )
        speeds = text_speeds(models, texts, on_stage=lambda name, part: progress(part or 0.0, name))
        return Measured((one, two), (speeds[0], speeds[1]))

    measured: Measured | None = waiting.result(
        Work(("compare-speed", case, times), work),
        "compare-speed",
        stopped="The measurement was stopped.",
    )
    if measured is None:
        return
    first, second = (plain(name) for name in case.names)
    tokens = [f"{speed.num_tokens:,}" for speed in measured.speeds]
    pair = "" if case.text_b is None else f", {case.text_b!r}"
    SIZE.show(
        None,
        measured,
        drawn={"names": case.names},
        setup=opening_code(case),
        first=first,
        second=second,
        tokens=tokens[0] if tokens[0] == tokens[1] else " and ".join(tokens),
        texts=f"({case.text_a!r}{pair or ', None'})",
    )
    st.button(
        "Measure again", icon=":material/refresh:", key="compare_measure", on_click=_measure_again
    )


def _measure_again() -> None:
    st.session_state[_TIMES] = st.session_state.get(_TIMES, 0) + 1


def _why_no_score(case: Case) -> str:
    """Return why the two cannot be scored on one file; "" if they can."""
    models: list[TaskModel] = []
    for side in case.sides:
        if side.is_untrained or not inspection.has_head(side.bert):
            return f"{side.name} has no task head."
        try:
            models.append(inspection.model(side.key))
        except (ValueError, RuntimeError) as error:
            return f"{side.name}: {error}"
    tasks = [model.task for model in models]
    if tasks[0].name != tasks[1].name:
        first, second = case.names
        return f"{first} is for the task {tasks[0].name!r}, {second} for {tasks[1].name!r}."
    return ""


def _show_scores(case: Case) -> None:
    model = inspection.model(case.second.key)
    sources = [side.key.source for side in reversed(case.sides)]
    source = next((one for one in sources if one in FINE_TUNED), sources[0])
    chosen = choose_file(view_of(model.task), source, model.labels)
    if chosen is None:
        return
    running: tuple[tuple[Side, Side], Labelled, int] | None = st.session_state.get(_RUN)
    number = 0 if running is None else running[2] + 1
    if st.button("Score both", type="primary", icon=":material/play_arrow:", key="compare_score"):
        running = (case.sides, chosen, number)
        st.session_state[_RUN] = running
    if running is None or running[0] != case.sides:
        return
    if running[1] != chosen:
        st.caption("Below is the last run. Score both to update it.")
    labelled = running[1]
    keys = (case.first.key, case.second.key)
    with frame.guard():
        found: TradeOff | None = waiting.result(
            Work(("compare-score", keys, *running[1:]), _scoring(keys, labelled)),
            "compare-score",
            stopped="Scoring was stopped.",
        )
        if found is not None:
            _draw(case, labelled, found)


def _scoring(
    keys: tuple[cache.BertKey, cache.BertKey], labelled: Labelled
) -> Callable[[background.Progress], TradeOff]:
    def work(progress: background.Progress) -> TradeOff:
        return trade_off(
            inspection.model(keys[0]),
            inspection.model(keys[1]),
            labelled.path,
            columns=labelled.columns,
            skip_bad_rows=labelled.skip_bad_rows,
            on_stage=lambda name, part: progress(part or 0.0, name),
        )

    return work


def _draw(case: Case, labelled: Labelled, found: TradeOff) -> None:
    for side, name in zip(found.sides, case.names, strict=True):
        for note in side.notes:
            st.caption(f"{plain(name)}: {plain(note)}")
    st.markdown(in_words(case.names, found))
    SCORES.show(
        None,
        found,
        drawn={"names": case.names},
        setup=code_of(case),
        record=found,
        examples=f"{found.num_examples:,}",
        first_source=case.first.key.source,
        second_source=case.second.key.source,
        columns=labelled.columns,
        skip=labelled.skip_bad_rows,
    )


def in_words(names: tuple[str, str], found: TradeOff) -> str:
    """Return the trade-off of two checkpoints and its test as Markdown."""
    first, second = (f"**{plain(name)}**" for name in names)
    metric = METRIC_NAMES.get(found.metric, found.metric).lower()
    speed = f"{found.speed_up:.2f} times as many examples per second as {first}"
    timed = f"(the first {found.num_timed:,} examples)" if found.num_timed == MOST_TIMED else ""
    verb = "reaches" if found.kept > 1 else "keeps"
    kept = "" if math.isnan(found.kept) else f" and {verb} {found.kept:.1%} of its {metric}"
    sentences = [f"{second} answers {speed} {timed}{kept}.".replace(" .", ".")]
    if found.paired is not None:
        sentences.append(_test_in_words(first, second, found.paired))
    return " ".join(sentences)


def _test_in_words(first: str, second: str, paired: Paired) -> str:
    apart = paired.only_first + paired.only_second
    if not apart:
        return "Both are right on the same examples."
    verdict = (
        "chance alone seldom makes such a difference"
        if paired.p_value < 0.05
        else f"chance alone makes such a difference in {paired.p_value:.0%} of cases"
    )
    return (
        f"{first} alone is right {paired.only_first:,} times, {second} alone "
        f"{paired.only_second:,} times: {verdict} (McNemar's exact test, p = {paired.p_value:.2g})."
    )
