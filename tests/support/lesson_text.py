"""A lesson in a text, without a file."""

from bertcore.lessons.lesson import Lesson, lesson_of, parsed


def parse_lesson(text: str, name: str = "lesson") -> Lesson:
    return lesson_of(parsed(text, name), name)
