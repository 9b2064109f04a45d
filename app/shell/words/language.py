"""The visitor's language, and the app's texts in it.

A text of the app is written in English where it is shown, as `tr("Masked words")`; `texts/zh.toml`
and `texts/ru.toml` have the others by the English one. The guide's words have names.
"""

import functools
import json
import re
import threading
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from bertcore.lessons.answer import Fact, Found
from bertcore.lessons.lesson import filled
from bertcore.lessons.translation import ENGLISH, PLACE

from ...navigation import DOOR, GROUPS, PAGES
from ...page_info import PageInfo
from ...parts.component import Component
from ...plots import plain, shorten
from .. import state
from ..browser import kept
from ..state import Field

FOLDER = Path(__file__).parent
LANGUAGE = Field("lesson_language", ENGLISH)
"""Of the whole app; its name is that of links to lessons, which had languages first."""
_RUN = threading.local()
"""`code`: the language of the run in this thread, for which hundreds of texts ask."""
_UNKNOWN, _MARKED = "_lesson_language_unknown", "_language_marked"
_NOTED = "_language_noted"
"""Session state: name of the page on which it was noted that others than the first are English."""
IN_ENGLISH = "This page is in English; the first seven of the menu are in your language."
COMPONENT = Component("bertscope_language", __file__)


@functools.cache
def languages() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return the words of each language by its code, English first."""
    files = sorted(FOLDER.glob("??.toml"), key=lambda path: (path.stem != ENGLISH, path.stem))
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in files}


@functools.cache
def _texts(folder: str = "texts") -> Mapping[str, Mapping[str, str]]:
    """Return the texts of the app in each language but English, by the English text.

    Args:
        folder: "browser" for those that its components write, "figures" for those in figures.
    """
    files = (FOLDER / folder).glob("*.toml")
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in files}


def texts() -> Mapping[str, str]:
    """Return the app's texts in the visitor's language, by the English text: for many at once."""
    return _texts().get(language(), {})


def tr(text: str, /, **facts: object) -> str:
    """Return an English text of the app in the visitor's language, with facts for its braces.

    English if the language lacks it. Facts go in as they are: what a visitor typed is `plain`.
    """
    own = texts().get(text, text)
    return own.format(**facts) if facts else own


def in_figure(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Return Plotly's dictionary of a figure with its texts in the visitor's language.

    Names on an axis or in the legend may be words of the visitor's: they stay unless all are ours.
    """
    own = _texts("figures").get(language())
    if own is None:
        return {**drawn}

    def translated(text: str) -> str | None:
        if not any(map(str.isalpha, text)):
            return text
        for template, words in own.items():
            if match := _pattern(template).fullmatch(text.rstrip(" \u2002\u200b")):
                return filled(words, match.groupdict(), str) + text[match.end() :]
        return None

    def all_of(names: list[Any]) -> list[Any]:
        told = [translated(str(name)) for name in names]
        return names if None in told else told

    def of(part: Any, name: str = "") -> Any:
        if isinstance(part, Mapping):
            return {key: of(value, key) for key, value in part.items()}
        if isinstance(part, list):
            return all_of(part) if name == "ticktext" else [*map(of, part)]
        return (name == "text" and isinstance(part, str) and translated(part)) or part

    data, names = [], all_of([trace.get("name", "") for trace in drawn["data"]])
    for trace, name in zip(drawn["data"], names, strict=True):
        bars = {key: of(trace[key]) for key in ("colorbar", "marker") if key in trace}
        if trace.get("textposition") == "outside":  # the names of bars
            bars["text"] = all_of(trace["text"])
        data.append({**trace, **bars, **({"name": name} if name else {})})
    return {**drawn, "data": data, "layout": of(drawn["layout"])}


def hand_over() -> None:
    """Draw, out of sight, what the components of the browser look up; nothing in English."""
    if own := _texts("browser").get(language()):
        words = escape(json.dumps(own, ensure_ascii=False))
        st.html(f'<div id="bertscope-words" data-words="{words}" hidden></div>')


