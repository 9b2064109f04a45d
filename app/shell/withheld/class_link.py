"""A tool that a teacher makes by a link: `?show=tokens,attention`, `?hide=bias,temperature`.

`show` names the pages and views that are left, `hide` pages, views and controls that are not
there. It stays in the address of each page, and in the browser for later visits. A hidden view is
not computed; a hidden control keeps the value of the link, or its default.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import streamlit as st

from ...navigation import DOOR, PAGES
from ...page_info import PageInfo
from ...plots import plain
from ...view import View, views_of
from ..browser.kept import keep, kept
from ..state import Field
from ..words import tr

SHOW, HIDE = Field("show", ""), Field("hide", "")
_TOOL, _ARRIVED = "_tool_of_link", "_page_of_link"
_MOST_NAMED = 5
"""Unknown names that the sentence about them repeats, each with at most `_MOST_LETTERS`."""
_MOST_LETTERS = 40
_APP = Path(__file__).resolve().parents[2]
_FIELD = re.compile(r'^(\w+)(?:: [^=]+)? = Field\(\s*"(\w+)"', re.MULTILINE)
_WIDGET = r"\.(?:\w*select\w*|slider|toggle|checkbox|\w+_input|\w+_area|\w+_control)\("
_DRAWN = re.compile(
    rf'{_WIDGET}\s*(?:tr\()?"([^"]+)"\)?,(?:(?!{_WIDGET}|\n\n|\.key\().)*?\bkey=(\w+)\.key\(',
    re.DOTALL,
)
"""The label of a widget, and the variable of its field."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What a link leaves of the app."""

    pages: frozenset[str] | None = None
    """Folders of the pages that are left besides the door; None for all."""
    views: frozenset[str] = frozenset()
    """Names of the views that are hidden."""
    headings: frozenset[tuple[str, str]] = frozenset()
    """Folder and question of each of them."""
    controls: frozenset[str] = frozenset()
    """Keys of the widgets that are hidden."""
    notes: tuple[str, ...] = ()
    """Sentences on what is odd about the link, for the page where it was opened."""

    def has(self, folder: str) -> bool:
        """Return whether a page is left."""
        return self.pages is None or folder in self.pages


ALL = Tool()


def tool() -> Tool:
    """Return the tool of this visit."""
    made: Tool = st.session_state.get(_TOOL, ALL)
    return made


def hides(view: View[Any]) -> bool:
    """Return whether a view is hidden."""
    return view.name in tool().views


def is_told(view: View[Any]) -> bool:
    """Return whether a view is hidden, and say so in its place."""
    if hides(view):
        st.caption(tr("The link that you opened hides this picture."))
    return hides(view)


def hides_heading(module: str, question: str) -> bool:
    """Return whether a question of a page is that of a hidden view.

    Args:
        module: Name of one of the page's modules, as in `__module__`.
    """
    return any(
        f".screens.{folder}." in module and asked == question for folder, asked in tool().headings
    )


def begin(infos: Mapping[str, PageInfo]) -> Tool:
    """Read the link that the visit began with, hide its controls, and return the tool.

    Args:
        infos: The pages of this server, by folder.
    """
    if _TOOL not in st.session_state:
        if not (SHOW.is_chosen or HIDE.is_chosen):
            put(kept(SHOW.name), kept(HIDE.name))
        show, hide = _names(SHOW), _names(HIDE)
        made = ALL
        if show or hide:
            made, show, hide = _made(infos, show, hide)
        put(",".join(show), ",".join(hide))
        st.session_state[_TOOL] = made
    made = tool()
    for field in (SHOW, HIDE):
        keep(field.name, field.value)
        field.key()
    if made.controls:
        keys = ", ".join(f".st-key-{key}" for key in sorted(made.controls))
        st.html(f"<style>{keys} {{ display: none !important; }}</style>")
    return made


def put(show: str, hide: str) -> None:
    """Set what the address names; both empty: the whole app, from the next run on."""
    SHOW.put(show, has_widget=False)
    HIDE.put(hide, has_widget=False)
    st.session_state.pop(_TOOL, None)


def opens(title: str, folder: str) -> bool:
    """Return whether a page is drawn; say why not, and what is odd about the link."""
    arrived = st.session_state.setdefault(_ARRIVED, folder)
    for note in tool().notes if folder == arrived else ():
        st.info(note, icon=":material/link:")
    if folder == DOOR or tool().has(folder):
        return True
    st.title(tr(title), anchor=False)
    st.info(tr("The link that you opened hides this page."), icon=":material/link:")
    return False


