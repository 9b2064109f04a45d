"""One measure on all heads, and one head's habits: the grid, the bars, and their controls."""

from collections.abc import Mapping

import streamlit as st

from bertcore.analysis.heads.report import HeadReport
from bertcore.interventions import parse_head

from ..plots import own_markdown, own_text
from ..shell import Field, Picture, frame
from ..sources.head_texts import HeadTextSource
from . import answer, job
from .grid_figures import (
    count_text,
    grid_table,
    habits_table,
    head_bars,
    head_grid,
)
from .names import QUESTIONS, NamedMeasure, all_measured
from .ranked_heads import example, link

HIGHEST = "best"  # instead of a head's name: the head with the highest value

MEASURE = Field("heads_measure", "to_previous")
OPEN = Field("heads_open", HIGHEST)

_HOW = (
    "Each cell is a head; its number is {number}. {opening}The bars are all habits of the open "
    "head with 95% bootstrap intervals; the orange marks show a head that attends to all tokens it "
    "sees alike. Habits overlap: a full stop before \\[SEP\\] is both the token before and "
    "punctuation."
)
OPEN_EXAMPLE = "See it in a sentence"  # the link to a sentence on the page Attention
_OPENING = "Click a cell, or choose a head below, to open it. "

GRID = Picture(
    name="heads-grid",
    figure=head_grid,
    table=grid_table,
    how=_HOW,
    code="{numbers}    # [L, H]\n",
)
BARS = Picture(
    name="heads-bars",
    figure=head_bars,
    table=habits_table,
    how=_HOW,
    code="report.statistics.means.mean[{layer}, {head}]    # one number for each of MEASURES\n",
)


def show_grid(
    page: frame.Page, chosen: HeadTextSource, report: HeadReport
) -> tuple[int, int] | None:
    """Draw the question and its answer, grid, bars and controls; return the open head."""
    known = all_measured(report)
    first = MEASURE.default if MEASURE.default in known else next(iter(known))
    MEASURE.key(default=first, options=list(known))
    measured = known[MEASURE.value]
    names = [HIGHEST, *_head_names(report)]
    OPEN.key(options=names)
    best = answer.best(report, measured)
    opened = best if OPEN.value == HIGHEST else parse_head(OPEN.value)
    _show_questions(page, known, measured)
    if opened is not None:
        _answer(page, chosen, report, measured, opened, is_best=opened == best)
    pair = st.container(horizontal=True, key="heads_pair")
    grid, bars = pair.container(), pair.container()
    number = cell_meaning(report, measured)
    setup = job.setup_code(page, chosen)
    with grid:
        GRID.show(
            page,
            report,
            measured,
            drawn={"opened": opened, "marks": page.marks},
            setup=setup,
            on_select=OPEN.put,
            with_caption=False,
            numbers=_numbers(measured),
            number=number,
            opening="",
        )
    if opened is not None:
        with bars:
            BARS.show(
                page,
                report,
                *opened,
                drawn={"marks": page.marks},
                setup=setup,
                with_caption=False,
                layer=opened[0],
                head=opened[1],
                number=number,
                opening="",
            )
    _controls(page, known, names, best)
    GRID.caption(number=number, opening=_OPENING)
    return opened


def cell_meaning(report: HeadReport, measured: NamedMeasure) -> str:
    """Return what the number in a cell is, for the caption."""
    count = count_text(measured, report)
    if measured.direction:
        return f"how often it is right in {count}, in percent"
    unit = "percent" if measured.is_fraction else measured.title.split(", in ")[1]
    return f"the mean over {count}, in {unit}"


def _show_questions(
    page: frame.Page, known: Mapping[str, NamedMeasure], measured: NamedMeasure
) -> None:
    """Draw the prepared questions; the chosen one is the measure, if it is among them."""
    offered = [key for key in QUESTIONS if key in known]
    st.session_state["heads_find"] = measured.key if measured.key in offered else None

    def choose() -> None:
        question = st.session_state.get("heads_find")
        if question is not None:  # else it was clicked again: the measure stays
            MEASURE.put(question)
        OPEN.put(HIGHEST)

    st.pills(
        "Find a head that attends to …",
        offered,
        format_func=lambda name: own_text(QUESTIONS[name], page.marks),
        key="heads_find",
        on_change=choose,
    )


def _controls(
    page: frame.Page,
    known: Mapping[str, NamedMeasure],
    names: list[str],
    best: tuple[int, int] | None,
) -> None:
    """Draw the choice of any measure or relation, and of any head."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.selectbox(
        "Colour the heads by any measure or relation",
        list(known),
        format_func=lambda name: own_text(known[name].title, page.marks),
        key=MEASURE.name,
        on_change=lambda: OPEN.put(HIGHEST),
        width=430,
    )

    def title(name: str) -> str:
        if name != HIGHEST:
            return "layer {} head {}".format(*name.split("."))
        return "none" if best is None else f"the highest: layer {best[0]} head {best[1]}"

    row.selectbox("Head", names, format_func=title, key=OPEN.name, width=260)


def _head_names(report: HeadReport) -> list[str]:
    num_layers, num_heads = report.statistics.means.mean.shape[:2]
    return [f"{layer}.{head}" for layer in range(num_layers) for head in range(num_heads)]


def _answer(
    page: frame.Page,
    chosen: HeadTextSource,
    report: HeadReport,
    measured: NamedMeasure,
    opened: tuple[int, int],
    *,
    is_best: bool,
) -> None:
    """Write how much of the measure the open head has, and link to a sentence that shows it."""
    text = own_markdown(answer.sentences(report, measured, opened, is_best=is_best), page.marks)
    sentence, markdown = example(chosen, report, measured, opened)
    if sentence is not None:
        text += f" [{OPEN_EXAMPLE}]({link(page.bert_key, sentence, opened)}): {markdown}"
    st.markdown(text)


def _numbers(measured: NamedMeasure) -> str:
    """Return the Python of a measure's means."""
    if measured.direction:
        return f"report.scores.accuracy({measured.name!r}, {measured.direction!r}).mean"
    return f"report.statistics.of({measured.name!r}).mean"
