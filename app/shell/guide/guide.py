"""A lesson in place of a page: a step's figure, its question, and the model's answer."""

import hashlib
import re
import textwrap
from collections.abc import Callable
from typing import NamedTuple, NoReturn

import streamlit as st

from bertcore.lessons.answer import Found, Kind, NotShownError
from bertcore.lessons.lesson import (
    Judgement,
    Lesson,
    Step,
    Verdict,
    filled,
    hint,
    judge,
    tell,
    written,
)
from bertcore.lessons.typed_number import asks_percent, typed_number
from bertcore.model.model import Model

from ...navigation import PAGES
from ...parts.html_file.document import caption_html
from ...plots import plain
from ...server.class_store import OWN as ON_OWN
from ...server.learners import learner
from .. import cache, fetch, frame, sidebar
from ..links import HEADS, INSIDE_LAYER_TOKEN, LAYER, MASKED, TOKEN, name_of, open_page, script
from ..sentence_box import TEXT_A, TEXT_B, texts
from ..state import Field, open_view
from ..withheld import covers
from ..words import glossary
from ..words import language as languages
from ..words.language import LANGUAGE, language, words
from . import catalogue, gap, in_class, own_lessons, sheet

LESSON = Field("lesson", "")
STEP = Field("lesson_step", 1)
DONE = Field("lesson_done", "")
"""One letter for each step, as below, and the visitor's mark."""
OWN = frozenset({LESSON.name, STEP.name, DONE.name, LANGUAGE.name})
_PROGRESS, _ANSWERS, _OPENED = "_lesson_progress", "_lesson_answers", "_lesson_steps_opened"
_FIRST, _TEXTS = "_lesson_first_answers", "_lesson_texts"
_BROUGHT = "_lesson_brought_texts"
"""What the visitor had typed before the lesson."""
OPEN, TRIED, RIGHT, LATER, WRONG, SHOWN, HELD = "-trlwsh"
"""No answer; wrong once; right at first; right at last; wrong twice; shown, which is no answer;
answered, and told when the teacher says so."""
SETTLED = (RIGHT, LATER, WRONG, SHOWN)
ANSWERED = (RIGHT, LATER, WRONG)
MARKS = {
    RIGHT: ":material/check:",
    LATER: ":material/done_all:",
    WRONG: ":material/close:",
    SHOWN: ":material/visibility:",
    HELD: ":material/hourglass_empty:",
} | dict.fromkeys((OPEN, TRIED), ":material/circle:")
SURE, _SURE = "sure", "lesson_sure_"
REVEAL_SECONDS = 3.0  # after which it is looked again whether the teacher shows the verdicts


class First(NamedTuple):
    """The first answer to a step, beside the model's."""

    yours: str
    models: str
    is_right: bool
    times: float
    """How many times too large or too small a number was; 0 for what was picked."""
    is_sure: bool
    """By the learner's own mark."""


def current() -> Lesson | None:
    """Return the lesson that the visitor takes, or None."""
    return catalogue.find(LESSON.value, language())


def draw_fault() -> bool:
    """Draw in place of a lesson that its file is wrong, until that has changed; False if not."""
    told = catalogue.faults().get(LESSON.value.removesuffix(catalogue.AGAIN), "")
    if told:
        LESSON.key()
        own_lessons.follow()
        st.info(words("file_changes"), icon=":material/edit_note:")
        if own_lessons.is_written_here():
            st.error(plain(told))
        if st.button(words("leave"), key="lesson_leave", icon=":material/logout:"):
            leave()
    return bool(told)


def done(lesson: Lesson, *, on_own: bool = False) -> str:
    """Return what became of each step of a lesson, in the letters of DONE.

    Args:
        on_own: On a sentence of the learner's own.
    """
    place = f"{lesson.name}{ON_OWN if on_own else ''}"
    kept: str = st.session_state.get(_PROGRESS, {}).get(place, "")
    if not kept and LESSON.value == lesson.name and not on_own:
        letters = DONE.value.partition(".")[0]
        kept = letters if DONE.value == _signed(lesson, letters) else ""
    return kept[: len(lesson.steps)].ljust(len(lesson.steps), OPEN)