def link(show: list[str], hide: list[str]) -> str:
    """Return the query of a link to a tool.

    Args:
        show, hide: Names of pages, views and, in `hide`, controls.
    """
    parts = {"show": ",".join(show), "hide": ",".join(hide)}
    return "&".join(f"{name}={value}" for name, value in parts.items() if value)


@cache
def controls() -> dict[str, frozenset[str]]:
    """Return the keys of the widgets by each name: that of the field, or that in the address.

    Read from the source, since the fields of a page exist only once it was opened.
    """
    found: dict[str, set[str]] = {}
    for path in sorted(_APP.glob("s[ch]*/**/*.py")):  # screens and shell
        text = path.read_text(encoding="utf-8")
        for call in ast.walk(ast.parse(text)) if "Field(" in text else ():
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Name)
                and call.func.id == "Field"
                and call.args
                and isinstance(call.args[0], ast.Constant)
            ):
                key = str(call.args[0].value)
                urls = [
                    str(word.value.value)
                    for word in call.keywords
                    if word.arg == "url" and isinstance(word.value, ast.Constant)
                ]
                for name in (key, *urls):
                    found.setdefault(name, set()).add(key)
    for own in (SHOW, HIDE):
        found.pop(own.name, None)
    return {name: frozenset(keys) for name, keys in found.items()}


@cache
def labels() -> dict[str, tuple[str, str]]:
    """Return the page's folder, or "" for all pages, and the label of each widget by its key.

    Read from the source, too; without those whose label is computed.
    """
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(_APP.glob("s[ch]*/**/*.py"))}
    pairs = {pair for text in texts.values() for pair in _FIELD.findall(text)}
    fields = {name: [key for other, key in pairs if other == name] for name, _ in pairs}
    found: dict[str, tuple[str, str]] = {}
    for path, text in texts.items():
        folder = path.relative_to(_APP).parts[1] if "screens" in path.parts else ""
        for label, name in _DRAWN.findall(text):
            if len(keys := fields.get(name, [])) == 1:
                found.setdefault(keys[0], (folder, label))
    return found


def _names(field: Field[str]) -> list[str]:
    """Return the different names in an address, which are in lower case in the app."""
    names = (name.strip().lower() for name in field.value.split(","))
    return [name for name in dict.fromkeys(names) if name]


def _made(
    infos: Mapping[str, PageInfo], show: list[str], hide: list[str]
) -> tuple[Tool, list[str], list[str]]:
    """Return the tool that names make, and those of them that are known."""
    folders = {info.name: folder for folder, info in infos.items() if folder != DOOR}
    views: dict[str, tuple[str, str]] = {}
    if not {*show, *hide} <= {*folders}:  # only then: it imports the views of all pages
        views = {
            name: (page, view.question)
            for page in PAGES
            for name, view in views_of(page).items()
            if name not in folders
        }
    keys = controls() if not {*hide} <= {*folders, *views} else {}
    known_show = [name for name in show if name in folders or name in views]
    known_hide = [name for name in hide if name in folders or name in views or name in keys]
    unknown = [name for name in (*show, *hide) if name not in (*known_show, *known_hide)]

    left = {folders[name] if name in folders else views[name][0] for name in known_show}
    left = left or {*folders.values()}
    left -= {folders[name] for name in known_hide if name in folders}
    narrowed = {views[name][0] for name in known_show if name in views}
    hidden = {
        name
        for name, (page, _) in views.items()
        if name in known_hide or (page in narrowed and name not in known_show)
    }
    notes = []
    if unknown:
        told = ", ".join(plain(name[:_MOST_LETTERS]) for name in unknown[:_MOST_NAMED])
        further = len(unknown) - _MOST_NAMED
        if further > 0:
            told = tr("{names} and {number} more", names=told, number=f"{further:,}")
        notes.append(tr("The link names what is not in this app: {names}.", names=told))
    if not left:
        here = PurePosixPath(urlsplit(st.context.url or "").path).name
        left = {folders[here]} if here in folders else set()
        notes.append(tr("The link hides every page, so this one is left."))
    made = Tool(
        pages=None if left == {*folders.values()} else frozenset(left),
        views=frozenset(hidden),
        headings=frozenset(views[name] for name in hidden),
        controls=frozenset(
            key
            for name in known_hide
            if name not in folders and name not in views
            for key in keys[name]
        ),
        notes=tuple(notes),
    )
    return made, known_show, known_hide
