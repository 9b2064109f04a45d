"""The guide without the page beside it: each question answered rightly and wrongly."""

from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.screens.classroom.tally import misconceptions
from app.server.policy import CHECKPOINT_VARIABLE
from app.shell import cache
from app.shell.guide import catalogue, guide, in_class
from app.shell.words.language import languages
from bertcore import Bert
from bertcore.lessons.answer import Found, Kind
from bertcore.lessons.lesson import Judgement, Lesson, Step, judge
from tests.support.opened import ok, said
from tests.support.school import school
from tests.support.tiny import tiny_network, tiny_tokenizer

SHIPPED = Path(__file__).resolve().parents[4] / "bertcore" / "model" / "checkpoints" / "default"
FIRST, *OTHERS = catalogue.lessons()
DRAWN = "The page is drawn."
LESSONS = [FIRST, *(pytest.param(name, marks=pytest.mark.exhaustive) for name in OTHERS)]


def _script(name: str) -> None:
    import streamlit as st

    from app.navigation import PAGES
    from app.shell import frame, state
    from app.shell.guide import guide

    state.begin_run()
    lesson = guide.current()
    assert lesson.name == name

    def page() -> None:
        frame.begin(PAGES["tokens"])
        st.caption("The page is drawn.")

    guide.draw(lesson, "tokens", page)
    state.sync_url()


def opened(name: str, text_a: str, text_b: str = "", **query: str) -> AppTest:
    """Return the guide alone, as run.py draws it."""
    app = AppTest.from_function(_script, args=(name,), default_timeout=60)
    app.query_params.update({"lesson": name, "text_a": text_a, "text_b": text_b, **query})
    return ok(app.run())


def entered(app: AppTest, name: str = "") -> AppTest:
    """Return the lesson after the door of a class."""
    app.text_input(key="class_learner_name").set_value(name)
    return ok(app.button(key="class_begin" if name else "class_other").click().run())


def answers(step: Step, found: Found) -> tuple[str | float, str | float]:
    """Return a wrong answer, and the right one."""
    options = step.options(found)
    if not options:
        return float(found.answer) * 3 + 100, float(found.answer)
    right = next(one for one in options if judge(step, found, one).is_right)
    return next(one for one in options if not judge(step, found, one).is_right), right


def letters(app: AppTest) -> str:
    """Return what became of the steps, without the visitor's mark."""
    return "".join(app.query_params["lesson_done"]).partition(".")[0]


def answer_box(app: AppTest) -> Any:
    """Return what the learner answers with."""
    boxes = (*app.text_input, *app.radio, *app.selectbox)
    return next(box for box in boxes if str(box.key).startswith("lesson_answer"))


def answer(app: AppTest, chosen: str | float) -> str:
    """Give an answer, and return what is said then."""
    for place, slider in enumerate(app.slider):  # a drawn row: all on one token
        slider.set_value(10 if str(place) == chosen else 0)
    if not app.slider:
        box = answer_box(app)
        box.set_value(f"{chosen:.15g}" if isinstance(chosen, float) else chosen)
    app.button(key="lesson_check").click()
    return said(ok(app.run()))


@pytest.mark.skipif(not (SHIPPED / "model.safetensors").is_file(), reason="no checkpoint ships")
@pytest.mark.parametrize("again", ["", catalogue.AGAIN], ids=["steps", "again"])
@pytest.mark.parametrize("name", LESSONS)
def test_each_question_is_answered_on_both_texts(name: str, again: str) -> None:
    """Twice wrongly, then rightly; the page of a covered step is not drawn before."""
    name += again
    lesson = catalogue.find(name)
    bert = cache.bert("default")
    for texts in ((lesson.text_a, lesson.text_b), (lesson.other_a, lesson.other_b)):
        app = opened(name, *texts)
        for number, step in enumerate(lesson.steps, start=1):
            # What opening the step does.
            text_a, text_b = texts if step.text_a is None else (step.text_a, step.text_b or "")
            app.session_state["text_a"], app.session_state["text_b"] = text_a, text_b
            app.session_state["lesson_step"] = number
            app.run()
            assert (DRAWN in said(app)) == (not step.covers_page), number
            found = step.find(bert, text_a, text_b or None)
            wrong, right = answers(step, found)
            shown, options = answer(app, wrong), step.options(found)
            assert ("Not yet." in shown) == (len(options) != 2), (number, shown)
            if len(options) != 2:
                assert "The model: **" not in shown, (number, shown)
                assert (DRAWN in shown) == (not step.covers_page), number
                others = [one for one in options if not judge(step, found, one).is_right]
                if len(others) == 1:  # the others are all right
                    continue
                shown = answer(app, others[-1] if others else float(wrong) + 1)
            marked = "The model: **" if step.answer is not None else "Right: **"
            assert marked in shown, (number, shown)
            assert "**Right.**" not in shown
            assert DRAWN in shown, number
            shown = answer(app, right)
            assert "**Right.**" in shown, (number, shown)
            assert "{" not in shown.replace("\\{", ""), (number, shown)
        assert {*letters(app)} <= {guide.WRONG, guide.TRIED}


