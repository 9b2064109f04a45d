"""The page Class: for the teacher, who enters its key; it follows the answers as they come."""

import re
from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from bertcore.lessons.lesson import Lesson, unfilled

from ...parts import qr_code
from ...parts.html_file.data_files import to_csv
from ...parts.html_file.document import legible
from ...plots import plain
from ...plots.source_tables import markdown_table
from ...server import learners
from ...server.class_store import Answer, ClassStore, StepCount, store
from ...server.policy import policy
from ...server.streamlit_internals import plotly_chart
from ...shell import Field, frame, pick
from ...shell.guide import catalogue, guide, in_class
from ...shell.words.language import language
from . import PAGE, removal
from .figures import answers_figure
from .grades import COLUMNS, canvas_csv, cells, grades_csv, moodle_csv
from .tally import bars, misconceptions, of_step

REFRESH_SECONDS = 3.0
LESSON = Field("class_lesson", "")
STEP = Field("class_step", 1)
PAGE_OF_GRADES = Field("class_grades_page", 1)
ROWS = 50  # of a page of grades
MOST_ROWS = 100
"""Findings that are drawn, again every few seconds: the newest."""
_LINK = re.compile(r"[a-z-]+|[a-z-]*\?[\w%&=+.~*-]*", re.ASCII)


def draw() -> None:
    """Draw the page."""
    frame.header(PAGE)
    kept = store()
    if kept is None:
        st.info("This server has no class. Start one with: bertscope app --class NAME")
    elif not learners.is_teacher():
        with st.form("class_key", width=420):
            typed = st.text_input("The teacher's key", type="password", max_chars=200)
            is_asked = st.form_submit_button("Open", type="primary")
        if is_asked and (complaint := learners.enter(typed)):
            st.error(complaint)
        elif is_asked:
            st.rerun()
    else:
        _show_links()
        _follow()
        removal.show(kept)


def _show_links() -> None:
    with st.expander("The link for the class", icon=":material/qr_code:"):
        titles = {name: one.title for name, one in catalogue.lessons(language()).items()}
        name = st.selectbox(
            "It opens", ["", *titles], format_func=lambda name: titles.get(name, "All lessons")
        )
        target = in_class.link(catalogue.link(name))
        st.code(target, language=None, wrap_lines=True)
        try:
            st.html(
                f'<img class="qr" alt="QR code of this link" src="{qr_code.image_url(target)}">'
            )
        except ValueError as error:
            st.caption(frame.message(error))
        st.caption(
            "Phones read the code. What stands after # is the key of the class, which nobody types "
            "then. The address of this page is yours alone, and so is its key."
        )


@st.fragment(run_every=REFRESH_SECONDS)
def _follow() -> None:
    """Draw the answers and findings; runs alone, again and again."""
    with frame.guard():
        kept, about = store(), policy().school_class
        assert kept is not None, "draw looks for it"
        assert about is not None, "only a class has a store"
        code = language()
        names = [name + end for name in catalogue.lessons(code) for end in ("", catalogue.AGAIN)]
        lessons = {name: one for name in names if (one := catalogue.find(name, code)) is not None}
        counts = kept.steps()
        known = [
            count
            for count in counts
            if count.lesson in lessons and lessons[count.lesson].step(count.step) is not None
        ]
        num_answered, num_named, num_nameless = kept.num_learners()
        num_answers, num_changed = (
            sum(getattr(count, name) for count in known) for name in ("num_answers", "num_changed")
        )
        st.markdown(
            f"**{_text(about.name)}** · learners: {num_answered} · first answers, which count "
            f"here: {num_answers} · changed later: {num_changed}"
        )
        if others := sum(count.num_answers for count in counts) - num_answers:
            st.caption(f"{others} more are to steps that this version does not have.")
        _show_hold(kept)
        _show_lesson(kept, known, lessons)
        _show_findings(kept)
        _show_grades(kept, num_named, num_nameless, lessons)


def _show_hold(kept: ClassStore) -> None:
    """Draw the button by which the class sees verdicts only when the teacher says so."""
    is_held = kept.is_held()
    row = st.container(horizontal=True, vertical_alignment="center")
    label, icon = ("Reveal", "visibility") if is_held else ("Freeze", "ac_unit")
    icon, args = f":material/{icon}:", (not is_held,)
    row.button(label, key="class_hold", icon=icon, type="primary", on_click=kept.hold, args=args)
    row.caption(
        "Frozen: answers are kept, and nobody is told until you reveal them."
        if is_held
        else "Each learner is told at once. Freeze, and they are told when you say so."
    )


