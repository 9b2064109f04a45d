"""What stands beside the lessons: exercises, and a path through them for each of five notes."""

import functools
import tomllib
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from ...navigation import PAGES
from ...server.class_store import MAX_FINDING, store
from ...server.learners import learner
from ...shell import frame
from ...shell.guide import in_class
from ...shell.words import tr
from ...shell.words.language import language, words


@functools.cache
def read() -> dict[str, list[dict[str, Any]]]:
    """Return the tables of beside.toml."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def show() -> None:
    """Draw both, closed."""
    with st.expander(f"**{words('exercises')}**"):
        is_class = store() is not None and not in_class.door()
        for number, exercise in enumerate(read()["exercises"], start=1):
            link = exercise["link"]
            page = next(page for page in PAGES.values() if page.name == link.partition("?")[0])
            st.markdown(f"**{number}.** {exercise[language()]} [{tr(page.title)}]({link})")
            if is_class:
                _hand_in(number, f"{number}. {page.title}", link)
    with st.expander(f"**{words('paths')}**"):
        st.html("".join(map(_path, read()["paths"])))


def _hand_in(number: int, title: str, link: str) -> None:
    """Draw the field of an answer, which goes to the class."""
    label, key = words("answer_here"), f"exercise_{number}"
    text = st.text_area(
        label,
        key=key,
        height=68,
        max_chars=MAX_FINDING,
        placeholder=label,
        label_visibility="collapsed",
    )
    kept = store()
    if st.button(words("hand_in"), key=f"{key}_hand_in", type="tertiary") and kept is not None:
        with frame.guard():
            kept.hand_in(learner(), title, link, text)
            st.success(words("handed_in"))


def _path(path: dict[str, Any]) -> str:
    """Return a note's path, in its language, as HTML."""
    steps = (
        f'<li><a href="{escape(link)}">{escape(told)}</a></li>' for link, told in path["steps"]
    )
    head = f"<b>{escape(path['title'])}</b> {escape(path['about'])}"
    return f'<div lang="{path["language"]}"><p>{head}</p><ol>{"".join(steps)}</ol></div>'