def test_an_answer_that_is_shown_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page opens, the class counts nothing, and an answer afterwards gives no point."""
    with school(monkeypatch) as kept:
        app = entered(opened(_first().name, _first().text_a, lesson_step="2"))
        app.button(key="lesson_show").click().run()
        assert DRAWN in said(app)
        assert "The model: **10**" in said(app)
        assert "**Right.**" in answer(app, 10.0)
        assert letters(app) == "-s"
        assert (kept.steps(), kept.answers(_first().name)) == ([], [])
        assert [learner.num_answers for learner in kept.learners()] == [1]


def test_a_sentence_of_ones_own_is_asked_again() -> None:
    """With its cover, and kept beside the answer on the lesson's sentence."""
    app = opened(_first().name, _first().text_a, lesson_step="2")
    assert DRAWN in answer(app, 10.0)
    app.session_state["text_a"] = "He sat."
    app.run()
    assert DRAWN not in said(app)
    assert "On a sentence of your own" in said(app)
    assert "**Right.**" in answer(app, 5.0)
    app.session_state["lesson_step"] = len(_first().steps) + 1
    app.run()
    shown = said(app)
    assert f"Right at first: **1** of {len(_first().steps)}." in shown
    assert "On a sentence of your own: **1** of" in shown
    assert DRAWN not in shown