def _signed(lesson: Lesson, letters: str) -> str:
    """Return what became of a lesson as a link may say so to this visitor: it lifts covers."""
    told = f"{learner()} {lesson.name} {letters}"
    return f"{letters}.{hashlib.sha256(told.encode()).hexdigest()[:12]}" if letters else ""


def begin(lesson: Lesson, *, own_text: bool = False) -> NoReturn:
    """Open a lesson where it was left, on its own text or on the visitor's."""
    letters = done(lesson)
    st.session_state.pop(_TEXTS, None)
    if not LESSON.value and TEXT_A.is_chosen:
        st.session_state[_BROUGHT] = TEXT_A.value, TEXT_B.value
    if not own_text:
        _put_texts(lesson.text_a, lesson.text_b)
    LESSON.put(lesson.name)
    DONE.put(_signed(lesson, letters.rstrip(OPEN)))
    go_to(lesson.steps[next((at for at, one in enumerate(letters) if one not in SETTLED), 0)])


def go_to(step: Step) -> NoReturn:
    """Open a step, and its picture beside it."""
    STEP.put(step.number)
    st.session_state[_OPENED] = st.session_state.get(_OPENED, 0) + 1
    languages.forget_unknown()
    if step.text_a is not None:
        st.session_state.setdefault(_TEXTS, (TEXT_A.value, TEXT_B.value))
        _put_texts(step.text_a, step.text_b or "")
    elif _TEXTS in st.session_state:  # the learner's, which a step before has replaced
        _put_texts(*st.session_state.pop(_TEXTS))
    try:
        found = _answer(step)
    except (ValueError, OSError, RuntimeError, MemoryError):  # the guide says why
        found = None
    name, choices = step.address(found)
    folder = next(folder for folder, page in PAGES.items() if page.name == name)
    open_view(script(folder), choices, OWN)


def part_shown() -> tuple[str, str]:
    """Return what tells a step as it stands from what was shown before, and what it is about.

    The second is the key of an element, once the step is answered: its question comes first.
    """
    lesson = current()
    step = None if lesson is None else lesson.step(STEP.value)
    if step is None:
        return "", ""
    opened = st.session_state.get(_OPENED, 0)
    part = step.part if _is_settled(step) else ""
    return f"{step.lesson.name} {step.number} {opened} {part}", part


def leave() -> NoReturn:
    """End the lesson; its progress is kept for the visit, and the visitor's text is back."""
    LESSON.put("")
    if _BROUGHT in st.session_state:
        _put_texts(*st.session_state.pop(_BROUGHT))
    open_page("lessons")


def _put_texts(text_a: str, text_b: str) -> None:
    TEXT_A.put(text_a)
    TEXT_B.put(text_b)


def draw(lesson: Lesson, page: str, run_page: Callable[[], None]) -> None:
    """Draw a step in place of its page: the idea, the figure, and the question below it.

    Args:
        page: Name of the page.
        run_page: Draws it.
    """
    languages.key()
    LESSON.key()
    STEP.key(low=1, high=len(lesson.steps) + 1)
    DONE.key()
    if in_class.door():
        return
    own_lessons.follow()
    step = lesson.step(STEP.value)
    names = "guide", "figure", "question"
    head, figure, below = (st.container(key=f"lesson_{name}") for name in names)
    with head:
        languages.show_unknown()
        show_language(lesson)
        _show_way(lesson, step)
        found = None if step is None else _show_step(step, page)
        if step is not None and found is not None:
            _reveal(step, found)
    if step is None:
        with figure, st.container(key="lesson_end"):
            show_end(lesson)
    else:
        is_open = found is None or _is_settled(step)
        is_covered = step.covers_page and not is_open
        covers.begin(() if is_open else step.cover or (), words("covered"), is_whole=is_covered)
    with below:
        if step is not None and found is not None:
            _draw_question(lesson.name, step.number)
        elif step is not None:
            _move(step)
    languages.mark({f".st-key-lesson_{name}": lesson.language for name in ("guide", "question")})
    if step is not None:
        has_text = next(info.needs_text for info in PAGES.values() if info.name == page)
        with figure:
            if is_covered and not has_text:
                covers.draw(words("covered"))
            else:
                run_page()


