"""Lessons: what each teaches, where the visitor is in it, sheet and notes."""

import tomllib
from pathlib import Path

import streamlit as st

from bertcore.lessons.lesson import Lesson

from ...navigation import PAGES
from ...plots import plain
from ...server.class_store import MAX_FINDING, store
from ...server.learners import is_teacher
from ...server.policy import policy
from ...shell import frame, texts
from ...shell.guide import catalogue, guide, in_class, own_lessons, sheet
from ...shell.words import language, tr
from ...shell.words.language import words
from . import PAGE, class_links

BESIDE = Path(__file__).with_name("beside.toml")
_EXERCISES = "_exercise_answers"


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    language.key()
    if start := catalogue.START.value:
        lesson = catalogue.find(start, language.language())
        if lesson is not None:
            guide.begin(lesson)
        st.warning(words("no_lesson", name=plain(start[:60])))
    is_first = class_links.OPENED.value  # by a link, which leads to the top of the page
    if is_first:
        class_links.show()
    with st.container(key="lesson_list"):
        language.show_unknown()
        _list()
        _beside()
    if not is_first:
        class_links.show()


def _list() -> None:
    """Draw a row for each lesson, and closed below them what else there is to one."""
    lessons = catalogue.lessons(language.language())
    unfinished = [one.name for one in lessons.values() if guide.OPEN in guide.done(one)]
    with st.container(gap="xsmall"):
        for number, lesson in enumerate(lessons.values(), start=1):
            _show_row(number, lesson, is_next=lesson.name in unfinished[:1])
    for fault in catalogue.faults().values() if own_lessons.is_written_here() else ():
        st.error(plain(fault))
    own_lessons.follow()
    with st.expander(f"**{words('own_text')} · {words('again')} · {words('more')}**"):
        st.markdown(words("intro"))
        name = st.selectbox(
            words("lessons"),
            list(lessons),
            format_func=lambda name: lessons[name].title,
            key="lesson_more",
        )
        _show_more(lessons[name])


def _beside() -> None:
    """Draw closed the exercises, and a path through lessons and pages for each of five notes."""
    told = tomllib.loads(BESIDE.read_text(encoding="utf-8"))
    with st.expander(f"**{words('exercises')}**"):
        _exercises(told["exercises"])
    with st.expander(f"**{words('paths')}**"):
        for path in told["paths"]:
            steps = (f"1. [{guide.markdown(step)}]({link})" for link, step in path["steps"])
            st.markdown("\n".join([f"**{path['title']}** {path['about']}\n", *steps]))


@frame.fragment
def _exercises(exercises: list[dict[str, str]]) -> None:
    """Draw the exercises with a field each, for the class or for a file of one's own."""
    if in_class.door():
        return
    titles = {page.name: tr(page.title) for page in PAGES.values()}
    answers: dict[int, str] = st.session_state.setdefault(_EXERCISES, {})
    asked = []
    for number, one in enumerate(exercises, start=1):
        question, title = one[language.language()], titles[one["link"].partition("?")[0]]
        st.markdown(f"{number}. {question} [{title}]({one['link']})")
        answers[number] = st.text_area(
            words("your_answer", number=number),
            answers.get(number, ""),
            key=f"exercise_{number}",
            max_chars=MAX_FINDING,
            height="content",
            placeholder=words("your_answer", number=number),
            label_visibility="collapsed",
        )
        asked.append(f"{number}. {question}\n\n{answers[number].strip() or '-'}\n")
        key = f"exercise_{number}_hand_in"
        if store() is not None and st.button(words("hand_in"), key=key, type="tertiary"):
            in_class.hand_in(f"{number}. {title}", one["link"], answers[number])
    st.download_button(
        words("save_answers"), "\n".join(asked), "exercises.txt", icon=":material/download:"
    )


def _show_row(number: int, lesson: Lesson, *, is_next: bool) -> None:
    """Draw a lesson as a link, with how long it takes, how much is done, and whether it is next."""
    letters = guide.done(lesson)
    icon = "check" if guide.OPEN not in letters else "play_arrow" if is_next else "arrow_forward"
    row = st.container(
        horizontal=True, vertical_alignment="center", key=f"lesson_{lesson.name}", gap="small"
    )
    if row.button(
        f"{number}. {guide.markdown(lesson.title)}",
        key=f"start_{lesson.name}",
        type="primary" if is_next else "tertiary",
        icon=f":material/{icon}:",
    ):
        guide.begin(lesson)
    if is_next:
        row.badge(words("first" if number == 1 else "go_on"))
    about = f" · {guide.markdown(lesson.summary)}" if is_next else ""
    num_done = sum(letter in guide.ANSWERED for letter in letters)
    done = f"{num_done}/{len(letters)}"
    if num_done:
        done = words("done_right", done=done, right=letters.count(guide.RIGHT))
    row.caption(f"{words('minutes', minutes=lesson.minutes)} · {done}{about}")
    with row:
        guide.show_language(lesson)


def _show_more(lesson: Lesson) -> None:
    """Draw other ways to take a lesson, its goals and sheet, and what a teacher needs."""
    row = st.container(horizontal=True, vertical_alignment="center")
    if row.button(words("own_text"), key="lesson_own", help=f"“{plain(texts()[0])}”"):
        guide.begin(lesson, own_text=True)
    again = catalogue.find(lesson.name + catalogue.AGAIN, language.language())
    if again is not None and row.button(
        words("again"), key="lesson_again", help=words("again_help")
    ):
        guide.begin(again)
    sheet.offer(lesson, row)
    st.markdown(guide.markdown(lesson.summary))
    st.markdown("\n".join(f"- {guide.markdown(goal)}" for goal in lesson.goals))
    if policy().school_class is not None and not is_teacher():
        return
    if lesson.misconceptions:
        st.markdown(f"**{words('misconceptions')}**")
        st.markdown("\n".join(f"- {guide.markdown(one)}" for one in lesson.misconceptions))
    if lesson.notes:
        st.markdown(f"**{words('notes')}**")
        st.markdown(guide.markdown(lesson.notes))
