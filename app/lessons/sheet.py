"""A lesson on paper: its questions with room to answer, in one HTML file that prints."""

from collections.abc import Mapping

from bertcore.lessons.lesson import Lesson, Step, unfilled

from ..guide.language import languages
from ..html_file.document import as_html, caption_html

_CSS = """
body { font: 12pt/1.4 Georgia, "Noto Serif CJK SC", "Songti SC", SimSun, serif; }
body { max-width: 42em; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 18pt; } h2 { font-size: 13pt; margin: 1.4em 0 0.2em; }
section { break-inside: avoid; } ul { list-style: "☐ "; } .goals { list-style: disc; }
.line { border-bottom: 1px solid #555; height: 1.8em; }
"""


def sheet(lesson: Lesson) -> str:
    """Return the file; texts of the lesson are shown as text, and nothing is fetched."""
    words = languages()[lesson.language]["sheet"]
    goals = "".join(f"<li>{as_html(goal)}</li>" for goal in lesson.goals)
    pair = f" / {lesson.text_b}" if lesson.text_b else ""
    steps = "".join(_step(number, step, words) for number, step in enumerate(lesson.steps, start=1))
    return (
        f'<!doctype html><html lang="{as_html(lesson.language)}"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{as_html(lesson.title)}</title><style>{_CSS}</style></head><body>"
        f"<h1>{as_html(lesson.title)}</h1><p>{words['head']}</p>"
        f'<ul class="goals">{goals}</ul>'
        f'<p>{words["sentence"]}<i lang="en">{as_html(lesson.text_a + pair)}</i><br>'
        f'{words["own"]}<span class="line">{"_" * 46}</span></p>'
        f"{steps}</body></html>"
    )


def _step(number: int, step: Step, words: Mapping[str, str]) -> str:
    choices = "".join(f"<li>{as_html(unfilled(choice.text))}</li>" for choice in step.choices)
    room = f"<ul>{choices}</ul>" if choices else f'<div class="line">{words["expect"]}</div>'
    return (
        f"<section><h2>{number}. {as_html(step.title)}</h2>{caption_html(unfilled(step.text))}"
        f"<p><b>{as_html(unfilled(step.question))}</b></p>{room}"
        f'<div class="line">{words["model"]}</div><div class="line">{words["why"]}</div></section>'
    )
