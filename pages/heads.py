"""Heads: what each attention head does over many sentences."""

import streamlit as st

from app import frame, head_sources, state, texts
from app.figures import head_map
from app.marks import relabelled
from app.sections import head_job, head_list, head_view
from bertcore.analysis.head_report import HeadReport

page = frame.begin("heads", needs_text=False)
with frame.guard(stop=True):
    chosen = head_sources.choose()
if chosen is None:
    frame.end_page()
with frame.guard(stop=True):
    report = head_job.report(page.bert_key, chosen)
if report is None:
    frame.end_page()
if report.num_cut:
    st.caption(texts.TEXTS["heads.cut"].format(count=f"{report.num_cut:,}"))


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
        list(head_map.COLOUR_BY),
        format_func=head_map.COLOUR_BY.get,
        key=state.keep("heads_colour", "habit", options=list(head_map.COLOUR_BY)),
        required=True,
    )
    compared = f"{report.distances.num_compared:,} of {report.distances.num_tokens:,}"
    how = frame.reading("heads.map", stress=f"{places.stress:.2f}", compared=compared)
    with picture:
        fig = head_map.head_scatter(report, places, colour, opened)
        code = head_job.code(page, chosen, texts.CODE["heads.map"])
        arrays = head_map.map_arrays(report, places)
        picked = head_view.pick("heads-map")
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
        opened = head_view.show(page, chosen, found)
        head_list.show(page, chosen, found)
        st.subheader("Heads that look alike", anchor=False)
        show_map(page, chosen, found, opened)


views(page, chosen)
