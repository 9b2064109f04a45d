"""Labels as people have them: which label of a checkpoint a file's label stands for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertcore.analysis.attribution import run_file
from bertcore.data.labels import describe_match, match_labels, order_labels
from bertcore.finetuning.experiment import start_experiment
from bertcore.finetuning.settings import make_settings
from bertcore.tasks import TaskModel, open_task_model, read_task_data, start_task_model
from bertcore.tasks.model import head_fits
from tests.support.tiny import tiny_bert

WORDS = st.sampled_from(["0", "1", "2", "3", "a", "A", "b", "B", "LABEL_0", "LABEL_1", "label_1"])
NAMES = st.lists(WORDS, unique=True, max_size=8)
KNOWN = st.one_of(
    NAMES,
    st.integers(0, 4).map(lambda n: [f"LABEL_{i}" for i in range(n)]),
    st.integers(0, 4).map(lambda n: [str(i) for i in range(n)]),
)


@pytest.mark.parametrize(
    ("names", "known", "expected"),
    [
        (("0", "1"), ("LABEL_0", "LABEL_1"), {"0": "LABEL_0", "1": "LABEL_1"}),
        (("1",), ("LABEL_0", "LABEL_1"), {"1": "LABEL_1"}),
        (("LABEL_1",), ("0", "1"), {"LABEL_1": "1"}),
        (("0", "1", "-1"), ("LABEL_0", "LABEL_1"), {"0": "LABEL_0", "1": "LABEL_1"}),
        (("Entailment",), ("contradiction", "entailment"), {"Entailment": "entailment"}),
        (("STRASSE",), ("straße", "weg"), {"STRASSE": "straße"}),
        # Not certain, so not guessed:
        (("0", "1"), ("negative", "positive"), {}),
        (("1", "2"), ("LABEL_0", "LABEL_1"), {}),
        (("01", "0"), ("LABEL_0", "LABEL_1"), {}),
        (("0", "1"), ("LABEL_1", "LABEL_0"), {}),
        (("LABEL_1",), ("1", "2"), {}),
        (("positive",), ("Positive", "POSITIVE"), {}),
        (("positive", "Positive"), ("POSITIVE",), {}),
        (("positive", "POSITIVE"), ("POSITIVE",), {"POSITIVE": "POSITIVE"}),
        (("0", "LABEL_0"), ("LABEL_0", "LABEL_1"), {"LABEL_0": "LABEL_0"}),
        (("not entailment",), ("not_entailment",), {}),
    ],
)
def test_what_is_matched_is_certain(
    names: tuple[str, ...], known: tuple[str, ...], expected: dict[str, str]
) -> None:
    assert match_labels(names, known) == expected


@given(NAMES, KNOWN)
def test_matching_is_one_to_one_and_leaves_equal_labels(names: list[str], known: list[str]) -> None:
    found = match_labels(names, known)
    assert found.keys() <= set(names)
    assert set(found.values()) <= set(known)
    assert len(set(found.values())) == len(found)
    assert all(found[name] == name for name in set(names) & set(known))


@given(NAMES, KNOWN, st.randoms())
def test_the_order_of_names_does_not_matter(
    names: list[str], known: list[str], random: object
) -> None:
    shuffled = sorted(names, key=lambda name: random.random())  # type: ignore[attr-defined]
    assert match_labels(shuffled, known) == match_labels(names, known)


@given(NAMES)
def test_labels_in_other_cases_are_matched_whatever_their_order(names: list[str]) -> None:
    known = list(dict.fromkeys(name.lower() for name in names))
    assert match_labels([name.upper() for name in known], known) == {
        name.upper(): name for name in known
    }


def test_the_sentence_names_what_is_written_otherwise() -> None:
    assert describe_match({"a": "a"}) is None
    sentence = describe_match({"a": "a", "0": "LABEL_0", "yes": "YES"})
    assert sentence is not None
    assert "'0' is 'LABEL_0', 'yes' is 'YES'." in sentence
    assert "'a'" not in sentence


def checkpoint(folder: Path, labels: tuple[str, ...]) -> TaskModel:
    """Return a classifier with these labels, opened from a folder."""
    model = start_task_model(
        tiny_bert().save(folder / "tiny"),
        task="classify",
        labels=labels,
        generator=torch.Generator().manual_seed(1),
    )
    return open_task_model(model.save(folder / "classifier"), device="cpu")


def table(path: Path, labels: list[str]) -> Path:
    path.write_text(
        "\n".join(["text,label", *(f"the film was {i},{x}" for i, x in enumerate(labels))])
    )
    return path


def read(path: Path, model: TaskModel, **options: bool) -> tuple[list[int], tuple[str, ...]]:
    data = read_task_data(
        path, model.task, model.tokenizer, max_length=16, labels=model.labels, **options
    )
    assert data.labels == model.labels
    return data.rows.targets.tolist(), data.notes


def test_a_files_numbers_meet_the_labels_of_transformers(tmp_path: Path) -> None:
    """Read for evaluate, streamed for Inspect; said once, however many rows there are."""
    model = checkpoint(tmp_path, ("LABEL_0", "LABEL_1"))
    path = table(tmp_path / "numbers.csv", ["1", "0", "1", "0", "0"])
    targets, notes = read(path, model)
    assert targets == [1, 0, 1, 0, 0]
    found = run_file(model, path, rows_at_once=2)
    assert found.gold.tolist() == targets
    assert found.notes == notes
    assert len(notes) == 1
    assert "'0' is 'LABEL_0'" in notes[0]
    exact = table(tmp_path / "exact.csv", ["LABEL_1", "LABEL_0"])
    assert read(exact, model) == ([1, 0], ())


def test_a_checkpoint_that_names_no_label_has_those_of_transformers(tmp_path: Path) -> None:
    folder = Path(checkpoint(tmp_path, ("no", "yes")).name)
    config = json.loads((folder / "config.json").read_text())
    del config["id2label"], config["label2id"]
    (folder / "config.json").write_text(json.dumps(config))
    assert open_task_model(folder, device="cpu").labels == ("LABEL_0", "LABEL_1")
    assert head_fits(folder, task="classify", labels=("0", "1"))
    assert not head_fits(folder, task="classify", labels=("no", "yes"))


def test_an_order_is_not_guessed_and_both_lists_are_named(tmp_path: Path) -> None:
    model = checkpoint(tmp_path, ("negative", "positive"))
    path = table(tmp_path / "numbers.csv", ["1", "0"])
    match = (
        r"row 1 .* the label '1', which is not one of 'negative', 'positive'; the file has '0', '1'"
    )
    with pytest.raises(ValueError, match=match):
        read(path, model)
    with pytest.raises(ValueError, match=match):
        run_file(model, path)
    with pytest.raises(ValueError, match=r"0 rows.*'negative', 'positive'"):
        read(path, model, skip_bad_rows=True)


@pytest.mark.parametrize("turned", [False, True])
def test_which_rows_are_left_out_does_not_depend_on_their_order(
    turned: bool, tmp_path: Path
) -> None:
    """Two names for one label are both left out, whichever comes first."""
    model = checkpoint(tmp_path, ("NEGATIVE", "POSITIVE"))
    labels = ["positive", "Positive", "negative", "negative"]
    path = table(tmp_path / "a.csv", labels[::-1] if turned else labels)
    assert read(path, model, skip_bad_rows=True)[0] == [0, 0]


def test_a_fine_tuning_that_keeps_its_head_matches_and_says_so(tmp_path: Path) -> None:
    model = checkpoint(tmp_path, ("NEGATIVE", "POSITIVE"))
    train = table(tmp_path / "train.csv", ["positive", "negative"] * 4)
    settings = make_settings(
        task="classify", train=train, dev=train, checkpoint=model.name, epochs=1, device="cpu"
    )
    experiment = start_experiment(tmp_path / "out", settings)
    assert ["'negative' is 'NEGATIVE'" in note for note in experiment.notes] == [True]
    report = experiment.run()
    assert report is not None
    assert report["labels"] == ["NEGATIVE", "POSITIVE"]
    assert report["notes"] == list(experiment.notes)
    again = open_task_model(tmp_path / "out", device="cpu")
    assert again.labels == ("NEGATIVE", "POSITIVE")
    other = table(tmp_path / "other.csv", ["0", "1"] * 4)
    settings = make_settings(
        task="classify", train=other, dev=other, checkpoint=model.name, epochs=1, device="cpu"
    )
    with pytest.raises(ValueError, match=r"'NEGATIVE', 'POSITIVE', but .*'0', '1'.*--new-head"):
        start_experiment(tmp_path / "none", settings)


def test_labels_with_dashes_are_no_numbers() -> None:
    assert order_labels(["10", "-1", "2"]) == ("-1", "2", "10")
    assert order_labels(["2", "--1", "10"]) == ("--1", "10", "2")
