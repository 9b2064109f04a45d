"""The page Class without a browser: its key, and what it shows of answers and findings."""

import re
from collections.abc import Iterator

import pytest

from app.parts import qr_code
from app.server import learners
from app.server.class_store import ClassStore
from app.server.policy import KEY, URL
from app.shell.guide import catalogue
from bertcore.lessons.lesson import Lesson
from tests.app.server.test_class_store import HOSTILE
from tests.support.opened import complaints, ok, page_of, said
from tests.support.school import TEACHER, school

FIRST: Lesson = next(iter(catalogue.lessons().values()))


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[ClassStore]:
    with school(monkeypatch) as kept:
        yield kept


def entered():  # type: ignore[no-untyped-def]
    """Return the page after the key."""
    app = page_of("classroom").run()
    app.text_input[0].set_value(TEACHER)
    return app.button[0].click().run()


def test_without_a_class_there_is_nothing() -> None:
    shown = said(ok(page_of("classroom").run()))
    assert "bertscope app --class" in shown


def test_only_the_teachers_key_opens_it(kept: ClassStore) -> None:
    kept.note("a", FIRST.name, 1, "5", is_right=False)
    app = page_of("classroom").run()
    for _ in range(10):
        app.text_input[0].set_value("another key")
        assert "not the teacher's key" in complaints(app.button[0].click().run())
    assert "first answers" not in said(app)
    app.text_input[0].set_value(TEACHER)
    assert "Too many wrong keys" in complaints(app.button[0].click().run())
    for number in range(400):
        learners._wrong.note(f"cookie {number}")
    assert "first answers" in said(ok(entered())), "another visit is not kept out"


def test_an_empty_class_says_what_to_do(kept: ClassStore) -> None:
    shown = said(ok(entered()))
    assert "learners: 0" in shown
    assert "Give out the link" in shown


def test_the_link_for_the_class_brings_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with school(monkeypatch, **{KEY: "four & words", URL: "http://192.168.1.7:8501/"}):
        app = ok(entered())
        assert app.code[0].value == "http://192.168.1.7:8501/lessons#key=four%20%26%20words"
        app.selectbox[0].set_value(FIRST.name)
        target = ok(app.run()).code[0].value
        assert target.endswith(f"/lessons?start={FIRST.name}#key=four%20%26%20words")
        assert any(qr_code.image_url(target) in one.proto.body for one in app.get("html"))


def test_answers_are_counted_by_step(kept: ClassStore) -> None:
    for who, text in (("a", "5"), ("b", "5"), ("c", "10")):
        kept.note(who, FIRST.name, 1, text, is_right=text == "10", why="Count.", number=float(text))
    kept.note("a", FIRST.name, 1, "10", is_right=True)
    kept.note("a", FIRST.name, 99, "5", is_right=True)  # steps that there are not
    kept.note("a", "no-lesson", 1, "5", is_right=True)
    app = ok(entered())
    shown = said(app)
    assert "learners: 3 · first answers, which count here: 3 · changed later: 1" in shown
    assert "2 more are to steps that this version does not have" in shown
    assert f"**2 of 3** answered “5” in step 1, {FIRST.steps[0].title}." in shown
    assert "| 3 | 1 (33%) | 1 | 2 × 5 |" in shown
    assert len(app.get("plotly_chart")) == 1


def test_grades_are_drawn_by_page_and_verdicts_wait(kept: ClassStore) -> None:
    for number in range(51):
        kept.put_name(f"{number}", f"Ada {number:02}")
        kept.note(f"{number}", FIRST.name, 1, "5", is_right=number > 0)
    kept.put_name("thief", "Ada 00", is_apart=True)
    app = ok(entered())
    table = next(block.value for block in app.markdown if "| Name |" in block.value)
    assert len(table.splitlines()) == 2 + 50
    row = "| Ada 00 | 1 | 0 | 0 | 0 | 0 | name typed in other browsers: 1 |"
    assert row in table.replace("\\", "")
    app.number_input(key="class_grades_page").set_value(2)
    table = next(block.value for block in ok(app.run()).markdown if "| Name |" in block.value)
    assert len(table.splitlines()) == 2 + 2
    for is_held in (True, False):
        ok(app.button(key="class_hold").click().run())
        assert kept.is_held() == is_held


