"""The menu: seven pages at first, the others under *More tools*."""

from collections.abc import Mapping

import streamlit as st

from ..navigation import GROUPS, PAGES
from .browser.kept import kept
from .withheld import class_link
from .withheld.class_link import Tool
from .words import tr

MOST_OPEN = 9
"""Pages of a teacher's link that are in view without *More tools*."""
_OPENED = "_more_tools"
"""Session state: whether the visitor was on a page under *More tools*."""


def label(title: str, question: str, texts: Mapping[str, str]) -> str:
    """Return a page's entry, as Markdown.

    Args:
        question: Under *More tools*; empty for none.
        texts: Of the visitor's language.
    """
    title, question = texts.get(title, title), texts.get(question, question)
    return f"{title} :small[{question}]" if question else title


def draw_more(page: str, tool: Tool) -> None:
    """Draw what opens *More tools*, below the list of pages.

    The browser opens it by itself: the list is the same message in each run, and style.css hides
    what is under a closed one. It opens for a page whose entry is there; a choice is kept.

    Args:
        page: Name of the page that is shown.
        tool: One with few pages shows them all.
    """
    if tool != class_link.ALL:
        st.button(tr("Show the whole app"), on_click=class_link.put, args=("", ""), type="tertiary")
    if tool.pages is not None and len(tool.pages) <= MOST_OPEN:
        st.html('<details class="more-tools" open hidden></details>')
        return
    if page and page not in {PAGES[folder].name for folder in GROUPS[""]}:
        st.session_state[_OPENED] = True
    is_open = " open" if _OPENED in st.session_state or kept("more_tools") else ""
    names = f"<b>{tr('More tools')}</b><b>{tr('Fewer tools')}</b>"
    st.html(f'<details class="more-tools"{is_open}><summary>{names}</summary></details>')