def _show_way(lesson: Lesson, step: Step | None) -> None:
    """Draw where the learner is in the lesson, and the ways out of it."""
    row = st.container(horizontal=True, vertical_alignment="center")
    number, count = len(lesson.steps) if step is None else step.number, len(lesson.steps)
    title = markdown(lesson.title)
    row.caption(words("of_steps", title=title, number=number, count=count))
    with row.popover(words("all_steps"), type="tertiary", icon=":material/list:"):
        for other, letter in zip(lesson.steps, done(lesson), strict=True):
            label, key = f"{other.number}. {markdown(other.title)}", f"lesson_to_{other.number}"
            if st.button(label, key=key, icon=MARKS[letter], type="tertiary"):
                go_to(other)
    if row.button(words("leave"), key="lesson_leave", icon=":material/logout:", type="tertiary"):
        leave()
    if step is not None and (_is_settled(step) or not step.covers_page):
        icon = ":material/open_in_full:"
        if row.button(words("whole_page"), key="lesson_page", icon=icon, type="tertiary"):
            LESSON.put("")
            st.rerun()
    st.progress(sum(letter in ANSWERED for letter in done(lesson)) / count)


def _show_step(step: Step, page: str) -> Found | None:
    """Draw a step's idea; return the model's answer, None if there is none."""
    st.markdown(f"# {markdown(step.title)}")
    found = _found(step)
    if found is None:
        return None
    text = glossary.explained(caption_html(shown(step.text, found)), "lesson")
    st.html(f'<div class="lesson-text">{text}</div>')
    if step.address(found)[0] != page:
        icon = ":material/image:"
        if st.button(words("picture"), key="lesson_picture", icon=icon, type="primary"):
            go_to(step)
    return found


@frame.fragment
def _draw_question(name: str, number: int) -> None:
    """Draw the question of a step; runs alone when the learner answers.

    Args:
        name: Of the lesson.
        number: Of the step.
    """
    lesson = catalogue.find(name, language())
    step = None if lesson is None else lesson.step(number)
    assert step is not None, "draw has found it"
    _ask(step, _answer(step))
    _move(step)
    in_class.show_name()


def _reveal(step: Step, found: Found) -> None:
    """Tell what was answered while the teacher kept the verdicts back, once they no longer do."""
    if _letter(step) != HELD or in_class.is_held():
        return
    place = (step.lesson.name, step.number)
    given = st.session_state.get(_ANSWERS, {}).get((*place, _is_on_own(step)))
    _put_letter(step, TRIED if place in st.session_state.get(_FIRST, {}) else OPEN)
    if given is not None:
        judgement = judge(step, found, given)
        _note(step, found, judgement, is_same=False)
        if _letter(step) == TRIED:  # the class has seen the answer
            _put_letter(step, WRONG)


@st.fragment(run_every=REVEAL_SECONDS)
def _await_reveal(answer: str) -> None:
    """Draw that an answer is kept; runs alone until the teacher shows the verdicts."""
    st.info(words("class_held", answer=plain(answer)), icon=":material/hourglass_empty:")
    if not in_class.is_held():
        st.rerun()


def _is_on_own(step: Step) -> bool:
    """Return whether a question is asked of a sentence of the learner's own."""
    return step.is_asked_again and texts() != _texts_of(step.lesson)


def _texts_of(lesson: Lesson) -> tuple[str, str | None]:
    return lesson.text_a, lesson.text_b or None


def _letter(step: Step) -> str:
    return done(step.lesson, on_own=_is_on_own(step))[step.number - 1]


