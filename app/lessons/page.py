"""Lessons: what each teaches, where the visitor is in it, its sheet and the teacher's notes."""

import streamlit as st

from bertcore.lessons.lesson import Lesson

from ..guide import catalogue, guide
from ..plots import plain
from ..plots.source_tables import markdown_table
from ..shell import frame, texts
from . import PAGE
from .sheet import sheet


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    if catalogue.START.value:
        _start(catalogue.START.value)
    st.markdown(
        "A lesson opens the pages itself: the guide on the left asks, you answer, and the model's "
        "answer is laid beside yours. Change the sentence at any time: the answers follow it."
    )
    lessons = catalogue.lessons().values()
    head = ("Lesson", "What it is about", "Minutes", "Done")
    rows = [(one.title, one.summary, str(one.minutes), _progress(one)) for one in lessons]
    st.markdown(guide.markdown(markdown_table(head, rows)))
    for lesson in lessons:
        with st.container(border=True, key=f"lesson_{lesson.name}"):
            _show(lesson)


def _start(name: str) -> None:
    """Begin the lesson that a link names; say so if there is none."""
    lesson = catalogue.find(name)
    if lesson is not None:
        guide.begin(lesson)
    st.warning(f"There is no lesson {plain(name[:60])}. Choose one below.")


def _progress(lesson: Lesson) -> str:
    letters = guide.done(lesson)
    num_done = len(letters) - letters.count(guide.OPEN)
    right = f", {letters.count(guide.RIGHT)} right" if num_done else ""
    return f"{num_done}/{len(letters)}{right}"


def _show(lesson: Lesson) -> None:
    letters = guide.done(lesson)
    st.header(lesson.title, anchor=False)
    row = st.container(horizontal=True, vertical_alignment="center")
    label = "Continue" if 0 < letters.count(guide.OPEN) < len(letters) else "Start"
    if row.button(label, key=f"start_{lesson.name}", type="primary", icon=":material/play_arrow:"):
        guide.begin(lesson)
    if row.button("With my sentence", key=f"own_{lesson.name}", help=f"“{plain(texts()[0])}”"):
        guide.begin(lesson, own_text=True)
    again = catalogue.find(lesson.name + catalogue.AGAIN)
    if again is not None and row.button(
        "A week later",
        key=f"again_{lesson.name}",
        help="The same goals, asked again on other sentences.",
    ):
        guide.begin(again)
    with st.expander("Goals, sheet and teacher's notes"):
        st.markdown("\n".join(f"- {guide.markdown(goal)}" for goal in lesson.goals))
        row = st.container(horizontal=True)
        row.download_button(
            "Printable sheet",
            lambda: sheet(lesson),
            f"{lesson.name}.html",
            "text/html",
            key=f"sheet_{lesson.name}",
            icon=":material/print:",
            help="Questions to answer on paper. The answers depend on the sentence: the guide has "
            "them.",
        )
        if lesson.misconceptions:
            st.markdown("**Common misconceptions**")
            st.markdown("\n".join(f"- {guide.markdown(one)}" for one in lesson.misconceptions))
        if lesson.notes:
            st.markdown("**For the teacher**")
            st.markdown(guide.markdown(lesson.notes))
