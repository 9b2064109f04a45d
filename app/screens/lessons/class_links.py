"""The form in which a teacher chooses what a link shows, and its link."""

from urllib.parse import urljoin

import streamlit as st

from ...navigation import DOOR, PAGES
from ...server.learners import is_teacher
from ...shell import Field, frame
from ...shell.guide import in_class
from ...shell.withheld import class_link
from ...shell.words import tr
from ...view import views_of

OPENED = Field("class_link", False)
SHOWN: Field[list[str]] = Field("link_pages", [])
VIEWS: Field[list[str]] = Field("link_views", [])
HIDDEN: Field[list[str]] = Field("link_hidden", [])


@frame.closed("Make a link for my class: choose what it shows", OPENED)
def show() -> None:
    """Draw the form."""
    folders = {page.name: folder for folder, page in PAGES.items() if folder != DOOR}
    names = [name for name in folders if name != "lessons"]
    pages = st.multiselect(
        tr("Pages"),
        names,
        key=SHOWN.key(options=names),
        format_func=lambda name: tr(PAGES[folders[name]].title),
        placeholder=tr("All pages"),
    )
    views = {
        name: view.question
        for page in pages
        for name, view in views_of(folders[page]).items()
        if name not in folders
    }
    if views:
        st.multiselect(
            tr("Pictures of these pages"),
            list(views),
            key=VIEWS.key(options=list(views)),
            format_func=lambda name: tr(views[name]),
            placeholder=tr("All pictures"),
        )
    titles = {folder: tr(page.title) for folder, page in PAGES.items()}
    names_of = {
        name: f"{titles[folder]}: {tr(label)}" if folder in titles else tr(label)
        for name, (folder, label) in class_link.labels().items()
        if name not in {*folders, *views} and folder != "lessons"
    }
    st.multiselect(
        tr("Hide controls"),
        sorted(names_of, key=names_of.__getitem__),
        key=HIDDEN.key(options=[*names_of]),
        format_func=names_of.__getitem__,
        placeholder=tr("None"),
    )
    query = class_link.link([*pages, *(VIEWS.value if views else ())], HIDDEN.value)
    if query:
        path = f"{(pages or ['glance'])[0]}?{query}"
        target = in_class.link(path) if is_teacher() else urljoin(st.context.url or "/", path)
        st.code(target, language=None, wrap_lines=True)
        st.link_button(tr("Try it"), target, icon=":material/open_in_new:")
    else:
        st.caption(tr("Choose a page, or a control to hide: the link stands here."))
