"""One measure on all heads, and one head's habits: the grid, the bars, and their controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from app.heads import answer as head_answer
from app.heads import grid_figures, ranked_heads
from app.heads import job as head_job
from app.heads.names import QUESTIONS, Measured, all_measured
from app.heads.sources import Chosen
from app.plots.special_tokens import own, own_markdown, relabelled
from app.shell import frame, state, texts_lookup
from bertcore.analysis.heads.report import HeadReport

_BEST = "best"


def show(page: frame.Page, chosen: Chosen, report: HeadReport) -> tuple[int, int] | None:
    """Draw question and answer, grid, bars and controls; return the open head."""
    known = all_measured(report)
    first = "to_previous" if "to_previous" in known else next(iter(known))
    measured = known[state.value(state.keep("heads_measure", first, options=list(known)))]
    names = [_BEST, *_head_names(report)]
    name = state.value(state.keep("heads_open", _BEST, options=names))
    best = head_answer.best(report, measured)
    opened = best if name == _BEST else _place(name)
    _ask(page, known, measured)
    if opened is not None:
        _answer(page, chosen, report, measured, opened, is_best=opened == best)
    pair = st.container(horizontal=True, key="heads_pair")
    grid, bars = pair.container(), pair.container()
    code = head_job.code(page, chosen, _code(measured))
    sentences = f"{len(chosen.texts.sentences):,}"
    how = frame.reading("heads.grid", sentences=sentences, opening="")
    with grid:
        fig = grid_figures.head_grid(report, measured, opened)
        data = grid_figures.relations_table if measured.direction else grid_figures.measures_table
        picked = pick("heads-grid")
        fig = relabelled(fig, page.marks)
        frame.figure(fig, "heads-grid", data(report), code, on_select=picked, how=how)
    if opened is not None:
        with bars:
            fig = grid_figures.head_bars(report, *opened)
            table = grid_figures.measures_table(report)
            mine = (table["layer"] == opened[0]) & (table["head"] == opened[1])
            fig = relabelled(fig, page.marks)
            code = head_job.code(page, chosen, "")
            frame.figure(fig, "heads-bars", table[mine], code, how=how)
    _controls(page, known, names, best)
    opening = texts_lookup.TEXTS["heads.opening"]
    frame.how_to_read("heads.grid", sentences=sentences, opening=opening)
    return opened


def _ask(page: frame.Page, known: Mapping[str, Measured], measured: Measured) -> None:
    """Draw the questions that one comes with; the chosen one is the measure, if it is of them."""
    offered = [key for key in QUESTIONS if key in known]
    st.session_state["heads_find"] = measured.key if measured.key in offered else None

    def choose() -> None:
        found = st.session_state["heads_find"]
        if found is not None:  # else it was clicked again: the measure stays
            state.put("heads_measure", found)
        state.put("heads_open", _BEST)

    st.pills(
        "Find a head that looks at …",
        offered,
        format_func=lambda name: own(QUESTIONS[name], page.marks),
        key="heads_find",
        on_change=choose,
    )


def _controls(
    page: frame.Page,
    known: Mapping[str, Measured],
    names: list[str],
    best: tuple[int, int] | None,
) -> None:
    """Draw the choice of any measure or relation, and of any head."""
    row = st.container(horizontal=True, vertical_alignment="bottom")
    row.selectbox(
        "Colour the heads by any measure or relation",
        list(known),
        format_func=lambda name: own(known[name].title, page.marks),
        key="heads_measure",
        on_change=lambda: state.put("heads_open", _BEST),
        width=430,
    )

    def title(name: str) -> str:
        if name != _BEST:
            return "layer {} head {}".format(*name.split("."))
        return "none" if best is None else f"the highest: layer {best[0]} head {best[1]}"

    row.selectbox("Head", names, format_func=title, key="heads_open", width=260)


def pick(name: str) -> Callable[[], None]:
    """Return what opens the head that was clicked in a figure."""

    def clicked() -> None:
        points = st.session_state[f"figure_{name}"]["selection"]["points"]
        if points and points[0].get("customdata"):  # "layer.head"; the ring around one has none
            state.put("heads_open", points[0]["customdata"])

    return clicked


def _head_names(report: HeadReport) -> list[str]:
    num_layers, num_heads = report.statistics.means.mean.shape[:2]
    return [f"{layer}.{head}" for layer in range(num_layers) for head in range(num_heads)]


def _place(name: str) -> tuple[int, int]:
    layer, head = name.split(".")
    return int(layer), int(head)


def _answer(
    page: frame.Page,
    chosen: Chosen,
    report: HeadReport,
    measured: Measured,
    opened: tuple[int, int],
    *,
    is_best: bool,
) -> None:
    """Say what the open head has of the measure, against what is no habit, and where to see it."""
    text = head_answer.sentences(report, measured, opened, is_best=is_best)
    text = own_markdown(text, page.marks)
    sentence, shown = ranked_heads.example(chosen, report, measured, opened)
    if sentence is not None:
        address = ranked_heads.link(page.bert_key, *sentence, opened)
        text += texts_lookup.TEXTS["heads.open_example"].format(link=address, example=shown)
    st.markdown(text)


def _code(measured: Measured) -> str:
    if measured.direction:
        return f"report.scores.accuracy({measured.name!r}, {measured.direction!r}).mean  # [L, H]\n"
    return f"report.statistics.of({measured.name!r})  # mean, low, high: each [L, H]\n"
