"""Grades as Canvas and Moodle import them, and the numbers behind the bars."""

import csv
import io

import pytest

from app.screens.classroom.figures import answers_figure
from app.screens.classroom.grades import COLUMNS, canvas_csv, grades_csv, moodle_csv, scores
from app.screens.classroom.tally import bars, misconceptions
from app.server.class_store import OWN, Answer, Grade, Graded
from tests.bertcore.lessons.test_lesson import CHOICE, HEAD, NUMBER
from tests.support.lesson_text import parse_lesson

LESSON = parse_lesson(HEAD + NUMBER + CHOICE, "pieces")
OTHER = parse_lesson(HEAD.replace('title = "', 'title = "Second: ') + NUMBER + CHOICE, "other")
LESSONS = {"pieces": LESSON, "other": OTHER}


def given(name: str, step: int, right: bool, *, lesson: str = "pieces") -> Graded:
    return Graded(name, lesson, step, right)


def answered(
    text: str, right: bool = False, *, step: int = 1, num: int = 1, kind: str = ""
) -> Answer:
    number = float(text) if text.lstrip("-").replace(".", "").isdigit() else None
    return Answer(step, text, number, right, kind or text, f"why {kind or text}", num)


def table(content: bytes) -> list[list[str]]:
    assert content.startswith(b"\xef\xbb\xbf"), "spreadsheets take it for UTF-8 then"
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))


def test_canvas_reads_points() -> None:
    answers = [given("Zoë", 1, True), given("Zoë", 2, True), given("Ada", 1, False)]
    answers += [given("Ada", 1, True, lesson="other")]
    # Half of the point of step 1, which reads the text, is on a sentence of one's own.
    answers += [given("Zoë", 1, right, lesson=f"pieces{OWN}") for right in (True, False)]
    head, points, *rows = table(canvas_csv(answers, LESSONS))
    columns = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert head == [*columns, LESSON.title, OTHER.title]
    assert points == ["    Points Possible", "", "", "", "", "2", "2"]
    assert rows == [
        ["Zoë", "", "", "Zoë", "", "2", ""],
        ["Ada", "", "", "Ada", "", "0", "0.5"],
    ]


def test_moodle_reads_percent() -> None:
    answers = [given("ada@x.org", 1, True), given("bob", 1, True, lesson="other")]
    head, *rows = table(moodle_csv(answers, LESSONS))
    assert head == ["Username", LESSON.title, OTHER.title]
    assert rows == [["ada@x.org", "25.0", "-"], ["bob", "-", "25.0"]]


@pytest.mark.parametrize("write", [canvas_csv, moodle_csv])
@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-1", "@a", '=cmd|"x"!A1', "a,b;c\"d'", "<b>", "名"]
)
def test_no_name_is_a_formula_or_ends_a_cell(write, name: str) -> None:  # type: ignore[no-untyped-def]
    content = write([given(name, 1, True)], LESSONS)
    *_, row = table(content)
    assert row[0] in (name, f"'{name}")
    assert not row[0].startswith(("=", "+", "-", "@"))
    assert len({len(line) for line in table(content)}) == 1


def test_a_learner_cannot_be_the_row_of_points() -> None:
    *_, row = table(canvas_csv([given("Points Possible", 1, True)], LESSONS))
    assert "Points Possible" not in row[0]


def test_steps_that_there_are_not_give_no_point() -> None:
    strange = [given("Ada", 3, True), given("Ada", 1, True, lesson="none")]
    assert scores(strange, LESSONS) == {}


def test_all_columns_are_a_file() -> None:
    grade = Grade("=Ada", 9, 7, 1, 2, 12.4, 2, 1, 3, "Bob", "mola")
    flags = "2 browsers; name typed in other browsers: 1; wrong words: 3; in the browser of Bob"
    head, row = table(grades_csv([grade]))
    assert head == [*COLUMNS, "Letters"]
    assert row == ["'=Ada", "9", "7", "1", "2", "12", flags, "mola"]


def test_mistakes_are_ordered_by_how_often_and_add_up_by_kind() -> None:
    answers = [answered("5", num=3), answered("7"), answered("10", True)]
    answers.append(answered("[CLS]", step=2))
    first, second, third = misconceptions(answers)
    assert first == (1, "5", 3, 5, "why 5")
    assert (second[1], third[1]) == ("7", "[CLS]")
    own = [answered(text, kind="num_words", num=2) for text in ("6", "8")]
    assert misconceptions([*own, *answers])[0] == (1, "6, 8", 4, 9, "why num_words")


def test_bars_are_numbers_in_order_or_ranges() -> None:
    assert bars([answered("5", num=2), answered("10", True)]) == [("5", 0, 2), ("10", 1, 0)]
    picked = [answered("x", num=2), answered("y", num=3)]
    assert [bar.text for bar in bars(picked)] == ["y", "x"]
    many = [answered(str(n), n == 7) for n in range(88)]
    many += [answered("88", num=5), answered("1000000000")]
    ranges = bars(many)
    assert len(ranges) == 10
    assert sum(bar.num_right for bar in ranges) == 1
    assert sum(bar.num_right + bar.num_wrong for bar in ranges) == 94
    assert max(bar.num_right + bar.num_wrong for bar in ranges) < 20, "one odd number flattens none"
    same = [answered(str(5 + n * 1e-12)) for n in range(20)]
    assert sum(bar.num_wrong for bar in bars(same)) == 20


def test_long_and_hostile_answers_are_drawn_as_text() -> None:
    answers = [answered("<img src=x> " * 40), answered(" ", True)]
    drawn = answers_figure(bars(answers)).to_dict()
    names = drawn["layout"]["yaxis"]["ticktext"]
    assert not any("<img" in name for name in names)
    assert all(name.count("<br>") <= 2 for name in names)
