"""Lessons: their language, what each teaches, where the visitor is in it, sheet and notes."""

from collections.abc import Mapping

import streamlit as st

from bertcore.lessons.lesson import Lesson, Step, unfilled

from ..guide import catalogue, guide, language
from ..guide.language import languages, words
from ..html_file.document import as_html, caption_html
from ..plots import plain
from ..plots.source_tables import markdown_table
from ..shell import frame, texts
from . import PAGE


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    key = language.key()
    if catalogue.START.value:
        _start(catalogue.START.value)
    with st.container(key="lesson_list"):
        st.segmented_control(
            words("language"),
            list(language.languages()),
            key=key,
            format_func=lambda code: words("name", code),
            required=True,
            on_change=language.forget_unknown,
        )
        language.mark("lesson_list", language.language())
        language.show_unknown()
        _list()


def _list() -> None:
    st.markdown(words("intro"))
    lessons = catalogue.lessons(language.language()).values()
    head = tuple(map(words, ("lesson", "about", "minutes", "done")))
    rows = [(one.title, one.summary, str(one.minutes), _progress(one)) for one in lessons]
    st.markdown(guide.markdown(markdown_table(head, rows)))
    for lesson in lessons:
        with st.container(border=True, key=f"lesson_{lesson.name}"):
            _show(lesson)


def _start(name: str) -> None:
    """Begin the lesson that a link names; say so if there is none."""
    lesson = catalogue.find(name, language.language())
    if lesson is not None:
        guide.begin(lesson)
    st.warning(words("no_lesson", name=plain(name[:60])))


def _progress(lesson: Lesson) -> str:
    letters = guide.done(lesson)
    num_done = len(letters) - letters.count(guide.OPEN)
    done = f"{num_done}/{len(letters)}"
    return words("done_right", done=done, right=letters.count(guide.RIGHT)) if num_done else done


def _show(lesson: Lesson) -> None:
    letters = guide.done(lesson)
    st.header(guide.markdown(lesson.title), anchor=False)
    guide.show_language(lesson, f"lesson_{lesson.name}")
    row = st.container(horizontal=True, vertical_alignment="center")
    label = words("continue" if 0 < letters.count(guide.OPEN) < len(letters) else "start")
    if row.button(label, key=f"start_{lesson.name}", type="primary", icon=":material/play_arrow:"):
        guide.begin(lesson)
    if row.button(words("own_text"), key=f"own_{lesson.name}", help=f"“{plain(texts()[0])}”"):
        guide.begin(lesson, own_text=True)
    again = catalogue.find(lesson.name + catalogue.AGAIN, language.language())
    if again is not None and row.button(
        words("again"),
        key=f"again_{lesson.name}",
        help=words("again_help"),
    ):
        guide.begin(again)
    with st.expander(words("more")):
        st.markdown("\n".join(f"- {guide.markdown(goal)}" for goal in lesson.goals))
        row = st.container(horizontal=True)
        row.download_button(
            words("sheet"),
            lambda: sheet(lesson),
            f"{lesson.name}.html",
            "text/html",
            key=f"sheet_{lesson.name}",
            icon=":material/print:",
            help=words("sheet_help"),
        )
        if lesson.misconceptions:
            st.markdown(f"**{words('misconceptions')}**")
            st.markdown("\n".join(f"- {guide.markdown(one)}" for one in lesson.misconceptions))
        if lesson.notes:
            st.markdown(f"**{words('notes')}**")
            st.markdown(guide.markdown(lesson.notes))


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
    steps = "".join(_step(step, words) for step in lesson.steps)
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


def _step(step: Step, words: Mapping[str, str]) -> str:
    choices = "".join(f"<li>{as_html(unfilled(choice.text))}</li>" for choice in step.choices)
    room = f"<ul>{choices}</ul>" if choices else f'<div class="line">{words["expect"]}</div>'
    return (
        f"<section><h2>{step.number}. {as_html(step.title)}</h2>{caption_html(unfilled(step.text))}"
        f"<p><b>{as_html(unfilled(step.question))}</b></p>{room}"
        f'<div class="line">{words["model"]}</div><div class="line">{words["why"]}</div></section>'
    )
