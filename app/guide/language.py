"""The language of the lessons: the visitor's choice, and the guide's own words in it."""

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import streamlit as st

from bertcore.lessons.answer import Fact, Found
from bertcore.lessons.lesson import filled
from bertcore.lessons.translation import ENGLISH, PLACE

from ..component import Component
from ..plots import plain, shorten
from ..shell.state import Field

FOLDER = Path(__file__).with_name("words")
LANGUAGE = Field("lesson_language", ENGLISH)
_UNKNOWN = "_lesson_language_unknown"
COMPONENT = Component("bertscope_language", __file__)


@functools.cache
def languages() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return the words of each language by its code, English first."""
    files = sorted(FOLDER.glob("*.toml"), key=lambda path: (path.stem != ENGLISH, path.stem))
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in files}


def language() -> str:
    """Return the code of the visitor's language; English for an unknown one."""
    return LANGUAGE.value if LANGUAGE.value in languages() else ENGLISH


def key() -> str:
    """Return the key of the widget; the language is in the address from now on."""
    if LANGUAGE.value not in languages():
        st.session_state[_UNKNOWN] = LANGUAGE.value
    return LANGUAGE.key(options=tuple(languages()))


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
            text=found_words(one.text, "layer_head", code=code),
            value=found_words(one.value, code=code),
        )
        for one in found.options
    )
    return replace(found, options=tuple(options))


def mark(container: str, code: str) -> None:
    """Name the language of a container's texts, for screen readers; draws nothing itself."""
    COMPONENT(key=f"{container}_language", data={"container": container, "code": code})
