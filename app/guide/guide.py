"""The guide in the sidebar: a step of the lesson, its question, and the model's answer."""

import re
from typing import NoReturn

import numpy as np
import streamlit as st

from bertcore.lessons.answer import Found, Kind, NotShownError
from bertcore.lessons.lesson import Judgement, Lesson, Step, Verdict, drawn_row, filled, judge, tell
from bertcore.lessons.typed_number import asks_percent, typed_number
from bertcore.model import Model

from ..navigation import PAGES
from ..plots import plain
from ..plots.before_after import AnswerRows, pair_bars
from ..shell import cache, fetch, frame, sidebar
from ..shell.links import (
    HEADS,
    INSIDE_LAYER_TOKEN,
    LAYER,
    MASKED,
    TOKEN,
    name_of,
    open_page,
    script,
)
from ..shell.sentence_box import TEXT_A, TEXT_B, texts
from ..shell.state import Field, open_view
from ..streamlit_internals import plotly_chart
from . import catalogue, in_class
from . import language as languages
from .language import LANGUAGE, language, words

LESSON = Field("lesson", "")
STEP = Field("lesson_step", 1)
DONE = Field("lesson_done", "")
"""One letter for each step: r for a right answer, w for a wrong one, - for none."""
OWN = frozenset({LESSON.name, STEP.name, DONE.name, LANGUAGE.name})
_PROGRESS, _ANSWERS, _OPENED = "_lesson_progress", "_lesson_answers", "_lesson_steps_opened"
RIGHT, WRONG, OPEN = "r", "w", "-"
MOST_DRAWN = 10
"""Of a bar of a drawn row; all bars are scaled to a sum of 100%."""
MARKS = {RIGHT: ":material/check:", WRONG: ":material/close:", OPEN: ":material/circle:"}


def current() -> Lesson | None:
    """Return the lesson that the visitor takes, or None."""
    return catalogue.find(LESSON.value, language())


def done(lesson: Lesson) -> str:
    """Return what became of each step of a lesson, in the letters of DONE."""
    kept: str = st.session_state.get(_PROGRESS, {}).get(lesson.name, "")
    if not kept and LESSON.value == lesson.name:
        kept = "".join(letter if letter in (RIGHT, WRONG) else OPEN for letter in DONE.value)
    return kept[: len(lesson.steps)].ljust(len(lesson.steps), OPEN)


def begin(lesson: Lesson, *, own_text: bool = False) -> NoReturn:
    """Open a lesson where it was left, on its own text or on the visitor's."""
    letters = done(lesson)
    if not own_text:
        _put_texts(lesson.text_a, lesson.text_b)
    LESSON.put(lesson.name)
    DONE.put(letters.rstrip(OPEN))
    go_to(lesson.steps[max(0, letters.find(OPEN))])


def go_to(step: Step) -> NoReturn:
    """Open a step, and its picture beside it."""
    STEP.put(step.number)
    st.session_state[_OPENED] = st.session_state.get(_OPENED, 0) + 1
    languages.forget_unknown()
    if step.text_a is not None:
        _put_texts(step.text_a, step.text_b or "")
    try:
        found = _answer(step)
    except (ValueError, OSError, RuntimeError, MemoryError):  # the guide says why
        found = None
    name, choices = step.address(found)
    folder = next(folder for folder, page in PAGES.items() if page.name == name)
    open_view(script(folder), choices, OWN)


def part_shown() -> tuple[str, str]:
    """Return what tells an opened step from the one before, and the key of what it is about."""
    lesson = current()
    step = None if lesson is None else lesson.step(STEP.value)
    if step is None:
        return "", ""
    opened = st.session_state.get(_OPENED, 0)
    return f"{step.lesson.name} {step.number} {opened}", step.part


def leave() -> NoReturn:
    """End the lesson; its progress is kept for the visit."""
    LESSON.put("")
    open_page("lessons")


def _put_texts(text_a: str, text_b: str) -> None:
    TEXT_A.put(text_a)
    TEXT_B.put(text_b)


@frame.fragment
def draw(name: str, page: str) -> None:
    """Draw the guide; runs alone when the learner answers.

    Args:
        name: Of the lesson.
        page: Name of the page beside it.
    """
    languages.key()
    lesson = catalogue.find(name, language())
    assert lesson is not None, "run.py draws the guide of a lesson that there is"
    LESSON.key()
    STEP.key(low=1, high=len(lesson.steps))
    DONE.key()
    step, count = lesson.step(STEP.value), len(lesson.steps)
    assert step is not None, "its key keeps it within the lesson"
    with st.container(key="lesson_guide"):
        languages.show_unknown()
        show_language(lesson, "lesson_guide")
        title = markdown(lesson.title)
        st.caption(words("of_steps", title=title, number=step.number, count=count))
        st.progress(sum(letter != OPEN for letter in done(lesson)) / count)
        st.markdown(f"### {markdown(step.title)}")
        found = _found(step)
        if found is not None:
            _show_step(step, found, page)
            _ask(step, found)
        _move(step)
        in_class.show_name()