def _show_lesson(
    kept: ClassStore, known: Sequence[StepCount], lessons: Mapping[str, Lesson]
) -> None:
    nums = {name: sum(c.num_answers for c in known if c.lesson == name) for name in lessons}
    newest = max(known, key=lambda count: count.newest).lesson if known else next(iter(lessons))
    called = {name: f"{one.title} (answers: {nums[name]})" for name, one in lessons.items()}
    name = pick("Lesson", called, LESSON, default=newest)
    lesson = lessons[name]
    steps = {step.number: step for step in lesson.steps}
    answered = sorted(count.step for count in known if count.lesson == name)
    if not answered:
        st.info(
            "No answer yet. Give out the link of the lesson: answers appear here by themselves."
        )
        return
    own = [
        answer.in_language(language()) for answer in kept.answers(name) if answer.step in answered
    ]
    st.header("Misconceptions")
    frequent = misconceptions(own)
    if not frequent:
        st.caption("No wrong answer yet.")
    for wrong in frequent:
        title = _lesson_text(steps[wrong.step].title)
        st.markdown(
            f"**{wrong.num_learners} of {wrong.num_answers}** answered “{_text(wrong.text)}” in "
            f"step {wrong.step}, {title}.  \n{wrong.why}"
        )
    st.header("Answers by step")
    titles = {number: f"{number}. {steps[number].title}" for number in answered}
    step = pick("Step", titles, STEP, default=answered[-1])
    st.markdown(f"**{_lesson_text(steps[step].question)}**")
    fig = answers_figure(bars(of_step(own, step)))
    config = {"displaylogo": False, "displayModeBar": False}
    plotly_chart(fig.to_dict(), key="figure_class", config=config)
    st.caption(
        "**How to read this.** A bar is an answer, or a range of numbers, and its length the "
        "learners who gave it first. Right is what the model answers on their own sentences, so "
        "one number may be right for some and wrong for others."
    )
    _show_steps(own, {c.step: c for c in known if c.lesson == name}, lesson)


def _show_steps(answers: Sequence[Answer], counts: Mapping[int, StepCount], lesson: Lesson) -> None:
    head = ("Step", "Answers", "Right at first", "Changed later", "Most frequent wrong answer")
    rows = []
    for step in lesson.steps:
        title, count = f"{step.number}\\. {_lesson_text(step.title)}", counts.get(step.number)
        if count is None:
            rows.append((title, "0", "", "", ""))
            continue
        wrong = misconceptions(of_step(answers, step.number), 1)
        rows.append(
            (
                title,
                str(count.num_answers),
                f"{count.num_right} ({100 * count.num_right / count.num_answers:.0f}%)",
                str(count.num_changed),
                f"{wrong[0].num_learners} × {_text(wrong[0].text)}" if wrong else "",
            )
        )
    st.container(key="class_steps").markdown(markdown_table(head, rows))


def _show_findings(kept: ClassStore) -> None:
    st.header("Findings")
    findings = kept.findings(MOST_ROWS)
    if not findings:
        st.caption("None yet. *Hand in* is under each picture of each page.")
        return
    rows = []
    for finding in findings:
        page = _text(finding.page)
        view = f"[{page}]({finding.link})" if _LINK.fullmatch(finding.link) else page
        who = _text(finding.name) or "*no name*"
        rows.append((f"#{finding.number}", who, _text(finding.text), view))
    table = markdown_table(("No.", "Who", "What", "View"), rows)
    st.container(key="class_handed_in").markdown(table)
    if len(findings) == MOST_ROWS:
        st.caption(f"These are the newest {MOST_ROWS}; the file has all.")
    _offer("findings", "Findings as CSV", lambda: to_csv(pd.DataFrame(kept.findings())))


def _show_grades(
    kept: ClassStore, num_named: int, num_nameless: int, lessons: Mapping[str, Lesson]
) -> None:
    st.header("Grades")
    st.caption(
        f"Learners with a name, who have a row: {num_named}; who answered without one: "
        f"{num_nameless}. A grade is the number of right first answers: in Canvas points, one for "
        "each step, in Moodle percent. A name belongs to the browser that typed it first; nobody "
        "else checks it."
    )
    if num_named:
        start, last = 0, 1 + (num_named - 1) // ROWS
        if last > 1:
            page = st.number_input(
                "Page", 1, last, key=PAGE_OF_GRADES.key(low=1, high=last), width=140
            )
            start = ROWS * (page - 1)
        rows = [tuple(map(_text, cells(grade))) for grade in kept.grades(ROWS, start)]
        st.container(key="class_graded").markdown(markdown_table(COLUMNS, rows))
        with st.container(horizontal=True):
            _offer("grades", "Grades as CSV", lambda: grades_csv(kept.grades()))
            _offer("canvas", "For Canvas", lambda: canvas_csv(kept.graded(), lessons))
            _offer("moodle", "For Moodle", lambda: moodle_csv(kept.graded(), lessons))


def _offer(name: str, label: str, content: Callable[[], bytes]) -> None:
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
