"""Two checkpoints by size, speed, and score on a labelled file."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from bertcore.analysis.compare.checkpoints import with_mask_of
from bertcore.analysis.compare.trade_off import (
    MANY,
    MOST_TIMED,
    Paired,
    Size,
    TextSpeed,
    TradeOff,
    are_told_apart,
    size_of,
    text_speeds,
    trade_off,
)
from bertcore.checkpoints.source import FINE_TUNED
from bertcore.tasks.model import TaskModel

from ..plots import METRIC_NAMES, Figure, error_bars, plain, theme, with_interval
from ..plots.before_after import AFTER, BEFORE
from ..second_checkpoint import Side
from ..shell import Compute, Picture, Progress, frame
from ..task_model import model as inspection
from ..task_model.file_choice import Labelled, choose_file
from ..task_model.task_views import view_of
from .case import Case, code_of, opening_code

_TIMES, _RUN = "_compare_times", "_compare_run"
NO_SCORE = (
    "**No scores.** {reason} Only two checkpoints that were fine-tuned for the same task can be "
    "scored here."
)

Range = tuple[float, float]  # from low to high
_ROW = 46
_GAP = 0.16  # of a row: how far the two marks of a metric are from its middle


@dataclass(frozen=True, slots=True)
class SizesAndSpeeds:
    """Size and speed of two checkpoints."""

    sizes: tuple[Size, Size]
    speeds: tuple[TextSpeed, TextSpeed]


def size_bars(measured: SizesAndSpeeds, names: tuple[str, str]) -> Figure:
    """Draw size and speed as pairs of bars, each row relative to its longest bar.

    Thin lines go from the slowest to the fastest pass.

    Args:
        measured: Both.
        names: Of the checkpoints; any text.
    """
    rows = _rows(measured)
    places = list(range(len(rows)))
    fig = Figure()
    for number, (name, colour) in enumerate(zip(names, (BEFORE, AFTER), strict=True)):
        fig.add(
            "bar",
            x=[row.values[number] / row.longest for row in rows],
            y=places,
            orientation="h",
            name=theme.escape(name),
            offsetgroup=str(number),
            marker={"color": colour, "line_width": 0},
            customdata=[row.hovers[number] for row in rows],
            hovertemplate=f"{theme.escape(name)}: %{{customdata}}<extra></extra>",
        )
    texts = [f"  {row.texts[0]} → <b>{row.texts[1]}</b>  {row.verdict}" for row in rows]
    fig.write_behind([1.0] * len(rows), places, texts)
    for number in range(2):
        _add_ranges(fig, rows, number)
    theme.plot_layout(fig, "", "", "", _ROW * len(rows) + 40)
    fig.update_layout(
        barmode="group",
        bargap=0.3,
        margin={"l": 0, "r": 0, "t": 32, "b": 4},
        legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0},
    )
    fig.update_xaxes(visible=False, range=[0, 1.75])
    fig.update_yaxes(**theme.named_rows([row.title for row in rows]))
    return fig


def _add_ranges(fig: Figure, rows: "Sequence[_Row]", number: int) -> None:
    """Draw thin lines from the slowest to the fastest pass, on the bars of one checkpoint."""
    timed = [(place, row) for place, row in enumerate(rows) if row.ranges is not None]
    fig.add(
        "bar",
        x=[row.values[number] / row.longest for _, row in timed],
        y=[place for place, _ in timed],
        orientation="h",
        offsetgroup=str(number),
        marker={"color": "rgba(0, 0, 0, 0)", "line_width": 0},
        error_x=error_bars(
            [row.values[number] / row.longest for _, row in timed],
            [row.span(number)[0] / row.longest for _, row in timed],
            [row.span(number)[1] / row.longest for _, row in timed],
            theme.ACCENT,
            thickness=2,
            width=5,
        ),
        hoverinfo="skip",
        showlegend=False,
    )


def size_table(measured: SizesAndSpeeds) -> pd.DataFrame:
    """Return size and speed as a table."""
    shapes = [
        ("layers", [size.num_layers for size in measured.sizes]),
        ("heads of a layer", [size.num_heads for size in measured.sizes]),
        ("width", [size.hidden_size for size in measured.sizes]),
        ("tokens of the text", [speed.num_tokens for speed in measured.speeds]),
    ]
    rows = [(row.title, *row.values) for row in _rows(measured)]
    for row in _rows(measured):
        if row.ranges is not None:
            for name, end in (("slowest pass", 0), ("fastest pass", 1)):
                rows.append((f"{row.title}, {name}", row.ranges[0][end], row.ranges[1][end]))
    return pd.DataFrame(
        [*rows, *((title, *values) for title, values in shapes)],
        columns=["quantity", "first", "second"],
    )


def score_dots(scored: TradeOff, names: tuple[str, str]) -> Figure:
    """Draw each metric of both as a dot with its 95% interval.

    Args:
        scored: Of one labelled file.
        names: Of the checkpoints; any text.
    """
    metrics = list(scored.sides[0].metrics)
    fig = Figure()
    for side, name, colour, shift in zip(
        scored.sides, names, (BEFORE, AFTER), (-_GAP, _GAP), strict=True
    ):
        values = [side.metrics[metric] for metric in metrics]
        spans = [
            side.intervals.get(metric, (value, value))
            for metric, value in zip(metrics, values, strict=True)
        ]
        fig.add(
            "scatter",
            x=values,
            y=[place + shift for place in range(len(metrics))],
            mode="markers",
            name=theme.escape(name),
            marker={"color": colour, "size": 11},
            error_x=error_bars(
                values,
                [low for low, _ in spans],
                [high for _, high in spans],
                colour,
                thickness=2,
                width=5,
            ),
            customdata=[
                with_interval(x, *span, ".3f") for x, span in zip(values, spans, strict=True)
            ],
            hovertemplate=f"{theme.escape(name)}: <b>%{{customdata}}</b><extra></extra>",
        )
    theme.plot_layout(fig, "", "", "", _ROW * len(metrics) + 72)
    fig.update_layout(
        margin={"l": 0, "r": 8, "t": 34, "b": 0},
        legend={"y": 1, "yanchor": "top", "yref": "container", "x": 0},
    )
    metric_names = [f"<b>{METRIC_NAMES.get(metric, metric)}</b>" for metric in metrics]
    fig.update_yaxes(**theme.named_rows(metric_names), zeroline=False)
    return fig


def score_table(scored: TradeOff) -> pd.DataFrame:
    """Return the metrics with their intervals, and the speed on the file, as a table."""
    nothing = float("nan")
    rows: list[tuple[str, str, float, float, float]] = []
    for which, side in zip(("first", "second"), scored.sides, strict=True):
        for metric, value in side.metrics.items():
            low, high = side.intervals.get(metric, (nothing, nothing))
            rows.append((which, metric, value, low, high))
        rows.append((which, "examples per second", side.examples_per_second, nothing, nothing))
    return pd.DataFrame(rows, columns=["checkpoint", "quantity", "value", "low", "high"])


@dataclass(frozen=True, slots=True)
class _Row:
    title: str
    values: tuple[float, float]
    texts: tuple[str, str]
    ranges: tuple[Range, Range] | None = None
    """Of a speed: from the slowest to the fastest pass."""

    @property
    def longest(self) -> float:
        """The largest number of the row."""
        return max([*self.values, *(end for ends in self.ranges or () for end in ends)])

    @property
    def verdict(self) -> str:
        """The second divided by the first; ≈ if they cannot be distinguished."""
        if self.ranges is None or are_told_apart(*self.ranges):
            return f"×{self.values[1] / self.values[0]:.2f}"
        return "≈"

    @property
    def hovers(self) -> list[str]:
        """The hover text of each bar."""
        if self.ranges is None:
            return list(self.texts)
        pairs = zip(self.texts, self.ranges, strict=True)
        return [f"{text} ({low:,.0f} to {high:,.0f})" for text, (low, high) in pairs]

    def span(self, number: int) -> Range:
        """Return the slowest and the fastest pass of a speed."""
        assert self.ranges is not None
        return self.ranges[number]


def _rows(measured: SizesAndSpeeds) -> list[_Row]:
    sizes, speeds = measured.sizes, measured.speeds
    one, two = speeds
    alone, together = (one.alone_range, two.alone_range), (one.together_range, two.together_range)
    quantities: Sequence[tuple[str, list[float], str, tuple[Range, Range] | None]] = [
        ("Parameters, millions", [s.num_parameters / 1e6 for s in sizes], "{:,.1f}", None),
        ("Memory of the weights, MB", [s.num_bytes / 1e6 for s in sizes], "{:,.1f}", None),
        ("Texts a second, one at a time", [s.alone for s in speeds], "{:,.0f}", alone),
        (f"Texts a second, {MANY} at a time", [s.together for s in speeds], "{:,.0f}", together),
    ]
    return [
        _Row(title, (values[0], values[1]), (form.format(values[0]), form.format(values[1])), ends)
        for title, values, form, ends in quantities
    ]


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
from bertcore.analysis.compare.trade_off import size_of, text_speeds

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
    with frame.guard():  # the scores do not wait for it
        _show_size(case)
    st.header("Which one answers better?", anchor=False)
    reason = _why_no_score(case)
    if reason:
        st.info(NO_SCORE.format(reason=plain(reason)))
        return
    _show_scores(case)


def _show_size(case: Case) -> None:
    times: int = st.session_state.get(_TIMES, 0)

    compute = Compute(name="compare-speed", stopped="The measurement was stopped.")
    measured = compute(_measured, case, times)
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


def _measured(case: Case, times: int, *, progress: Progress) -> SizesAndSpeeds:
    """Return size and speed of both; `times` makes each measurement another one."""
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
    return SizesAndSpeeds((one, two), (speeds[0], speeds[1]))


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
    source = next((source for source in sources if source in FINE_TUNED), sources[0])
    file = choose_file(view_of(model.task), source, model.labels)
    if file is None:
        return
    running: tuple[tuple[Side, Side], Labelled, int] | None = st.session_state.get(_RUN)
    number = 0 if running is None else running[2] + 1
    if st.button("Score both", type="primary", icon=":material/play_arrow:", key="compare_score"):
        running = (case.sides, file, number)
        st.session_state[_RUN] = running
    if running is None or running[0] != case.sides:
        return
    if running[1] != file:
        st.caption("Below is the last run. Score both to update it.")
    labelled = running[1]
    with frame.guard():
        compute = Compute(name="compare-score", stopped="Scoring was stopped.")
        _draw(case, labelled, compute(_scored, *running))


def _scored(
    sides: tuple[Side, Side], labelled: Labelled, number: int, *, progress: Progress
) -> TradeOff:
    """Return the scores of both; `number` makes each run another one."""
    first, second = (inspection.model(side.key) for side in sides)
    return trade_off(
        first,
        second,
        labelled.path,
        columns=labelled.columns,
        skip_bad_rows=labelled.skip_bad_rows,
        on_stage=lambda name, part: progress(part or 0.0, name),
    )


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
