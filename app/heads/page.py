"""Heads: what each attention head does over many sentences."""

import streamlit as st

from app.heads import PAGE, head_views, map_figures, ranked_heads
from app.heads import job as head_job
from app.heads import sources as head_sources
from app.plots.special_tokens import relabelled
from app.shell import frame, state, texts_lookup
from bertcore.analysis.heads.report import HeadReport


def show_map(
    page: frame.Page,
    chosen: head_sources.Chosen,
    report: HeadReport,
    opened: tuple[int, int] | None,
) -> None:
    places = head_job.head_places(page.bert_key, chosen, report)
    if places is None:
        return
    picture = st.container()
    colour = st.segmented_control(
        "Colour by",
        list(map_figures.COLOUR_BY),
        format_func=map_figures.COLOUR_BY.get,
        key=state.keep("heads_colour", "habit", options=list(map_figures.COLOUR_BY)),
        required=True,
    )
    compared = f"{report.distances.num_compared:,} of {report.distances.num_tokens:,}"
    how = frame.reading("heads.map", stress=f"{places.stress:.2f}", compared=compared)
    with picture:
        fig = map_figures.head_scatter(report, places, colour, opened)
        code = head_job.code(page, chosen, texts_lookup.CODE["heads.map"])
        arrays = map_figures.map_arrays(report, places)
        picked = head_views.pick("heads-map")
        fig = relabelled(fig, page.marks)
        frame.figure(fig, "heads-map", arrays, code, on_select=picked, how=how)
    frame.how_to_read("heads.map", stress=f"{places.stress:.2f}", compared=compared)


@st.fragment
def views(page: frame.Page, chosen: head_sources.Chosen) -> None:
    """Draw grid, list and map; a click in them runs only this, not the page."""
    found = head_job.report(page.bert_key, chosen)
    if found is None:  # it made room for others' meanwhile
        return
    with frame.guard():
        opened = head_views.show(page, chosen, found)
        ranked_heads.show(page, chosen, found)
        st.subheader("Heads that look alike", anchor=False)
        show_map(page, chosen, found, opened)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE, needs_text=False)
    with frame.guard(stop=True):
        chosen = head_sources.choose()
    if chosen is None:
        frame.end_page()
    with frame.guard(stop=True):
        report = head_job.report(page.bert_key, chosen)
    if report is None:
        frame.end_page()
    if report.num_cut:
        st.caption(texts_lookup.TEXTS["heads.cut"].format(count=f"{report.num_cut:,}"))
    views(page, chosen)