def show_language(lesson: Lesson, container: str) -> None:
    """Name the language of a container with a lesson; write if it is not the visitor's."""
    if lesson.language != language():
        st.caption(words("other_language"))
    languages.mark(container, lesson.language)


def _found(step: Step) -> Found | None:
    """Return the model's answer, or write why there is none."""
    try:
        return _answer(step)
    except NotShownError as error:
        why = plain(languages.found_words(str(error)))
        st.info(words("not_shown", why=why))
        offered = (step.lesson.text_a, step.lesson.text_b)
        if texts() != (offered[0], offered[1] or None) and st.button(
            words("take_text"), key="lesson_offer", icon=":material/edit:"
        ):
            _put_texts(*offered)
            go_to(step)
    except (ValueError, OSError, RuntimeError, MemoryError) as error:
        st.info(words("no_answer", why=plain(frame.sentence_of(error))))
    return None


def _answer(step: Step) -> Found:
    """Return the model's answer to a step on the visitor's text, in the visitor's language.

    ValueError if it has none; NotShownError if the text cannot show it.
    """
    return languages.in_words(_answer_in_english(step))


def _answer_in_english(step: Step) -> Found:
    """Return the same as the function found it, computed once."""
    text_a, text_b = texts()
    if not text_a.strip():
        raise NotShownError("Sentence A is empty.")
    key = sidebar.chosen_key()
    if not fetch.is_ready(key):
        raise ValueError("the checkpoint is not open yet. The page says what it waits for.")
    found: Found = cache.call(_find, key, step, text_a, text_b)
    return found


def _find(bert: Model, step: Step, text_a: str, text_b: str | None) -> Found:
    return step.find(bert, text_a, text_b)


def shown(text: str, found: Found) -> str:
    """Return a text of a lesson as Markdown, with its facts and the checkpoint's tokens."""
    return frame.own_tokens(filled(markdown(text), found.facts, plain))


def markdown(text: str) -> str:
    """Return a text of a lesson as Markdown without links and pictures: [MASK] is a token.

    >>> markdown("![x](http://a) [CLS]")
    '!\\\\[x\\\\](http://a) \\\\[CLS\\\\]'
    """
    return text.replace("[", "\\[").replace("]", "\\]")


def _show_step(step: Step, found: Found, page: str) -> None:
    st.markdown(shown(step.text, found))
    is_here = step.address(found)[0] == page
    if st.button(
        words("picture_again" if is_here else "picture"),
        key="lesson_picture",
        icon=":material/image:",
        type="tertiary" if is_here else "primary",
    ):
        go_to(step)


def _ask(step: Step, found: Found) -> None:
    """Draw the question, what the learner answers with, and the model's answer beside theirs."""
    st.markdown(f"**{shown(step.question, found)}**")
    answers = st.session_state.setdefault(_ANSWERS, {})
    place = (step.lesson.name, step.number)
    key = f"lesson_answer_{step.lesson.name}_{step.number}"
    chosen = _answer_box(step, found, key, answers.get(place))
    row = st.container(horizontal=True, vertical_alignment="center")
    is_asked = row.button(words("check"), key="lesson_check", type="primary")
    if is_asked and chosen is None:
        first = "pick_first" if step.options(found) else "number_first"
        row.caption(words("draw_first" if step.is_row else first))
    elif is_asked:
        answers[place] = chosen
    if chosen is not None and answers.get(place) == chosen:
        judgement = judge(step, found, chosen)
        if is_asked:
            _note(step, RIGHT if judgement.is_right else WRONG)
            in_class.note(step, chosen, lambda: verdicts(step, judgement))
        _show_verdict(tell(step, found, judgement, plain, markdown))
        if step.is_row:
            _show_rows(found, str(chosen))


def verdicts(step: Step, judgement: Judgement) -> dict[str, Verdict]:
    """Return what an answer is told in each language, by its code."""
    told = {}
    for code in languages.languages():
        lesson = catalogue.find(step.lesson.name, code)
        own = None if lesson is None else lesson.step(step.number)
        assert own is not None, "each language has all lessons, if only in English"
        found = languages.in_words(_answer_in_english(step), code)
        told[code] = tell(own, found, judgement, plain, markdown)
    return told


def _row_box(found: Found, key: str, before: str | float | None) -> str | None:
    """Draw a slider for each token; return the row, None while all are 0."""
    st.caption(words("draw"))
    former = str(before).split() if before is not None else []
    numbers = []
    with st.container(key="lesson_row", gap=None):
        for place, option in enumerate(found.options):
            name = f"{key}_{place}"
            if name not in st.session_state:
                is_there = len(former) == len(found.options)
                st.session_state[name] = int(former[place]) if is_there else 0
            numbers.append(st.slider(plain(option.text), 0, MOST_DRAWN, key=name))
    return " ".join(map(str, numbers)) if any(numbers) else None


