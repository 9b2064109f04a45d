"""The lessons that this server has, by language and name."""

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

from bertcore.lessons.lesson import Lesson, read_lesson
from bertcore.lessons.translation import ENGLISH

from ...server.policy import policy
from ..state import Field
from ..words.language import LANGUAGE, language, words
from . import own_lessons

FOLDER = Path(__file__).resolve().parents[2] / "screens" / "lessons"
AGAIN = "-again"
"""End of the name of a lesson's questions for a week later."""
START = Field("start_lesson", "", url="start")
"""The lesson that a link to the page Lessons begins."""


@functools.cache
def shipped(code: str = ENGLISH) -> Mapping[str, Lesson]:
    """Return a language's lessons by name, in the order of their files; missing ones in English."""
    files = {path.name: path for one in (ENGLISH, code) for path in (FOLDER / one).glob("*.toml")}
    found = (
        replace(read_lesson(path), language=path.parent.name) for _, path in sorted(files.items())
    )
    return {lesson.name: lesson for lesson in found}


def lessons(code: str = ENGLISH) -> Mapping[str, Lesson]:
    """Return the same, and after them those of the server's own folder that can be read now."""
    found = own_lessons.read_folder(policy().lessons, shipped(), code)
    return {**shipped(code), **{name: one for name, one in found if isinstance(one, Lesson)}}


def faults() -> dict[str, str]:
    """Return what is wrong with files of that folder, by the name of their lesson."""
    found = own_lessons.read_folder(policy().lessons, shipped())
    return {name: one for name, one in found if isinstance(one, str)}


def find(name: str, code: str = ENGLISH) -> Lesson | None:
    """Return a lesson, or its questions for a week later as one; None for an unknown name."""
    lesson = lessons(code).get(name.removesuffix(AGAIN))
    if lesson is None or not name.endswith(AGAIN):
        return lesson
    if not lesson.again:
        return None
    title = words("again_title", lesson.language, title=lesson.title)
    return replace(lesson, name=name, title=title, steps=lesson.again, again=())


def link(name: str) -> str:
    """Return the link that begins a lesson, or shows all, "", below the server's address."""
    begun, code = {START.url: name} if name else {}, language()
    query = urlencode(begun | ({LANGUAGE.name: code} if code != ENGLISH else {}))
    return f"lessons?{query}".rstrip("?")
