"""`bertscope lesson check`: a lesson that holds, and what is wrong with one that does not."""

import json
from pathlib import Path

import pytest

from bertcore.lessons.answers import ANSWERS
from tests.support.cases import cases
from tests.support.command_line import invoke, succeed

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "bertcore" / "model" / "checkpoints" / "default" / "model.safetensors"
LESSONS = sorted((ROOT / "app" / "screens" / "lessons" / "en").glob("*.toml"))
LESSON = """title = "A"
summary = "B"
minutes = 5
text_a = "The river bank was steep."
other_a = "He went to the shop."
goals = ["Count."]
[[steps]]
goal = 1
title = "Tokens"
text = "Count them."
page = "PAGE"
question = "How many?"
answer = "ANSWER"
right = "Yes."
wrong = "No."
"""

pytestmark = pytest.mark.skipif(not SHIPPED.is_file(), reason="no checkpoint ships here")


@pytest.mark.parametrize(
    "path",
    [LESSONS[0], *(pytest.param(path, marks=pytest.mark.exhaustive) for path in LESSONS[1:])],
    ids=lambda path: path.stem,
)
def test_a_shipped_lesson_holds(path: Path) -> None:
    rows = json.loads(succeed("lesson", "check", path, "--json"))
    assert len(rows) >= 10
    assert [row["problems"] for row in rows] == [[]] * len(rows)
    assert {row["part"] for row in rows} == {"steps", "again"}


def test_the_functions_stand_by_page_with_a_question_each() -> None:
    rows = json.loads(succeed("lesson", "functions", "--json"))
    assert sorted(row["answer"] for row in rows) == sorted(ANSWERS)
    blocks = succeed("lesson", "functions").strip().split("\n\n")
    for row, block in zip(rows, blocks, strict=True):
        assert row["kind"].partition(":")[0] == ANSWERS[row["answer"]].kind
        assert block.startswith(f"page: {row['page']}\nanswer: {row['answer']}\n")
        assert block.endswith(f"\nexample: {row['example']}")
    assert [row["page"] for row in rows] == sorted(row["page"] for row in rows)
    assert "lesson check FILE, or lesson functions" in invoke("lesson", "check").stderr


@pytest.mark.parametrize(("page", "answer", "words"), cases("wrong_lessons"))
def test_what_is_wrong_is_named(page: str, answer: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = LESSON.replace("PAGE", page).replace("ANSWER", answer)
    if answer == "best_probability":
        text = text.replace("Count them.", "It gets {p%}.")
    path.write_text(text, encoding="utf-8")
    result = invoke("lesson", "check", path)
    assert result.exit_code == (2 if words else 0), result.output
    assert words in " ".join(result.output.split())
    assert ("has the answer: {p}" in result.output) == (answer == "best_probability")


def test_another_action_is_refused(tmp_path: Path) -> None:
    result = invoke("lesson", "verify", tmp_path / "x.toml")
    assert result.exit_code == 2
    assert "bertscope lesson check FILE" in result.output