def language() -> str:
    """Return the code of the language that the visitor or a link chose, or else the browser's.

    A choice is kept by the browser. English if that is none of ours.
    """
    if code := getattr(_RUN, "code", ""):
        return str(code)
    code = LANGUAGE.value if LANGUAGE.is_chosen else kept.kept("language") or _of_browser()
    return code if code in languages() else ENGLISH


def _of_browser() -> str:
    code = (st.context.locale or ENGLISH).partition("-")[0].lower()
    return code if code in languages() else ENGLISH


def key() -> str:
    """Return the field's key; the language is in the address from now on, unless the browser's."""
    _RUN.code = ""
    if not LANGUAGE.is_chosen:
        LANGUAGE.put(language(), has_widget=False)
    if LANGUAGE.value not in languages():
        st.session_state[_UNKNOWN] = LANGUAGE.value
    name = LANGUAGE.key(default=_of_browser(), options=tuple(languages()))
    kept.keep("language", "" if LANGUAGE.value == _of_browser() else LANGUAGE.value)
    _RUN.code = language()
    return name


def choose() -> None:
    """Draw the buttons that choose the language."""
    key = "language_choice"
    st.session_state[key] = language()
    st.segmented_control(
        words("language"),
        list(languages()),
        key=key,
        format_func=lambda code: words("name", code),
        required=True,
        label_visibility="collapsed",
        on_change=_chosen,
        args=(key,),
    )


def _chosen(key: str) -> None:
    _RUN.code = ""
    LANGUAGE.put(st.session_state[key])
    forget_unknown()
    state.write_all()  # the browser has the choices of rows of buttons by their former words


def show_unknown() -> None:
    """Write that a link asks for a language that is not here."""
    if _UNKNOWN in st.session_state:
        asked = plain(shorten(st.session_state[_UNKNOWN], 20))
        st.info(words("unknown_language", language=asked))


def forget_unknown() -> None:
    """Write it no longer."""
    st.session_state.pop(_UNKNOWN, None)


def words(name: str, /, code: str = "", **facts: Fact) -> str:
    """Return words of the guide in a language, by default the visitor's, with facts."""
    return filled(languages()[code or language()]["guide"][name], facts, str)


def found_words(text: str, *names: str, code: str = "") -> str:
    """Return what a function found or refused, in a language, by default the visitor's.

    As it is if the language has no words for it.

    Args:
        names: Of the words that it may be; nothing: any.
    """
    known, templates = languages()[code or language()]["found"], languages()[ENGLISH]["found"]
    for name in names or templates:
        if match := _pattern(templates[name]).fullmatch(text):
            return filled(known[name], match.groupdict(), str)
    return text


@functools.cache
def _pattern(template: str) -> re.Pattern[str]:
    """Return the pattern of a text with facts."""
    texts = PLACE.split(template)[::3]
    names = [f"(?P<{place[1]}>.+?)" for place in PLACE.finditer(template)]
    parts = zip(texts, [*names, ""], strict=True)
    return re.compile("".join(re.escape(text) + name for text, name in parts))


def in_words(found: Found, code: str = "") -> Found:
    """Return an answer with its options in a language, by default the visitor's."""
    options = (  # a text may be a token, of any word
        replace(
            one,
            text=found_words(one.text, "layer_head", "no_answer_there", code=code),
            value=found_words(one.value, code=code),
        )
        for one in found.options
    )
    return replace(found, options=tuple(options))


def mark(parts: Mapping[str, str]) -> None:
    """Name the language of parts of a lesson for screen readers.

    Args:
        parts: Code of the language by CSS selector.
    """
    COMPONENT(key="lesson_language", data=dict(parts))


def mark_page(page: PageInfo) -> None:
    """Name the language of page and menu for screen readers, if it is or was another than English.

    In another language, write on the first page of the visit that has no translation that it has
    none.
    """
    code = language()
    if code == ENGLISH and _MARKED not in st.session_state:
        return
    st.session_state[_MARKED] = True
    is_translated = page in (PAGES[folder] for folder in (DOOR, *GROUPS[""]))
    of_page = code if is_translated else ENGLISH
    COMPONENT(key="page_language", data={".stApp": of_page, ".stSidebar": code})
    if of_page != code and st.session_state.setdefault(_NOTED, page.name) == page.name:
        st.caption(tr(IN_ENGLISH))
