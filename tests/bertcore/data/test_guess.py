"""What is guessed of a labelled file."""

import json
from pathlib import Path

import pytest

from bertcore.configs import Columns
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.tasks import TASKS
from tests.support.finetuning_files import WRITERS

GOLD = {
    "reviews.csv": (
        ["id,review,stars"] + [f'{i},"good, or bad {i}",{i % 5}' for i in range(30)],
        ("classify", Columns(text="review", label="stars")),
    ),
    "by content.tsv": (
        ["number\twords\tkind"] + [f"{i}\tsome words {i}\t{'xy'[i % 2]}" for i in range(30)],
        ("classify", Columns(text="words", label="kind")),
    ),
    "no header.tsv": (
        [f"some words {i}\t{i % 2}" for i in range(30)],
        ("classify", Columns(text="1", label="2")),
    ),
    "pairs.tsv": (
        ["premise\thypothesis\tlabel"] + [f"a {i}\tb {i}\t{'yn'[i % 2]}" for i in range(30)],
        ("pair", Columns(text="premise", text_pair="hypothesis", label="label")),
    ),
    "lists.csv": (
        ["text,tags"] + [f"some words {i},{('a', 'b|c', '', 'a | c')[i % 4]}" for i in range(30)],
        ("multilabel", Columns(text="text", label="tags")),
    ),
    "lists by content.tsv": (
        ["number\twords\tkinds"] + [f"{i}\tsome {i}\t{('a', 'b|c')[i % 2]}" for i in range(30)],
        ("multilabel", Columns(text="words", label="kinds")),
    ),
    "lists.jsonl": (
        [json.dumps({"text": f"some {i}", "labels": [["x"], ["x", "y"]][i % 2]}) for i in range(9)],
        ("multilabel", Columns(text="text", label="labels")),
    ),
    "jigsaw.csv": (
        ["id,comment_text,toxic,insult,threat"]
        + [f"{i:04x},some words {i},{i % 2},{int(i % 7 == 0)},0" for i in range(30)],
        ("multilabel", Columns(text="comment_text", label="toxic,insult,threat")),
    ),
    "a label and a flag.csv": (
        ["text,label,is_long,is_old"] + [f"words {i},{i % 2},{i % 2},1" for i in range(30)],
        ("classify", Columns(text="text", label="label")),
    ),
    "a text with bars.csv": (
        ["text,label"] + [f"one | two {i},{'xy'[i % 2]}" for i in range(30)],
        ("classify", Columns(text="text", label="label")),
    ),
    "scores.csv": (
        ["text,score"] + [f"words {i},{i / 7:.3f}" for i in range(30)],
        ("regress", Columns(text="text", label="score")),
    ),
    "years.csv": (
        ["text,label"] + [f"words {i},{1900 + i}" for i in range(60)],
        ("regress", Columns(text="text", label="label")),
    ),
    "stsb.tsv": (
        [f"main\tnews\t2012\t{i:04}\t{i % 6}.25\ta {i}\tb {i}" for i in range(30)],
        ("regress", Columns(text="6", text_pair="7", label="5")),
    ),
    "no label.csv": (
        ["text,source"] + [f"words {i},place {i}" for i in range(30)],
        ("classify", Columns(text="text", label=None)),
    ),
    "tags.jsonl": (
        [json.dumps({"tokens": ["a", "b"], "ner_tags": ["O", "B-X"]})] * 3,
        ("tag", Columns(text="tokens", label="ner_tags")),
    ),
    "treebank.conllu": (
        ["# text = a b", "1\ta\ta\tDET\t_", "2\tb\tb\tNOUN\t_", ""] * 3,
        ("tag", Columns(text="2", label="4")),
    ),
    "conll.txt": (
        ["-DOCSTART- -X- O O", "", "EU NNP I-NP I-ORG", "rejects VBZ I-VP O", ""] * 3,
        ("tag", Columns(text="1", label="4")),
    ),
    "squad.json": (
        [json.dumps({"data": [{"title": "t", "paragraphs": []}], "version": "2"})],
        ("qa", Columns()),
    ),
}


@pytest.mark.parametrize("name", GOLD)
def test_task_and_columns(name: str, tmp_path: Path) -> None:
    lines, wanted = GOLD[name]
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    guessed = guess(path)
    assert (guessed.task, guessed.chosen) == wanted


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
