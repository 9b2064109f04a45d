"""What is guessed of a labelled file."""

from pathlib import Path

import pytest

from bertcore.configs import Columns
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.training.tasks import TASKS
from tests.support.cases import cases
from tests.support.finetuning_files import WRITERS

GOLD = dict(cases("guesses"))


@pytest.mark.parametrize("name", GOLD)
def test_task_and_columns(name: str, tmp_path: Path) -> None:
    lines, (task, columns) = GOLD[name]
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    guessed = guess(path)
    assert (guessed.task, guessed.chosen) == (task, Columns(**columns))


@pytest.mark.parametrize("task", WRITERS)
def test_what_is_guessed_can_be_read(task: str, tmp_path: Path) -> None:
    writer, ending = WRITERS[task]
    path = writer(tmp_path / f"file{ending}")
    guessed = guess(path)
    assert guessed.task == task
    examples = TASKS[task].read(path, columns=guessed.chosen, bad_rows=BadRows())
    plain = TASKS[task].read(path, bad_rows=BadRows())
    assert list(examples) == list(plain)


def test_the_first_rows_are_shown_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('text,label\n"a, b",1\nc,2\nragged\n', encoding="utf-8")
    guessed = guess(path)
    assert guessed.columns == ("text", "label")
    assert guessed.rows == (("a, b", "1"), ("c", "2"))


def test_no_more_than_the_first_rows_are_read(tmp_path: Path) -> None:
    """A file that goes bad late is looked at all the same: reading it all would take long."""
    path = tmp_path / "t.csv"
    rows = "".join(f"words {i},{i % 2}\n" for i in range(300_000))
    path.write_bytes(("text,label\n" + rows).encode() + b"caf\xe9,1\n")
    assert len(guess(path).rows) < 2000
