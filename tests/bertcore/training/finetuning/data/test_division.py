"""A file divided into training and dev data, and samples of it."""

import json
from collections import Counter
from pathlib import Path

import pytest

from bertcore.configs import Columns
from bertcore.configs.columns import USUAL
from bertcore.data.files import BadRows
from bertcore.training.finetuning.data.division import (
    Division,
    columns_of_division,
    divide,
    write_samples,
)
from bertcore.training.finetuning.data.hub_data import kept_file
from bertcore.training.tasks import TASKS
from bertcore.training.tasks.read import read_examples
from tests.support.finetuning_files import WRITERS


def read(path: Path, task: str, columns: Columns = USUAL) -> list[object]:
    return list(read_examples(path, TASKS[task], columns=columns, bad_rows=BadRows()))


def contents(examples: list[object]) -> Counter[str]:
    """Return examples as text, without the rows where they stand."""

    def key(example: object) -> str:
        names = [name for name in example.__slots__ if name not in ("row",)]
        return repr([getattr(example, name) for name in names])

    return Counter(map(key, examples))


@pytest.mark.parametrize("task", WRITERS)
def test_both_parts_together_are_the_file(task: str, tmp_path: Path) -> None:
    writer, ending = WRITERS[task]
    path = writer(tmp_path / f"all{ending}", 60)
    assert divide(path, tmp_path, Division(held_out=0.2, seed=3), task=task) == ()
    train, dev = (kept_file(tmp_path, task=task, is_train=is_train) for is_train in (True, False))
    parts = contents(read(train, task)) + contents(read(dev, task))
    assert parts == contents(read(path, task))
    assert sum(contents(read(dev, task)).values()) in range(10, 14)


@pytest.mark.parametrize("task", WRITERS)
def test_samples_together_are_those_drawn_one_by_one(task: str, tmp_path: Path) -> None:
    writer, ending = WRITERS[task]
    path = writer(tmp_path / f"all{ending}", 60)
    divisions = [Division(sample=size, seed=seed) for size in (20, 40) for seed in (1, 2)]
    together = {tmp_path / f"{one.sample}-{one.seed}": one for one in divisions}
    assert write_samples(path, together, task=task) == ()
    for folder, division in together.items():
        divide(path, tmp_path, division, task=task)
        alone = kept_file(tmp_path, task=task, is_train=True).read_text()
        assert kept_file(folder, task=task, is_train=True).read_text() == alone


def test_one_of_so_many_of_each_label_is_held_out(tmp_path: Path) -> None:
    labels = ["a"] * 400 + ["b"] * 40 + ["c"] * 4 + ["d"]
    path = tmp_path / "t.tsv"
    rows = [f"text {i}\t{label}" for i, label in enumerate(labels)]
    path.write_text("\n".join(["text\tlabel", *rows]) + "\n")
    for seed in range(20):
        divide(path, tmp_path, Division(held_out=0.1, seed=seed), task="classify")
        dev = read(kept_file(tmp_path, task="classify", is_train=False), "classify")
        train = read(kept_file(tmp_path, task="classify", is_train=True), "classify")
        counts = Counter(example.answer for example in dev)
        assert counts["a"] == 40
        assert counts["b"] == 4
        assert counts["d"] == 0  # a label's first example is learned from
        assert {example.answer for example in train} == {"a", "b", "c", "d"}


def test_a_tag_that_is_seen_once_is_learned_from(tmp_path: Path) -> None:
    path = tmp_path / "t.conll"
    path.write_text("".join(f"word\t{f'T{i}' if i % 2 else 'N'}\n\n" for i in range(60)))
    for seed in range(5):
        divide(path, tmp_path, Division(held_out=0.5, seed=seed), task="tag")
        train = read(kept_file(tmp_path, task="tag", is_train=True), "tag")
        dev = read(kept_file(tmp_path, task="tag", is_train=False), "tag")
        assert {tag for example in dev for tag in example.tags} == {"N"}
        assert len(train) + len(dev) == 60


def test_questions_on_one_text_stay_together(tmp_path: Path) -> None:
    paragraphs = []
    for number in range(20):
        context = f"the man number {number} is in paris ."
        answers = [{"text": "paris", "answer_start": context.index("paris")}]
        qas = [
            {"id": f"{number}-{k}", "question": f"where, {k}", "answers": answers} for k in "abc"
        ]
        paragraphs.append({"context": context, "qas": qas})
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"data": [{"title": "", "paragraphs": paragraphs}]}))
    divide(path, tmp_path, Division(held_out=0.25), task="qa")
    parts = [
        {example.context for example in read(kept_file(tmp_path, task="qa", is_train=t), "qa")}
        for t in (True, False)
    ]
    assert len(parts[1]) == 5
    assert not parts[0] & parts[1]


def test_chosen_columns_are_read_once_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    rows = [f'"q {i}","a, {i}",{"yn"[i % 2]}' for i in range(20)]
    path.write_text("\n".join(["Frage,Antwort,gut", *rows]) + "\n")
    columns = Columns(text="Frage", text_pair="Antwort", label="gut")
    for task in ("classify", "pair"):
        divide(path, tmp_path, Division(held_out=0.2), task=task, columns=columns)
        dev = kept_file(tmp_path, task=task, is_train=False)
        again = read(dev, task, columns_of_division(columns))
        assert {example.text_pair for example in again} <= {f"a, {i}" for i in range(20)}
        assert len(again) == 4


def test_a_sample_has_every_label(tmp_path: Path) -> None:
    labels = ["a"] * 500 + ["b"]
    path = tmp_path / "t.tsv"
    rows = [f"text {i}\t{label}" for i, label in enumerate(labels)]
    path.write_text("\n".join(["text\tlabel", *rows]) + "\n")
    divide(path, tmp_path, Division(sample=20), task="classify")
    train = read(kept_file(tmp_path, task="classify", is_train=True), "classify")
    assert len(train) == 20
    assert {example.answer for example in train} == {"a", "b"}
    assert not kept_file(tmp_path, task="classify", is_train=False).exists()
    divide(path, tmp_path, Division(sample=1000), task="classify")
    assert len(read(kept_file(tmp_path, task="classify", is_train=True), "classify")) == 501


def test_bad_rows_are_refused_or_told(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("text\tlabel\n" + "a\t1\nb\t2\n" * 10 + "\t1\nc\t\n")
    with pytest.raises(ValueError, match=r"row 21 .* has no text"):
        divide(path, tmp_path, Division(held_out=0.2), task="classify")
    bad, unlabelled = divide(
        path, tmp_path, Division(held_out=0.2), task="classify", skip_bad_rows=True
    )
    assert "1 bad row was left out; the first: row 21" in bad
    assert unlabelled == "1 example has no label and was left out (1 empty)."


def test_divisions_that_cannot_be(tmp_path: Path) -> None:
    for wrong, match in (
        ({"held_out": 0.0}, "held_out is 0; expected more than 0"),
        ({"held_out": 0.9}, "at most 0.5"),
        ({"sample": 1}, "sample is 1; expected at least 2"),
    ):
        with pytest.raises(ValueError, match=match):
            Division(**wrong)
    path = tmp_path / "few.tsv"
    path.write_text("text\tlabel\na\t1\n")
    with pytest.raises(ValueError, match=r"too few examples.*Hold out more"):
        divide(path, tmp_path, Division(held_out=0.1), task="classify")