def _show_rows(found: Found, chosen: str) -> None:
    """Lay the model's row over the learner's."""
    mine, model = (
        np.array(row, dtype=np.float32)
        for row in (drawn_row(found, chosen), [option.weight for option in found.options])
    )
    tokens = tuple(option.text for option in found.options)
    names = (words("yours"), words("models"))
    fig = pair_bars([AnswerRows(tokens, (mine, model))], [""], names)
    # Room for the numbers behind the longest bar, in a column as narrow as the guide's.
    fig.update_xaxes(range=[0, 3 * float(max(mine.max(), model.max()))])
    plotly_chart(
        fig.to_dict(), width="stretch", config={"displayModeBar": False}, key="lesson_rows"
    )


def _number_box(question: str, code: str, key: str, before: str | float | None) -> float | None:
    """Draw a box for a number, and how it is read unless that is plain; return it."""
    if key not in st.session_state:
        st.session_state[key] = "" if before is None else f"{before:.15g}"
    typed = st.text_input(
        words("number"), key=key, max_chars=60, placeholder=words("type_number")
    ).strip()
    number = typed_number(typed, code, is_percent=asks_percent(question))
    if typed and number is None:
        st.caption(words("no_number"))
    elif number is not None and not re.fullmatch(r"[+-]?\d+(\.\d+)?", typed, re.ASCII):
        st.caption(words("read_as", number=f"{number:.15g}"))
    return number


def _answer_box(
    step: Step, found: Found, key: str, before: str | float | None
) -> str | float | None:
    """Draw what the learner answers with; return the answer, None for none yet."""
    if step.is_row:
        return _row_box(found, key, before)
    options = step.options(found)
    if not options:
        return _number_box(step.question, step.lesson.language, key, before)
    if key not in st.session_state or st.session_state[key] not in options:
        st.session_state[key] = before if before in options else None
    if len(options) <= 8:
        picked: str | None = st.radio(
            step.question,
            list(options),
            format_func=lambda name: plain(options[name]),
            key=key,
            label_visibility="collapsed",
            index=None,
        )
        return picked
    chosen: str | None = st.selectbox(
        words("choice"),
        list(options),
        format_func=options.__getitem__,
        key=key,
        index=None,
        placeholder=words("pick"),
    )
    if _clicked(step) is not None:
        st.button(
            words("click"),
            key="lesson_click",
            icon=":material/ads_click:",
            type="tertiary",
            on_click=_take_click,
            args=(key, step, tuple(options)),
        )
    return chosen


def _take_click(key: str, step: Step, names: tuple[str, ...]) -> None:
    """Make what is chosen on the page beside the guide the answer."""
    if (picked := _clicked(step)) in names:
        st.session_state[key] = picked


def _clicked(step: Step) -> str | None:
    """Return what the visitor clicked on the page of a step; None if it reports no such click."""
    page = step.page.partition("?")[0]
    match None if step.answer is None else step.answer.kind, page:
        case Kind.HEAD, "attention":
            return name_of(LAYER.value, HEADS.value[0]) if HEADS.value else ""
        case Kind.TOKEN, "masked-words":
            return str(MASKED.value[-1]) if MASKED.value else ""
        case Kind.TOKEN, "tokens":
            return str(TOKEN.value)
        case Kind.TOKEN, "inside-layer":
            return str(INSIDE_LAYER_TOKEN.value)
    return None


def _note(step: Step, letter: str) -> None:
    """Keep what became of a step, for the visit and in the link."""
    letters = done(step.lesson)
    letters = letters[: step.number - 1] + letter + letters[step.number :]
    st.session_state.setdefault(_PROGRESS, {})[step.lesson.name] = letters
    DONE.put(letters.rstrip(OPEN))
    DONE.key()


def _show_verdict(verdict: Verdict) -> None:
    why = frame.own_tokens(verdict.why)
    if verdict.is_right:
        models = words("model", answer=plain(verdict.models))
        exact = "" if verdict.yours == verdict.models else f" {models}"
        st.success(f"**{words('right')}**{exact} {why}", icon=":material/check:")
    else:
        both = words("wrong", chosen=plain(verdict.yours), answer=plain(verdict.models))
        st.info(f"{both}\n\n{why}", icon=":material/lightbulb:")


def _move(step: Step) -> None:
    """Draw the ways back and forward, and out."""
    before, after = (step.lesson.step(step.number + by) for by in (-1, 1))
    row = st.container(horizontal=True)
    if row.button(words("back"), key="lesson_back", disabled=before is None) and before is not None:
        go_to(before)
    label = words("finish" if after is None else "next")
    if row.button(label, key="lesson_next", icon=":material/arrow_forward:"):
        leave() if after is None else go_to(after)
    with st.popover(words("all_steps"), type="tertiary", icon=":material/list:"):
        for other, letter in zip(step.lesson.steps, done(step.lesson), strict=True):
            label, key = f"{other.number}. {markdown(other.title)}", f"lesson_to_{other.number}"
            if st.button(label, key=key, icon=MARKS[letter], type="tertiary"):
                go_to(other)
        if st.button(words("leave"), key="lesson_leave", icon=":material/logout:"):
            leave()