def _is_settled(step: Step) -> bool:
    """Return whether the model's answer is shown."""
    return _letter(step) in SETTLED


def show_language(lesson: Lesson) -> None:
    """Write that a lesson is not in the visitor's language, if so."""
    if lesson.language != language():
        st.caption(words("other_language"))


def _found(step: Step) -> Found | None:
    """Return the model's answer, or write why there is none."""
    try:
        return _answer(step)
    except NotShownError as error:
        why = plain(languages.found_words(str(error)))
        st.info(words("not_shown", why=why))
        if texts() != _texts_of(step.lesson) and st.button(
            words("take_text"), key="lesson_offer", icon=":material/edit:"
        ):
            _put_texts(step.lesson.text_a, step.lesson.text_b)
            go_to(step)
    except (ValueError, OSError, RuntimeError, MemoryError) as error:
        st.info(words("no_answer", why=frame.message(error)))
    return None


def _answer(step: Step) -> Found:
    """Return the model's answer to a step in the visitor's language; ValueError if it has none."""
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


def _ask(step: Step, found: Found) -> None:
    """Draw the question, what the learner answers with, and the model's answer beside theirs."""
    is_on_own, before = _is_on_own(step), _letter(step)
    if is_on_own:
        st.caption(words("on_own"))
    answers = st.session_state.setdefault(_ANSWERS, {})
    place = (step.lesson.name, step.number, is_on_own)
    key = f"lesson_answer_{step.lesson.name}_{step.number}{ON_OWN if is_on_own else ''}"
    st.markdown(f"**{shown(step.question, found)}**")
    if before == HELD:
        given = answers.get(place, "")
        number = given if isinstance(given, str) else written(given)
        _await_reveal(step.options(found).get(number, number))
        return
    told = st.container()
    is_told = before == SHOWN or (before in SETTLED and place in answers)
    room = st.expander(words("answer_again"), type="compact") if is_told else st.container()
    with room, st.form(f"lesson_form_{step.lesson.name}_{step.number}", border=False):
        chosen = _answer_box(step, found, key, answers.get(place))
        row = st.container(horizontal=True, vertical_alignment="center")
        is_asked = row.form_submit_button(words("check"), key="lesson_check", type="primary")
        if before == OPEN:
            row.segmented_control(
                words("how_sure"),
                [SURE, "guess"],
                format_func=words,
                key=f"{_SURE}{step.lesson.name}_{step.number}",
                label_visibility="collapsed",
            )
    with room:
        _offer_click(step, found, key)
    if is_asked and chosen is None:
        st.caption(words("pick_first" if step.options(found) else "number_first"))
    elif is_asked and chosen is not None:
        judgement = judge(step, found, chosen)
        is_held = before not in SETTLED and in_class.is_held()
        if is_held:
            _put_letter(step, HELD)
        else:
            _note(step, found, judgement, is_same=answers.get(place) == chosen)
        answers[place] = chosen
        if before != SHOWN:
            in_class.note(step, judgement, lambda: verdicts(step, judgement), on_own=is_on_own)
        if is_held:
            st.rerun()
    letter = _letter(step)
    if (
        letter not in SETTLED
        and not in_class.is_held()
        and st.button(
            words("show_me"), key="lesson_show", type="tertiary", icon=":material/visibility:"
        )
    ):
        _put_letter(step, SHOWN)
        in_class.note_shown(step, on_own=is_on_own)
        letter = SHOWN
    if letter in SETTLED and before not in SETTLED:
        st.rerun()  # what was covered opens, and the boxes close
    with told:
        _tell(step, found, letter, answers.get(place))


