"""One measure on all heads, and one head's habits: the grid, the bars, and their controls."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import frame, state, texts
from app.figures import head_grid
from app.head_names import Measured, all_measured
from app.head_sources import Chosen
from app.marks import own, relabelled
from app.sections import head_job, head_list
from bertcore.analysis.head_report import HeadReport

_BEST = "best"


def show(page: frame.Page, chosen: Chosen, report: HeadReport) -> tuple[int, int] | None:
    """Draw grid, bars and controls; return the open head."""
    pair = st.container(horizontal=True, key="heads_pair")
    grid, bars = pair.container(), pair.container()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    known = all_measured(report)
    first = "to_previous" if "to_previous" in known else next(iter(known))
    key = row.selectbox(
        "Colour the heads by",
        list(known),
        format_func=lambda name: own(known[name].title, page.marks),
        key=state.keep("heads_measure", first, options=list(known)),
        on_change=lambda: state.put("heads_open", _BEST),
        width=430,
    )
    measured = known[key]
    opened = _choose_head(row, report, measured)
    code = head_job.code(page, chosen, _code(measured))
    with grid:
        fig = head_grid.head_grid(report, measured, opened)
        data = head_grid.relations_table if measured.direction else head_grid.measures_table
        fig = relabelled(fig, page.marks)
        frame.figure(fig, "heads-grid", data(report), code, on_select=pick("heads-grid"))
    if opened is not None:
        with bars:
            fig = head_grid.head_bars(report, *opened)
            table = head_grid.measures_table(report)
            mine = (table["layer"] == opened[0]) & (table["head"] == opened[1])
            fig = relabelled(fig, page.marks)
            frame.figure(fig, "heads-bars", table[mine], head_job.code(page, chosen, ""))
        _say(page, chosen, report, measured, opened)
    frame.how_to_read("heads.grid", sentences=f"{len(chosen.texts.sentences):,}")
    return opened


def pick(name: str) -> Callable[[], None]:
    """Return what opens the head that was clicked in a figure."""

    def clicked() -> None:
        points = st.session_state[f"figure_{name}"]["selection"]["points"]
        if points and points[0].get("customdata"):  # "layer.head"; the ring around one has none
            state.put("heads_open", points[0]["customdata"])

    return clicked


def _choose_head(
    row: DeltaGenerator, report: HeadReport, measured: Measured
) -> tuple[int, int] | None:
    num_layers, num_heads = report.statistics.means.mean.shape[:2]
    names = [f"{layer}.{head}" for layer in range(num_layers) for head in range(num_heads)]
    best = head_list.best(report, measured)

    def title(name: str) -> str:
        if name != _BEST:
            return "layer {} head {}".format(*name.split("."))
        return "none" if best is None else f"the highest: layer {best[0]} head {best[1]}"

    name = row.selectbox(
        "Head",
        [_BEST, *names],
        format_func=title,
        key=state.keep("heads_open", _BEST, options=[_BEST, *names]),
        width=260,
    )
    if name == _BEST:
        return best
    layer, head = name.split(".")
    return int(layer), int(head)


def _say(
    page: frame.Page,
    chosen: Chosen,
    report: HeadReport,
    measured: Measured,
    opened: tuple[int, int],
) -> None:
    """Say in a sentence what the open head has of the measure, with a link to an example."""
    sentence, shown = head_list.example(chosen, report, measured, opened)
    value = head_grid.interval_text(measured, report, *opened)
    text = texts.TEXTS["heads.open"].format(
        layer=opened[0],
        head=opened[1],
        measure=texts.plain(own(measured.title, page.marks)),
        value=value,
    )
    if sentence is not None:
        address = head_list.link(page.bert_key, *sentence, opened)
        text += texts.TEXTS["heads.open_example"].format(link=address, example=shown)
    st.markdown(text)


def _code(measured: Measured) -> str:
    if measured.direction:
        return f"report.scores.accuracy({measured.name!r}, {measured.direction!r}).mean  # [L, H]\n"
    return f"report.statistics.of({measured.name!r})  # mean, low, high: each [L, H]\n"
