"""Small files of examples, as tests of fine-tuning need them, and a model's scores on one."""

import json
import random
from pathlib import Path
from typing import Any

from bertcore.training.evaluation.metrics import Scores
from bertcore.training.finetuning import Settings, make_settings
from bertcore.training.tasks import TaskModel, read_task_data, score_model
from bertcore.training.tasks.task_data import TaskData

GOOD = ("good", "new", "milk", "paris", "cat")
BAD = ("bad", "old", "fish", "berlin", "dog")
FILLERS = ("the", "film", "was", "very", "man", "house", "and", "she", "ran")


def write_lines(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_reviews(path: Path, num: int = 64, *, seed: int = 0) -> Path:
    """Write a TSV with the columns sentence and label; one word decides the label."""
    rng = random.Random(seed)
    lines = ["sentence\tlabel"]
    for i in range(num):
        words = rng.choices(FILLERS, k=rng.randint(2, 8))
        words.insert(rng.randrange(len(words)), rng.choice((BAD, GOOD)[i % 2]))
        lines.append(f"{' '.join(words)}\t{('bad', 'good')[i % 2]}")
    return write_lines(path, lines)


def write_label_lists(path: Path, num: int = 64, *, seed: int = 0) -> Path:
    """Write a TSV with the columns text and labels; each of three words brings a label, or none."""
    rng = random.Random(seed)
    labels = {"bad": "insult", "old": "threat", "fish": "toxic"}
    lines = ["text\tlabels"]
    for i in range(num):
        said = [word for place, word in enumerate(labels) if i >> place & 1]
        words = [*rng.choices(FILLERS, k=rng.randint(2, 6)), *said]
        rng.shuffle(words)
        lines.append(f"{' '.join(words)}\t{'|'.join(labels[word] for word in said)}")
    return write_lines(path, lines)


def write_scored_pairs(path: Path, num: int = 64, *, seed: int = 0) -> Path:
    """Write pairs of which the score counts how many of their two words are good."""
    rng = random.Random(seed)
    lines = ["sentence1\tsentence2\tscore"]
    for _ in range(num):
        kinds = [rng.random() < 0.5 for _ in range(2)]
        a, b = (f"the {rng.choice(GOOD if kind else BAD)} house" for kind in kinds)
        lines.append(f"{a}\t{b}\t{sum(kinds):.1f}")
    return write_lines(path, lines)


def write_tags(path: Path, num: int = 48, *, seed: int = 0) -> Path:
    """Write sentences in CoNLL columns, IOB1; two places are entities, one of two words."""
    rng = random.Random(seed)
    lines = ["-DOCSTART- -X- O", ""]
    for _ in range(num):
        lines += [f"{word} X O" for word in rng.choices(FILLERS, k=rng.randint(1, 4))]
        place = rng.choice((("paris",), ("new", "berlin")))
        lines += [f"{word} X I-LOC" for word in place]
        lines += ["was X O", ""]
    return write_lines(path, lines)


def write_questions(path: Path, num: int = 48, *, seed: int = 0, impossible: bool = False) -> Path:
    """Write SQuAD JSON: where is the man or the woman; with `impossible`, a third has no answer."""
    rng = random.Random(seed)
    paragraphs = []
    for i in range(num):
        places = rng.sample(("paris", "berlin", "house", "shop", "river"), 2)
        context = f"the man is in {places[0]} . the woman is in {places[1]} ."
        who = i % 2
        question = f"where is the {('man', 'woman')[who]}"
        none = impossible and i % 3 == 0
        if none:
            question = "where is the dog"
        start = context.index(places[who])
        qa = {
            "id": f"q{i}",
            "question": question,
            "answers": [] if none else [{"text": places[who], "answer_start": start}],
        }
        if impossible:
            qa["is_impossible"] = none
        paragraphs.append({"context": context, "qas": [qa]})
    content = {"version": "x", "data": [{"title": "t", "paragraphs": paragraphs}]}
    return write_lines(path, [json.dumps(content)])


def write_choices(path: Path, num: int = 64, *, seed: int = 0) -> Path:
    """Write a table in SWAG's form with four endings; the right one alone has a good word."""
    rng = random.Random(seed)
    lines = ["sent1,sent2,ending0,ending1,ending2,ending3,label"]
    for _ in range(num):
        answer = rng.randrange(4)
        ends = [f"{rng.choice(GOOD if i == answer else BAD)} house" for i in range(4)]
        lines.append(f"she ran,the,{','.join(ends)},{answer}")
    return write_lines(path, lines)


WRITERS = {
    "classify": (write_reviews, ".tsv"),
    "multilabel": (write_label_lists, ".tsv"),
    "regress": (write_scored_pairs, ".tsv"),
    "tag": (write_tags, ".txt"),
    "qa": (write_questions, ".json"),
    "choice": (write_choices, ".csv"),
}
"""For each task that a tiny network can learn: what writes a file for it, and its ending."""


def quick_settings(
    checkpoint: Path | str, train: Path, dev: Path | None = None, **more: Any
) -> Settings:
    """Return settings of a small fine-tuning; `more` are of `make_settings`."""
    usual = {"task": "classify", "epochs": 1, "batch_size": 8, "max_seq_length": 48}
    more = {**usual, "device": "cpu", **more}
    return make_settings(checkpoint=str(checkpoint), train=train, dev=dev, **more)


def data_of(path: Path, model: TaskModel, *, max_length: int = 48, **options: Any) -> TaskData:
    """Read a file for a model: with its task, tokenizer and labels."""
    options = {"labels": model.labels or None, "is_train": False, **options}
    return read_task_data(path, model.task, model.tokenizer, max_length=max_length, **options)


def scores_on(path: Path, model: TaskModel, *, max_length: int = 48) -> Scores:
    """Return a model's scores on a file."""
    return score_model(model.module, data_of(path, model, max_length=max_length), model.task).scores


TABLES = {
    "multilabel": (  # its columns are found by the labels of the checkpoint
        "text,Toxic,insult,threat\n" + "the film was good,1,0,0\nan old fish,0,0,0\nno,1,1,0\n" * 5
    ),
    "pair": "sentence1,sentence2,label\n" + "the house,she ran,no\nthe house,she ran,yes\n" * 5,
    "classify": "text,label\n" + "the film was good,good\nan old fish,bad\nno,so-so\n" * 5,
}
LABELLED = {
    "tag": (write_tags, "a.txt", 20),
    "qa": (write_questions, "a.json", 12),
    "choice": (write_choices, "a.csv", 20),
    "regress": (write_scored_pairs, "a.tsv", 20),
}


def write_labelled(task: str, folder: Path) -> Path:
    """Write a labelled file for a task of `rigged_models`; return its path."""
    if task in LABELLED:
        write, name, number = LABELLED[task]
        return write(folder / name, number)
    (folder / "a.csv").write_text(TABLES[task])
    return folder / "a.csv"