def test_hostile_texts_are_text(kept: ClassStore) -> None:
    kept.note("a", FIRST.name, 1, HOSTILE, is_right=False)
    kept.put_name("a", HOSTILE)
    kept.hand_in("a", "P](x)", "javascript:alert(1)", HOSTILE)
    app = ok(entered())
    for block in app.markdown:
        assert "](http" not in block.value
        assert not re.search(r"(?<!\()https?\\?:\\?/\\?/[a-z]", block.value), "no address"
        assert "](javascript" not in block.value
        assert not re.search(r"(?<!\\)<", block.value)
        assert "\u202e" not in block.value
    for column, num_rows in (("Step", len(FIRST.steps)), ("Who", 1)):
        table = next(block.value for block in app.markdown if f"| {column} |" in block.value)
        assert max(len(word) for word in re.split(r"[\s\u200b]", table)) < 60, "no word is wider"
        assert len(table.splitlines()) == 2 + num_rows, "a line break in a text ends no row"


def test_the_teacher_reads_and_removes_findings(kept: ClassStore) -> None:
    with kept._used(writes=True) as db:
        db.executemany(
            "INSERT INTO findings VALUES ('x', 'Eve', 'Attention', 'attention?', ?, 1)",
            [(f"Finding {number} of 400.",) for number in range(400)],
        )
    app = ok(entered())
    table = next(block.value for block in app.markdown if "| Who |" in block.value)
    assert len(table.splitlines()) == 2 + 100
    assert "| #400 | Eve | Finding 399 of 400\\. | [Attention](attention?) |" in table
    assert "the newest 100" in said(app)
    app.toggle(key="class_removes").set_value(True)
    box = ok(app.run()).multiselect(key="class_remove_findings")
    assert "Eve: Finding 399 of 400." in box.options[0]
    box.select(box.options[0]).select(box.options[1])
    ok(app.run()).button(key="class_remove_findings_picked").click()
    ok(app.run()).button(key="class_removal_confirmed").click()
    ok(app.run())
    assert len(kept.findings()) == 398
    app.button(key="class_remove_findings_all_findings").click()
    assert "This removes findings: 398" in said(ok(app.run()))
    app.button(key="class_removal_confirmed").click()
    ok(app.run())
    assert kept.findings() == []


def test_the_teacher_removes_learners(kept: ClassStore) -> None:
    for who in "abc":
        kept.note(who, FIRST.name, 1, "5", is_right=False, number=5.0)
        kept.put_name(who, f"Ada {who}" if who != "c" else "")
    app = ok(entered())
    app.toggle(key="class_removes").set_value(True)
    box = ok(app.run()).multiselect(key="class_remove_learners")
    assert [option.partition(" ")[2] for option in box.options] == [
        "no name · answers: 1, findings: 0",
        "Ada b · answers: 1, findings: 0",
        "Ada a · answers: 1, findings: 0",
    ]
    box.select(box.options[2])
    ok(app.run()).button(key="class_remove_learners_picked").click()
    assert "learners: 1, with answers: 1, findings: 0." in said(ok(app.run()))
    assert len(kept.learners()) == 3, "before it is confirmed"
    app.button(key="class_removal_cancelled").click()
    assert "Nothing brings them back" not in said(ok(app.run()))
    app.button(key="class_remove_learners_picked").click()
    ok(app.run()).button(key="class_removal_confirmed").click()
    assert "learners: 2" in said(ok(app.run()))
    assert [one.learner for one in kept.learners()] == ["c", "b"]
    app.button(key="class_remove_learners_all_without_a_name").click()
    ok(app.run()).button(key="class_removal_confirmed").click()
    ok(app.run())
    assert [one.learner for one in kept.learners()] == ["b"]
