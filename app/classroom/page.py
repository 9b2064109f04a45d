"""The page Class: for the teacher, who enters its key; it follows the answers as they come."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from bertcore.lessons.lesson import Lesson, unfilled

from ..access import learners
from ..access.class_store import Answer, ClassStore, Finding, store
from ..access.policy import policy
from ..guide import catalogue, guide
from ..guide.language import language
from ..html_file.document import legible
from ..plots import plain
from ..plots.source_tables import markdown_table
from ..shell import Field, frame
from ..shell.picture_files import to_csv
from ..streamlit_internals import plotly_chart
from . import PAGE
from .figures import answers_figure
from .grades import canvas_csv, moodle_csv, scores
from .tally import bars, misconceptions, of_step

REFRESH_SECONDS = 3.0
LESSON = Field("class_lesson", "")
STEP = Field("class_step", 1)
_LINK = re.compile(r"[a-z-]*\?[\w%&=+.~*-]*", re.ASCII)


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    kept = store()
    if kept is None:
        st.info("This server has no class. Start one with: bertscope app --class NAME")
    elif not learners.is_teacher():
        _ask_key()
    else:
        _show_links()
        _follow()


def _ask_key() -> None:
    with st.form("class_key", width=420):
        typed = st.text_input("The teacher's key", type="password", max_chars=200)
        is_asked = st.form_submit_button("Open", type="primary")
    if is_asked and (complaint := learners.enter(typed)):
        st.error(complaint)
    elif is_asked:
        st.rerun()


def _show_links() -> None:
    with st.expander("Links for the class", icon=":material/link:"):
        st.caption("Copy one with a right click, or open it and show its address.")
        rows = [
            f"- [{guide.markdown(lesson.title)}]({catalogue.link(name)})"
            for name, lesson in catalogue.lessons(language()).items()
        ]
        st.markdown("\n".join(rows))


@st.fragment(run_every=REFRESH_SECONDS)
def _follow() -> None:
    """Draw the answers and findings; runs alone, again and again."""
    with frame.guard():
        kept, about = store(), policy().school_class
        assert kept is not None, "draw looks for it"
        assert about is not None, "only a class has a store"
        lessons = _known_lessons()
        answers = [answer.in_language(language()) for answer in kept.answers()]
        known = [
            answer
            for answer in answers
            if answer.lesson in lessons and 1 <= answer.step <= len(lessons[answer.lesson].steps)
        ]
        _show_totals(about.name, known, len(answers) - len(known))
        _show_lesson(known, lessons)
        _show_findings(kept)
        _show_grades(known, lessons)


def _known_lessons() -> dict[str, Lesson]:
    """Return all lessons and their questions for a week later, by name."""
    code = language()
    names = [name + end for name in catalogue.lessons(code) for end in ("", catalogue.AGAIN)]
    return {name: lesson for name in names if (lesson := catalogue.find(name, code)) is not None}


def _show_totals(name: str, answers: Sequence[Answer], num_unknown: int) -> None:
    num_learners = len({answer.learner for answer in answers})
    num_changed = sum(answer.num_changes > 0 for answer in answers)
    st.markdown(
        f"**{_text(name)}** · learners: {num_learners} · first answers, which count here: "
        f"{len(answers)} · changed later: {num_changed}"
    )
    if num_unknown:
        st.caption(f"{num_unknown} more are to steps that this version does not have.")


def _show_lesson(answers: Sequence[Answer], lessons: Mapping[str, Lesson]) -> None:
    counts = Counter(answer.lesson for answer in answers)
    newest = answers[-1].lesson if answers else next(iter(lessons))
    name = st.selectbox(
        "Lesson",
        list(lessons),
        format_func=lambda name: f"{lessons[name].title} (answers: {counts[name]})",
        key=LESSON.key(default=newest, options=list(lessons)),
    )
    lesson = lessons[name]
    own = [answer for answer in answers if answer.lesson == name]
    if not own:
        st.info(
            "No answer yet. Give out the link of the lesson: answers appear here by themselves."
        )
        return
    st.header("Misconceptions")
    _show_misconceptions(own, lesson)
    st.header("Answers by step")
    answered = sorted({answer.step for answer in own})
    step = st.selectbox(
        "Step",
        answered,
        format_func=lambda number: f"{number}. {lesson.steps[number - 1].title}",
        key=STEP.key(default=answered[-1], options=answered),
    )
    st.markdown(f"**{_lesson_text(lesson.steps[step - 1].question)}**")
    fig = answers_figure(bars(of_step(own, step)))
    config = {"displaylogo": False, "displayModeBar": False}
    plotly_chart(fig.to_dict(), key="figure_class", config=config)
    st.caption(
        "**How to read this.** A bar is an answer, or a range of numbers, and its length the "
        "learners who gave it first. Right is what the model answers on their own sentences, so "
        "one number may be right for some and wrong for others."
    )
    _show_steps(own, lesson)


def _show_misconceptions(answers: Sequence[Answer], lesson: Lesson) -> None:
    found = misconceptions(answers)
    if not found:
        st.caption("No wrong answer yet.")
    for wrong in found:
        title = _lesson_text(lesson.steps[wrong.step - 1].title)
        st.markdown(
            f"**{wrong.num_learners} of {wrong.num_answers}** answered “{_text(wrong.text)}” in "
            f"step {wrong.step}, {title}.  \n{wrong.why}"
        )


def _show_steps(answers: Sequence[Answer], lesson: Lesson) -> None:
    head = ("Step", "Answers", "Right at first", "Changed later", "Most frequent wrong answer")
    rows = []
    for number, step in enumerate(lesson.steps, start=1):
        own = of_step(answers, number)
        wrong = misconceptions(own, 1)
        right = sum(answer.is_right for answer in own)
        rows.append(
            (
                f"{number}\\. {_lesson_text(step.title)}",
                str(len(own)),
                f"{right} ({100 * right / len(own):.0f}%)" if own else "",
                str(sum(answer.num_changes > 0 for answer in own)) if own else "",
                f"{wrong[0].num_learners} × {_text(wrong[0].text)}" if wrong else "",
            )
        )
    st.markdown(markdown_table(head, rows))


def _show_findings(kept: ClassStore) -> None:
    found = kept.findings()
    st.header("Findings")
    if not found:
        st.caption("None yet. *Hand in* is under each picture of each page.")
        return
    head = ("Who", "What", "Numbers", "View")
    st.markdown(markdown_table(head, [_row(finding) for finding in found]))
    columns = ["name", "page", "link", "numbers", "first sentence", "second sentence"]
    _offer("findings", "Findings as CSV", to_csv(pd.DataFrame(found, columns=columns)))


def _row(finding: Finding) -> tuple[str, str, str, str]:
    both = f"{_text(finding.first)} {_text(finding.second)}"
    page = _text(finding.page)
    view = f"[{page}]({finding.link})" if _LINK.fullmatch(finding.link) else page
    return _text(finding.name) or "*no name*", both, _text(finding.numbers), view


def _show_grades(answers: Sequence[Answer], lessons: Mapping[str, Lesson]) -> None:
    st.header("Grades")
    of = scores(answers, lessons)
    nameless = {answer.learner for answer in answers if not answer.name}
    st.caption(
        f"{len(of)} learners typed a name and have a row; {len(nameless)} did not. A grade is the "
        "number of right first answers: in Canvas points, one for each step, in Moodle percent. "
        "Names are as typed; nobody checks them."
    )
    if of:
        with st.container(horizontal=True):
            _offer("canvas", "For Canvas", canvas_csv(of, lessons))
            _offer("moodle", "For Moodle", moodle_csv(of, lessons))


def _offer(name: str, label: str, content: bytes) -> None:
    st.download_button(
        label,
        content,
        f"class-{name}.csv",
        "text/csv",
        key=f"class_{name}",
        on_click="ignore",
        icon=":material/download:",
    )


def _text(typed: str) -> str:
    """Return what a learner typed as Markdown of one line that shows it letter by letter.

    Nothing in it becomes a link: a word joiner parts what Markdown takes for an address. Long words
    may be broken anywhere, or one would push the other columns out of sight.
    """
    parted = re.sub(r"(://|www|@)", "\\1\u2060", legible(typed), flags=re.IGNORECASE)
    return plain(re.sub(r"(\S{24})(?=\S)", "\\1\u200b", " ".join(parted.split())))


def _lesson_text(text: str) -> str:
    return guide.markdown(unfilled(text)).replace("|", "\\|")
