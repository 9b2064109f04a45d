"""Heads: what each attention head does over many sentences."""

import streamlit as st

from ..shell import frame
from ..sources.head_texts import HeadTextSource, choose
from . import PAGE, job
from .grid import show_grid
from .head_map import show_map
from .ranked_heads import show_ranked
from .sinks import show_sinks


@frame.fragment
def views(page: frame.Page, chosen: HeadTextSource) -> None:
    """Draw grid, list and map; a click in them reruns only this, not the page."""
    report = job.report(page, chosen)
    if report.num_cut:
        st.caption(
            f"{report.num_cut:,} sentences have more tokens than this checkpoint can read; they "
            "were cut."
        )
    opened = show_grid(page, chosen, report)
    show_ranked(page, chosen, report)
    with frame.guard():
        show_sinks(page, chosen)
    show_map(page, chosen, report, opened)


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    with frame.guard(stop=True):
        chosen = choose()
    if chosen is None:
        frame.end_page()
    views(page, chosen)
