"""The script that the server in `main.py` runs for each visitor, at every change."""

from html import escape
from pathlib import Path

import streamlit as st

from app.navigation import (
    CLASS_LINK,
    DOOR,
    PAGES,
    QUESTIONS,
    READING,
    REMOVED,
    REMOVED_VIEWS,
    TEACH,
    shown,
)
from app.page_info import PageInfo
from app.server import visits
from app.server.policy import policy
from app.server.streamlit_internals import Page
from app.shell import frame, menu, sidebar, state, turns
from app.shell.browser.signals import show_top
from app.shell.guide import guide
from app.shell.jobs import waiting
from app.shell.withheld import class_link, covers
from app.shell.words import glossary, language, tr
from bertcore.analysis.space.projection import open_umap

_REMOVED = "_removed_page"
"""Session state, for a visitor whose link named a removed page: who took over, and a sentence."""
ROOT = Path(__file__).resolve().parents[1]
OF_TOKENS = {"token", "view"}
"""Query parameters of version 0.1.0's links to its first page, Tokens & embeddings."""
OF_DOOR = {"door"}
"""Query parameter of links to the door; links to / of before lead to what was there."""
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
        initial_sidebar_state="auto" if lesson is None else "collapsed",
    )
    visits.follow()
    state.begin_run()
    language.key()
    in_groups, infos = shown(has_class=policy().school_class is not None)
    tool, texts = class_link.begin(infos), language.texts()
    pages = {
        folder: st.Page(
            ROOT / "pages" / f"{folder}.py",
            title=menu.label(
                "Home" if folder == DOOR else page.title, QUESTIONS.get(folder, ""), texts
            ),
            icon=page.icon,
            url_path="" if folder == DOOR else page.name,
            default=folder == DOOR,
            visibility="visible" if folder == DOOR or tool.has(folder) else "hidden",
        )
        for folder, page in infos.items()
    }
    # Streamlit serves the first page only at /, and would report its name as not found.
    alias = st.Page(
        ROOT / "pages" / f"{DOOR}.py",
        title=tr(PAGES[DOOR].title),
        url_path=PAGES[DOOR].name,
        visibility="hidden",
    )
    groups: dict[str, list[Page]] = {
        texts.get(group, group): [pages[folder] for folder in folders]
        for group, folders in in_groups.items()
    }
    removed = {
        st.Page(lambda: None, title=name, url_path=name, visibility="hidden"): (pages[folder], what)
        for name, (folder, what) in REMOVED.items()
    }
    for_class = st.Page(
        lambda: None,
        title=menu.label(CLASS_LINK.title, CLASS_LINK.purpose, texts),
        url_path=CLASS_LINK.name,
        icon=CLASS_LINK.icon,
        visibility="visible" if tool == class_link.ALL else "hidden",
    )
    groups.setdefault(texts.get(TEACH, TEACH), []).append(for_class)
    groups[""] = [pages[DOOR], *groups[""], alias, *removed]
    # Expanded: style.css hides what is under *More tools*; a lesson opens the pages itself.
    chosen = st.navigation(groups, expanded=True, position="hidden" if lesson else "sidebar")
    if chosen is alias:
        state.go_to(pages[DOOR])
    if chosen is for_class:
        state.go_to(pages["lessons"], {"class_link": "1"})
    for page, (heir, what) in removed.items():
        if chosen is page:
            st.session_state[_REMOVED] = heir.url_path, what
            state.go_to(heir, REMOVED_VIEWS.get(page.url_path, {}))
    is_old = not state.in_url(OF_DOOR) and state.in_url_besides(
        {language.LANGUAGE.name, *state.OF_TOOL}
    )
    if chosen is pages[DOOR] and is_old:
        state.go_to(pages["tokens" if state.in_url(OF_TOKENS) else "glance"])
    if chosen is pages[DOOR]:
        st.set_page_config(initial_sidebar_state="collapsed")
    try:
        with turns.turn(), frame.guard():
            waiting.begin_page(chosen.url_path)
            if policy().is_closed and visits.has_lost():
                st.toast(visits.LOST, icon=":material/history:", duration="infinite")
            if lesson is None:
                with st.sidebar:
                    menu.draw_more(chosen.url_path, tool)
            sidebar.draw()
            heir_of, what = st.session_state.get(_REMOVED, ("", ""))
            if what and chosen.url_path == heir_of:
                st.info(what, icon=":material/info:")
            else:
                st.session_state.pop(_REMOVED, None)
            with st.sidebar:
                show_top(chosen.url_path, *guide.part_shown())
                language.hand_over()
            folder = next(folder for folder, page in pages.items() if page is chosen)
            left = [name for name in infos if name != DOOR and tool.has(name)]
            covers.begin(None)
            if lesson is not None:
                guide.draw(lesson, chosen.url_path or PAGES[DOOR].name, chosen.run)
            elif not guide.draw_fault() and class_link.opens(infos[folder].title, folder):
                chosen.run()
                order = READING[READING.index(folder) + 1 :] if folder in READING else ()
                left = [name for name in order if name in left]
            if lesson is None and chosen is not pages[DOOR]:
                _offer_next(left, pages, infos)
    finally:  # a page that ends early has done it in frame.end_page
        state.sync_url()


def _offer_next(left: list[str], pages: dict[str, Page], infos: dict[str, PageInfo]) -> None:
    """Draw a link to the first of the pages that are left, with the question that it answers."""
    for folder in left[:1]:
        row = st.container(horizontal=True, vertical_alignment="center", key="next_page")
        label = tr("Next: {title}", title=tr(infos[folder].title))
        row.page_link(pages[folder], label=label, icon=":material/arrow_forward:")
        purpose = glossary.explained(escape(tr(infos[folder].purpose)), "next", frame.shown().words)
        row.html(f'<p class="purpose">{purpose}</p>')
        if folder in AHEAD:
            turns.begin_ahead(AHEAD[folder])


main()
