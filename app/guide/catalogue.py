"""The lessons that this server has, by their names."""

import functools
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bertcore.lessons.lesson import Lesson, read_lesson

from ..shell.state import Field

FOLDER = Path(__file__).resolve().parents[1] / "lessons" / "en"
AGAIN = "-again"
"""End of the name of a lesson's questions for a week later."""
START = Field("start_lesson", "", url="start")
"""The lesson that a link to the page Lessons begins."""


@functools.cache
def lessons() -> Mapping[str, Lesson]:
    """Return the lessons by name, in the order of their files."""
    found = (read_lesson(path) for path in sorted(FOLDER.glob("*.toml")))
    return {lesson.name: lesson for lesson in found}


def find(name: str) -> Lesson | None:
    """Return a lesson, or its questions for a week later as one; None for an unknown name."""
    lesson = lessons().get(name.removesuffix(AGAIN))
    if lesson is None or not name.endswith(AGAIN):
        return lesson
    if not lesson.again:
        return None
    title = f"{lesson.title}: a week later"
    return replace(lesson, name=name, title=title, steps=lesson.again, again=())


def link(name: str) -> str:
    """Return the link that begins a lesson, below the server's address."""
    return f"lessons?{START.url}={name}"