def _tell(step: Step, found: Found, letter: str, given: str | float | None) -> None:
    """Draw what the learner's last answer is told."""
    if given is not None and (not step.options(found) or given in step.options(found)):
        judgement = judge(step, found, given)
    elif letter == SHOWN:
        judgement = judge(step, found, _right(step, found))
        given = None
    else:
        return
    if letter not in SETTLED:
        why = hint(step, found, judgement, plain, markdown)
        if not step.options(found):
            is_high = judgement.chosen > judgement.best
            why = f"{words('too_large' if is_high else 'too_small')} {why}"
        st.info(f"**{words('not_yet')}** {why} {words('once_more')}", icon=":material/lightbulb:")
        return
    verdict = tell(step, found, judgement, plain, markdown)
    _show_verdict(step, verdict, is_given=given is not None)
    if drawn := gap.picture(step, found, judgement, is_given=given is not None):
        st.html(drawn)
    brought = st.session_state.get(_BROUGHT)
    if brought and step.is_asked_again and not _is_on_own(step):
        text = plain(textwrap.shorten(brought[0], 60, placeholder="…"))
        icon = ":material/edit:"
        if st.button(words("now_on_own", text=text), key="lesson_brought", icon=icon):
            _put_texts(*brought)
            go_to(step)


def _right(step: Step, found: Found) -> str | float:
    """Return the right answer."""
    options = step.options(found)
    if not options:
        return float(found.answer)
    return next(name for name in options if judge(step, found, name).is_right)


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
    options = step.options(found)
    if not options:
        return _number_box(step.question, step.lesson.language, key, before)
    if key not in st.session_state or st.session_state[key] not in options:
        st.session_state[key] = before if before in options else None
    names = _in_order(step, list(options))
    if len(names) <= 8:
        picked: str | None = st.radio(
            step.question,
            names,
            format_func=lambda name: plain(options[name]),
            key=key,
            label_visibility="collapsed",
            index=None,
        )
        return picked
    chosen: str | None = st.selectbox(
        words("choice"),
        names,
        format_func=options.__getitem__,
        key=key,
        index=None,
        placeholder=words("pick"),
    )
    return chosen


def _in_order(step: Step, names: list[str]) -> list[str]:
    """Return answers to pick in an order of each learner's own; tokens and heads as they stand."""
    if step.answer is not None and step.answer.kind in (Kind.TOKEN, Kind.HEAD):
        return names

    def drawn(at: int) -> str:
        place = f"{in_class.who()} {step.lesson.name} {step.number} {at}"
        return hashlib.sha256(place.encode()).hexdigest()

    return [names[at] for at in sorted(range(len(names)), key=drawn)]


def _offer_click(step: Step, found: Found, key: str) -> None:
    """Draw what makes the click on the page the answer, where the page reports one."""
    if _clicked(step) is not None and len(step.options(found)) > 8:
        st.button(
            words("click"),
            key="lesson_click",
            icon=":material/ads_click:",
            type="tertiary",
            on_click=_take_click,
            args=(key, step, tuple(step.options(found))),
        )


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


def _note(step: Step, found: Found, judgement: Judgement, *, is_same: bool) -> None:
    """Keep what became of a step by an answer.

    Args:
        is_same: Whether it is the answer before.
    """
    first = st.session_state.setdefault(_FIRST, {})
    letter, is_right = _letter(step), judgement.is_right
    if letter == OPEN:
        verdict = tell(step, found, judgement)
        both = (judgement.chosen, judgement.best)
        times = 0.0 if step.options(found) or min(both) <= 0 else max(both) / min(both)
        place = (step.lesson.name, step.number)
        is_sure = st.session_state.get(f"{_SURE}{place[0]}_{place[1]}") == SURE
        first.setdefault(place, First(verdict.yours, verdict.models, is_right, times, is_sure))
        # Of two the other one is right: there is nothing to try.
        is_last = len(step.options(found)) == 2
        _put_letter(step, RIGHT if is_right else WRONG if is_last else TRIED)
    elif letter == TRIED and not is_same:
        _put_letter(step, LATER if is_right else WRONG)


