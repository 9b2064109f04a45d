"""A lesson on paper."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from streamlit.delta_generator import DeltaGenerator

from bertcore.lessons.lesson import Lesson, unfilled

from ...parts.html_file.document import caption_html
from ..words.language import languages, words

_PAGE = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
).get_template("sheet.html.jinja")


def offer(lesson: Lesson, row: DeltaGenerator) -> None:
    """Draw a button that offers the file of a lesson."""
    row.download_button(
        words("sheet"),
        lambda: page(lesson),
        f"{lesson.name}.html",
        "text/html",
        key="lesson_sheet",
        icon=":material/print:",
        help=words("sheet_help"),
    )


def page(lesson: Lesson) -> str:
    """Return the file; texts of the lesson are shown as text, and nothing is fetched."""
    told = languages()[lesson.language]["sheet"]
    return _PAGE.render(lesson=lesson, told=told, unfilled=unfilled, caption=caption_html)
