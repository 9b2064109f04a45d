"""The script that the server in `main.py` runs for each visitor, at every change."""

from pathlib import Path

import streamlit as st

from app.access import visits
from app.access.policy import policy
from app.guide import guide
from app.navigation import PAGES, REMOVED, REMOVED_VIEWS, shown
from app.page_info import PageInfo
from app.shell import frame, sidebar, state, turns
from app.shell.jobs import waiting
from app.shell.signals import show_top
from app.streamlit_internals import Page
from bertcore.analysis.space.projection import open_umap

_REMOVED = "_removed_page"
"""Session state, for a visitor whose link named a removed page: who took over, and a sentence."""
ROOT = Path(__file__).resolve().parents[1]
OF_TOKENS = {"token", "view"}
"""Query parameters of version 0.1.0's links to its first page, Tokens & embeddings."""
AHEAD = {"layer_map": open_umap}
"""What a page waits for, begun beside the page before it."""


def main() -> None:
    """Draw the frame and run the chosen page."""
    lesson = guide.current()
    st.set_page_config(
        page_title="BertScope",
        # A named icon is loaded from another host.
        page_icon=str(ROOT / "app" / "shell" / "icon.svg"),
        layout="wide",
        initial_sidebar_state="auto" if lesson is None else "expanded",  # also on a phone
    )
    st.html(ROOT / "app" / "shell" / "style.css")
    visits.follow()
    state.begin_run()
    first, *_ = PAGES
    in_groups, infos = shown(has_class=policy().school_class is not None)
    pages = {
        folder: st.Page(
            ROOT / "pages" / f"{folder}.py",
            title=page.title,
            icon=page.icon,
            url_path="" if folder == first else page.name,
            default=folder == first,
        )
        for folder, page in infos.items()
    }
    # Streamlit serves the first page only at /, and would report its name as not found.
    alias = st.Page(
        ROOT / "pages" / f"{first}.py",
        title=PAGES[first].title,
        url_path=PAGES[first].name,
        visibility="hidden",
    )
    groups: dict[str, list[Page]] = {
        group: [pages[folder] for folder in folders] for group, folders in in_groups.items()
    }
    removed = {
        st.Page(lambda: None, title=name, url_path=name, visibility="hidden"): (pages[folder], what)
        for name, (folder, what) in REMOVED.items()
    }
    groups[next(iter(groups))] += [alias, *removed]
    # Expanded, so that no page hides behind "View 3 more"; a lesson opens the pages itself.
    chosen = st.navigation(groups, expanded=True, position="hidden" if lesson else "sidebar")
    if chosen is alias:
        state.go_to(pages[first])
    for page, (heir, what) in removed.items():
        if chosen is page:
            st.session_state[_REMOVED] = heir.url_path, what
            state.go_to(heir, REMOVED_VIEWS.get(page.url_path, {}))
    if chosen is pages[first] and state.in_url(OF_TOKENS):
        state.go_to(pages["tokens"])
    try:
        with turns.turn(), frame.guard():
            waiting.begin_page(chosen.url_path)
            if policy().is_closed and visits.has_lost():
                st.toast(visits.LOST, icon=":material/history:", duration="infinite")
            if lesson is not None:
                with st.sidebar:
                    guide.draw(lesson.name, chosen.url_path or PAGES[first].name)
            sidebar.draw()
            heir_of, what = st.session_state.get(_REMOVED, ("", ""))
            if what and chosen.url_path == heir_of:
                st.info(what, icon=":material/info:")
            else:
                st.session_state.pop(_REMOVED, None)
            with st.sidebar:
                show_top(chosen.url_path, *guide.part_shown())
            chosen.run()
            if lesson is None:
                _offer_next(chosen, pages, infos)
    finally:  # a page that ends early has done it in frame.end_page
        state.sync_url()


def _offer_next(chosen: Page, pages: dict[str, Page], infos: dict[str, PageInfo]) -> None:
    """Draw a link to the page after the chosen one, with the question that it answers."""
    order = list(pages)
    following = order[1:]
    for folder, other in zip(order, following, strict=False):
        if pages[folder] is chosen:
            row = st.container(horizontal=True, vertical_alignment="center", key="next_page")
            icon = ":material/arrow_forward:"
            row.page_link(pages[other], label=f"Next: {infos[other].title}", icon=icon)
            row.caption(infos[other].purpose)
            if other in AHEAD:
                turns.begin_ahead(AHEAD[other])


main()