def _put_letter(step: Step, letter: str) -> None:
    """Keep what became of a step, for the visit and in the link."""
    kept = st.session_state.setdefault(_PROGRESS, {})
    on_own = [True] if _is_on_own(step) else []
    if not on_own or done(step.lesson)[step.number - 1] not in SETTLED:
        on_own.append(False)
    for own in on_own:
        letters = done(step.lesson, on_own=own)
        letters = letters[: step.number - 1] + letter + letters[step.number :]
        kept[f"{step.lesson.name}{ON_OWN if own else ''}"] = letters
    DONE.put(_signed(step.lesson, done(step.lesson).rstrip(OPEN)))
    DONE.key()


def _show_verdict(step: Step, verdict: Verdict, *, is_given: bool) -> None:
    why = frame.own_tokens(verdict.why)
    models = words("model", answer=plain(verdict.models)) if step.answer is not None else ""
    if not is_given:
        st.info(f"{models} {why}", icon=":material/visibility:")
    elif verdict.is_right:
        exact = "" if verdict.yours == verdict.models else f" {models}"
        st.success(f"**{words('right')}**{exact} {why}", icon=":material/check:")
    else:
        name = "wrong" if step.answer is not None else "not_right"
        both = words(name, chosen=plain(verdict.yours), answer=plain(verdict.models))
        st.info(f"{both}\n\n{why}", icon=":material/lightbulb:")


def _move(step: Step) -> None:
    """Draw the ways back and forward."""
    before, after = (step.lesson.step(step.number + by) for by in (-1, 1))
    row = st.container(horizontal=True)
    if row.button(words("back"), key="lesson_back", disabled=before is None) and before is not None:
        go_to(before)
    label = words("finish" if after is None else "next")
    if row.button(label, key="lesson_next", icon=":material/arrow_forward:"):
        if after is not None:
            go_to(after)
        STEP.put(step.number + 1)
        st.rerun()


def show_end(lesson: Lesson) -> None:
    """Draw what the learner found: what was wrong at first, what surprised, and what is next."""
    st.markdown(f"# {words('end')}")
    letters, on_own = done(lesson), done(lesson, on_own=True)
    num_right = letters.count(RIGHT)
    st.markdown(words("right_at_first", right=num_right, count=len(letters)))
    num_asked = sum(step.is_asked_again for step in lesson.steps)
    st.markdown(words("right_on_own", right=on_own.count(RIGHT), count=num_asked))
    first: dict[tuple[str, int], First] = st.session_state.get(_FIRST, {})
    given = {
        step: first[place]
        for step in lesson.steps
        if (place := (lesson.name, step.number)) in first
    }
    missed = [step for step, one in given.items() if not one.is_right]
    missed.sort(key=lambda step: not given[step].is_sure)
    heading = ""
    for step in missed:
        name = "sure_and_wrong" if given[step].is_sure else "wrong_at_first"
        if name != heading:
            st.markdown(f"**{words(name)}**")
            heading = name
        both = words("both", yours=plain(given[step].yours), models=plain(given[step].models))
        row = st.container(horizontal=True, vertical_alignment="center")
        label = f"{step.number}. {markdown(step.title)}"
        if row.button(label, key=f"lesson_again_{step.number}", type="tertiary"):
            go_to(step)
        row.caption(both)
    far = max(missed, key=lambda step: given[step].times, default=None)
    if far is not None and given[far].times > 1:
        title, times = markdown(far.title), f"{given[far].times:.1f}"
        st.markdown(words("surprise", title=title, times=times))
    st.markdown(words("to_try"))
    row = st.container(horizontal=True)
    sheet.offer(lesson, row)
    again = catalogue.find(lesson.name + catalogue.AGAIN, language())
    if again is not None and row.button(words("again"), key="lesson_week"):
        begin(again)
    every = [*catalogue.lessons(language()).values()]
    after = [one.name for one in every].index(lesson.name.removesuffix(catalogue.AGAIN)) + 1
    if after < len(every):
        label = words("next_lesson", title=markdown(every[after].title))
        if row.button(label, key="lesson_after", type="primary", icon=":material/arrow_forward:"):
            begin(every[after])
    if row.button(words("lessons"), key="lesson_list_again"):
        leave()