def test_the_sentence_that_one_came_with_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is there for the steps that ask again, and again when the lesson is left."""
    monkeypatch.setattr(guide, "go_to", lambda _: st.rerun())
    monkeypatch.setattr(guide, "open_page", lambda _: st.rerun())
    lesson, mine = _first(), "My uncle photographed the <b>microorganism</b>."
    app = opened(lesson.name, lesson.text_a, lesson_step="2")
    app.session_state[guide._BROUGHT] = (mine, "")
    ok(app.run())
    assert "lesson_brought" not in [button.key for button in app.button], "before the first answer"
    ok(app.button(key="lesson_show").click().run())
    assert "microorganism" in app.button(key="lesson_brought").label
    ok(app.button(key="lesson_brought").click().run())
    assert app.text_area(key="text_a").value == mine
    assert "On a sentence of your own" in said(app)
    app.text_area(key="text_a").set_value(lesson.text_a)
    ok(app.run())
    app.button(key="lesson_leave").click().run()
    assert app.session_state["text_a"] == mine


def _first() -> Lesson:
    return next(iter(catalogue.lessons().values()))


def test_a_text_that_cannot_show_it_is_offered_another() -> None:
    lesson = _first()
    number = next(n for n, step in enumerate(lesson.steps, 1) if step.title == "A word in pieces")
    app = opened(lesson.name, "He sat.", lesson_step=str(number))
    assert "Each word of this text is one piece" in said(app)
    assert app.button(key="lesson_offer").label == "Take the lesson's sentence"
    assert not any(button.key == "lesson_check" for button in app.button)
    assert any(button.key == "lesson_next" for button in app.button), "nothing blocks"
    empty = opened(lesson.name, " ", lesson_step=str(number))
    assert "Sentence A is empty." in said(empty)


@pytest.mark.parametrize("name", LESSONS)
def test_a_checkpoint_without_the_head_says_why(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = Bert(tiny_network(heads=frozenset()), tiny_tokenizer(), name="bare")
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(bare.save(tmp_path / "bare")))
    lesson = catalogue.lessons()[name]
    app = opened(name, "The river bank was unsteep.", "It had rained on the river.")
    for number in range(1, len(lesson.steps) + 1):
        app.session_state["lesson_step"] = number
        assert "lesson_next" in [button.key for button in ok(app.run()).button]


@pytest.mark.parametrize(
    ("query", "number", "left"),
    [
        ({"lesson_step": "99"}, None, ""),
        ({"lesson_step": "-3"}, 1, ""),
        ({"lesson_step": "x"}, 1, ""),
        ({"lesson_done": "rwx<b>" + "r" * 999, "lesson_step": "3"}, 3, "--t"),
        ({"lesson_done": "rr.0123456789ab", "lesson_step": "3"}, 3, "--t"),
    ],
)
def test_a_link_of_anybody_opens(query: dict[str, str], number: int | None, left: str) -> None:
    lesson = _first()
    app = opened(lesson.name, lesson.text_a, **query)
    count = len(lesson.steps)
    assert f"{number or count} of {count}" in said(app)
    assert not app.exception
    if left:
        assert answer(app, 10.0)
        assert letters(app) == left


def test_a_link_lifts_the_covers_of_who_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guide, "learner", lambda: "Ada")
    app = opened(_first().name, _first().text_a, lesson_step="2")
    answer(app, 10.0)
    own = "".join(app.query_params["lesson_done"])
    again = {"lesson_step": "2", "lesson_done": own}
    assert DRAWN in said(opened(_first().name, _first().text_a, **again))
    monkeypatch.setattr(guide, "learner", lambda: "Bob")
    assert DRAWN not in said(opened(_first().name, _first().text_a, **again))


def test_a_lesson_on_ones_own_computer_goes_on_in_another_session() -> None:
    app = opened(_first().name, _first().text_a, lesson_step="2")
    answer(app, 10.0)
    link = {"lesson_step": "2", "lesson_done": "".join(app.query_params["lesson_done"])}
    assert DRAWN in said(opened(_first().name, _first().text_a, **link))


def test_special_words_of_a_step_are_explained_where_they_stand() -> None:
    app = opened(_first().name, _first().text_a)
    assert 'popovertarget="word-lesson-1"' in " ".join(one.proto.body for one in app.get("html"))


def test_what_one_was_surely_wrong_about_comes_first_at_the_end() -> None:
    lesson, bert = _first(), cache.bert("default")
    app = opened(lesson.name, lesson.text_a)
    for number, mark in ((2, "guess"), (3, guide.SURE)):
        app.session_state["lesson_step"] = number
        app.session_state[f"lesson_sure_{lesson.name}_{number}"] = mark
        ok(app.run())
        step = lesson.steps[number - 1]
        answer(app, answers(step, step.find(bert, lesson.text_a, None))[0])
    app.session_state["lesson_step"] = len(lesson.steps) + 1
    assert "**You were sure of these, and wrong**" in said(app.run())
    again = [str(one.key) for one in app.button if str(one.key).startswith("lesson_again_")]
    assert again == ["lesson_again_3", "lesson_again_2"]


def test_a_click_in_the_picture_is_taken() -> None:
    lesson = _first()
    number = next(n for n, step in enumerate(lesson.steps, 1) if step.title == "A word in pieces")
    app = opened(lesson.name, lesson.text_a, lesson_step=str(number), token="2")
    app.button(key="lesson_click").click().run()
    assert answer_box(app).value == "2"


@pytest.mark.parametrize(
    ("typed", "code", "heard"),
    [
        ("0,795", "en", "Read as 0.795."),
        ("1,000", "en", "Read as 1000."),
        ("1,000", "ru", "Прочитано как 1."),
        ("１２％", "zh", "读作 0.12。"),
        ("1e400", "en", "This is no number"),
        ("NaN", "en", "This is no number"),
        ("9" * 60, "en", "This is no number"),
        ("7", "en", ""),
    ],
)
def test_a_number_is_said_as_it_was_read(typed: str, code: str, heard: str) -> None:
    more = {"lesson_language": code, "lesson_step": "2"}
    shown = answer(opened(_first().name, _first().text_a, **more), typed)
    assert heard in shown
    assert ("Read as" in shown) == heard.startswith("Read as"), "a plain number is not repeated"


def test_a_hostile_sentence_is_text() -> None:
    lesson = _first()
    number = next(n for n, step in enumerate(lesson.steps, 1) if step.title == "A word in pieces")
    hostile = "<img src=x onerror=a> ![x](http://a.b) {num_split} [steepness](http://a.b) $x$"
    app = opened(lesson.name, hostile, lesson_step=str(number))
    assert not app.exception
    assert guide.done(lesson) == guide.OPEN * len(lesson.steps)


def test_a_class_sees_the_first_answer_and_a_typed_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with school(monkeypatch) as kept:
        app = opened(_first().name, _first().text_a, lesson_step="2")
        assert not app.button(key="class_begin").disabled
        assert DRAWN not in said(app)
        kept.put_name("other", "Ada")
        app = entered(app, "ada")
        assert "is taken here" in said(app)
        app.text_input(key="class_word").set_value("none")
        assert "not the four letters" in said(ok(app.button(key="class_begin").click().run()))
        app = ok(app.button(key="class_other").click().run())
        assert "Class NLP · ada \\(2\\)" in [
            block.proto.popover.label for block in app.get("popover")
        ]
        assert "You are ada (2)" in said(app)
        kept.remove_learners(["other"])
        for number in (5.0, 10.0):
            answer(app, number)
        (given,) = kept.answers(_first().name)
        assert (given.step, given.number, given.is_right) == (2, 5.0, False)
        assert [step.num_changed for step in kept.steps()] == [1]
        app = entered(ok(app.button(key="class_not_me").click().run()), "Bob")
        assert [learner.name for learner in kept.learners()] == ["Bob", "ada (2)"]
        monkeypatch.setattr(kept, "note", _fails)
        assert "did not reach the class: The disk is full" in answer(app, 7.0)
    judgement = Judgement(False, 5.0, 10.0)
    in_class.note(_first().steps[0], judgement, _fails)  # without a class nothing is kept


def test_verdicts_wait_until_the_teacher_reveals_them(monkeypatch: pytest.MonkeyPatch) -> None:
    with school(monkeypatch) as kept:
        app = entered(opened(_first().name, _first().text_a, lesson_step="2"), "Ada")
        kept.hold(True)
        for number, told in ((10.0, "**Right.**"), (99.0, "The model: **")):
            shown = answer(app, number)
            assert f"Kept: **{number:.0f}**" in shown
            assert told not in shown
            assert DRAWN not in shown
            assert not [button for button in app.button if button.key == "lesson_show"]
            kept.hold(False)
            shown = said(ok(app.run()))
            assert told in shown
            assert DRAWN in shown
            kept.hold(True)
            app.session_state["lesson_step"] = 6
            app.run()
        assert kept.grades()[0][:3] == ("Ada", 2, 1)


def test_an_answer_is_one_in_every_language(monkeypatch: pytest.MonkeyPatch) -> None:
    """A choice that is picked in each language is counted once, and read in the teacher's."""
    number, name = 4, _first().name
    with school(monkeypatch) as kept:
        for at, code in enumerate(languages()):
            monkeypatch.setattr(in_class, "learner", lambda at=at: f"learner {at}")
            lesson = catalogue.find(name, code)
            picked = lesson.steps[number - 1].choices[1].text
            more = {"lesson_step": str(number), "lesson_language": code}
            answer(entered(opened(name, lesson.text_a, **more)), picked)
        given = kept.answers(name)
        assert len(kept.learners()) == len(languages()) > 2
    for code in languages():
        lesson = catalogue.find(name, code)
        choice = lesson.steps[number - 1].choices[1]
        read = [one.in_language(code) for one in given]
        (wrong,) = misconceptions(read)
        assert (wrong.text, wrong.num_learners) == (choice.text, len(languages()))
        assert wrong.why == guide.markdown(choice.why)
    assert len(given) == 1


