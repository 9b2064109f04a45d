"""Labels as people have them: which label of a checkpoint a file's label stands for."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertcore.analysis.attribution import run_file
from bertcore.data.labels import match_labels, order_labels
from bertcore.training.finetuning import start_experiment
from bertcore.training.tasks import TaskModel, open_task_model
from bertcore.training.tasks.model import head_fits
from tests.support.cases import cases
from tests.support.finetuning_files import data_of, quick_settings
from tests.support.kit import edit
from tests.support.rigged_models import started
from tests.support.tiny import tiny_bert
from tests.support.what_opens import opens

WORDS = st.sampled_from(["0", "1", "2", "3", "a", "A", "b", "B", "LABEL_0", "LABEL_1", "label_1"])
NAMES = st.lists(WORDS, unique=True, max_size=8)
KNOWN = st.one_of(
    NAMES,
    st.integers(0, 4).map(lambda n: [f"LABEL_{i}" for i in range(n)]),
    st.integers(0, 4).map(lambda n: [str(i) for i in range(n)]),
)


@pytest.mark.parametrize(("names", "known", "expected"), cases("matched_labels"))
def test_what_is_matched_is_certain(
    names: tuple[str, ...], known: tuple[str, ...], expected: dict[str, str]
) -> None:
    assert match_labels(names, known) == expected


@given(NAMES, KNOWN)
def test_equal_labels_are_left_and_different_ones_stay_apart(
    names: list[str], known: list[str]
) -> None:
    """Only spellings of one label, or its number beside its name, come together."""
    found = match_labels(names, known)
    assert found.keys() <= set(names)
    assert set(found.values()) <= set(known)
    for label in set(found.values()):
        together = [name for name in found if found[name] == label]
        assert len({name.lower().removeprefix("label_") for name in together}) == 1
    assert all(found[name] == name for name in set(names) & set(known))


@given(NAMES, KNOWN, st.randoms())
def test_the_order_of_names_does_not_matter(
    names: list[str], known: list[str], random: object
) -> None:
    shuffled = sorted(names, key=lambda name: random.random())  # type: ignore[attr-defined]
    assert match_labels(shuffled, known) == match_labels(names, known)


def checkpoint(folder: Path, labels: tuple[str, ...]) -> TaskModel:
    """Return a classifier with these labels, opened from a folder."""
    model = started(tiny_bert().save(folder / "tiny"), labels=labels)
    return open_task_model(model.save(folder / "classifier"), device="cpu")


def table(path: Path, labels: list[str]) -> Path:
    path.write_text(
        "\n".join(["text,label", *(f"the film was {i},{x}" for i, x in enumerate(labels))])
    )
    return path


def read(path: Path, model: TaskModel, **options: bool) -> tuple[list[int], tuple[str, ...]]:
    data = data_of(path, model, **options)
    assert data.labels == model.labels
    return data.rows.targets.tolist(), data.notes


@opens("numbers for `LABEL_0`, `LABEL_1`")
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
    edit(folder, id2label=None, label2id=None)
    assert open_task_model(folder, device="cpu").labels == ("LABEL_0", "LABEL_1")
    assert head_fits(folder, task="classify", labels=("0", "1"))
    assert head_fits(folder, task="classify", labels=("no", "yes"))
    assert not head_fits(folder, task="classify", labels=("bad", "good"))


@opens("a label that the checkpoint lacks")
def test_an_unknown_label_is_named_with_both_lists_and_the_way_out(tmp_path: Path) -> None:
    model = checkpoint(tmp_path, ("negative", "positive"))
    path = table(tmp_path / "names.csv", ["good", "bad"])
    match = (
        r"row 1 .* the label 'good', which is not one of 'negative', 'positive'; the file has "
        r"'bad', 'good'.* --label-map good="
    )
    with pytest.raises(ValueError, match=match):
        read(path, model)
    with pytest.raises(ValueError, match=match):
        run_file(model, path)
    with pytest.raises(ValueError, match=r"0 rows.*'negative', 'positive'"):
        read(path, model, skip_bad_rows=True)


def test_a_fine_tuning_that_keeps_its_head_matches_and_says_so(tmp_path: Path) -> None:
    model = checkpoint(tmp_path, ("NEGATIVE", "POSITIVE"))
    train = table(tmp_path / "train.csv", ["positive", "negative"] * 4)
    experiment = start_experiment(tmp_path / "out", quick_settings(model.name, train, train))
    assert "'negative' is 'NEGATIVE'" in experiment.notes[-1]
    report = experiment.run()
    assert report["labels"] == ["NEGATIVE", "POSITIVE"]
    assert report["notes"][: len(experiment.notes)] == list(experiment.notes)
    again = open_task_model(tmp_path / "out", device="cpu")
    assert again.labels == ("NEGATIVE", "POSITIVE")
    other = table(tmp_path / "other.csv", ["x", "y"] * 4)
    with pytest.raises(ValueError, match=r"'NEGATIVE', 'POSITIVE'; .*'x', 'y'.*with --new-head\.$"):
        start_experiment(tmp_path / "none", quick_settings(model.name, other, other))


def test_labels_with_dashes_are_no_numbers() -> None:
    assert order_labels(["10", "-1", "2"]) == ("-1", "2", "10")
    assert order_labels(["2", "--1", "10"]) == ("2", "10", "--1")
    assert order_labels(["1.5", "10", "-0.5", "9"]) == ("-0.5", "1.5", "9", "10")
    assert order_labels(["B-X10", "O", "B-X9"]) == ("O", "B-X9", "B-X10")
