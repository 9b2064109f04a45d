"""A lesson in a text, without a file."""

from bertcore.base.toml_tables import from_table, parse_toml
from bertcore.lessons.lesson import Lesson


def parse_lesson(text: str, name: str = "lesson") -> Lesson:
    return from_table(Lesson, parse_toml(text, name), name=name)