def test_heads_are_named_in_every_language(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = catalogue.find("many-heads", "zh")
    places = [
        place
        for place, step in enumerate(lesson.steps, start=1)
        if step.answer is not None and step.answer.kind is Kind.HEAD
    ]
    with school(monkeypatch) as kept:
        more = {"lesson_step": str(places[0]), "lesson_language": "zh"}
        answer(entered(opened(lesson.name, lesson.text_a, **more)), "0.0")
        (given,) = kept.answers(lesson.name)
    assert given.text == "layer 0, head 0"
    assert given.in_language("zh").text not in ("", given.text)
    assert given.in_language("xx") == given


def _fails(*_: object, **__: object) -> None:
    raise RuntimeError("the disk is full")


CODES = ["en", *(pytest.param(code, marks=pytest.mark.exhaustive) for code in ("ru", "zh"))]


@pytest.mark.skipif(not (SHIPPED / "model.safetensors").is_file(), reason="no checkpoint ships")
@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("name", LESSONS)
def test_nothing_of_a_covered_page_is_there_before_check(name: str, code: str) -> None:
    """The page is not run: no text, table, chart or file of it; a cover is there instead."""
    lesson = catalogue.find(name, code)
    app = opened(name, lesson.text_a, lesson.text_b, lesson_language=code)
    for step in lesson.steps:
        texts = (
            (lesson.text_a, lesson.text_b) if step.text_a is None else (step.text_a, step.text_b)
        )
        app.session_state["text_a"], app.session_state["text_b"] = texts[0], texts[1] or ""
        app.session_state["lesson_step"] = step.number
        shown = said(ok(app.run()))
        if step.covers_page:
            assert DRAWN not in shown, step.number
            assert languages()[code]["guide"]["covered"] in shown, step.number
            assert not [*app.dataframe, *app.get("plotly_chart"), *app.get("download_button")]
