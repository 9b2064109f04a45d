"""What a cell says: lists, numbers in every notation, labels that stand together."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from bertcore.configs import Columns
from bertcore.data.cells import decimal_sign, parsed_list
from bertcore.data.files import BadRows
from bertcore.data.guess import guess
from bertcore.training.tasks import find_task
from bertcore.training.tasks.read import file_labels, read_examples
from tests.support import what_opens
from tests.support.cases import cases
from tests.support.what_opens import opens

MANY = 3


def table(path: Path, *cells: str, name: str = "label", sign: str = ";") -> Path:
    rows = [f"a film {i}{sign}{cell}" for i, cell in enumerate(cells * MANY)]
    path.write_text("\n".join([f"text{sign}{name}", *rows]) + "\n", encoding="utf-8")
    return path


@opens("a score with a decimal comma")
@pytest.mark.parametrize(
    ("cells", "scores"),
    [
        (("2,5", "1,1", "0,0"), ("2.5", "1.1", "0.0")),
        (("2,5", "3", "4,25"), ("2.5", "3", "4.25")),
        (("2.5", "1.100", "7"), ("2.5", "1.100", "7")),
    ],
)
def test_numbers_are_scores_with_a_point_or_a_comma(
    cells: tuple[str, ...], scores: tuple[str, ...], tmp_path: Path
) -> None:
    path = table(tmp_path / "a.csv", *cells, name="score")
    assert guess(path).task == "regress"
    found = [*read_examples(path, find_task("regress"), bad_rows=BadRows())]
    assert tuple(one.answer for one in found[: len(cells)]) == scores  # type: ignore[attr-defined]


@opens("thousands and units")
@pytest.mark.parametrize(("cells", "rest"), cases("odd_numbers"))
def test_what_may_be_read_in_two_ways_or_has_a_unit_is_guessed_as_a_score_and_refused(
    cells: tuple[str, ...], rest: tuple[str, ...], tmp_path: Path
) -> None:
    path, bad = table(tmp_path / "a.csv", *cells, name="score"), BadRows(skip=True)
    assert guess(path).task == "regress"
    found = [*read_examples(path, find_task("regress"), bad_rows=bad)]
    assert tuple(one.answer for one in found) == tuple(rest) * MANY  # type: ignore[attr-defined]
    assert f"{cells[0]!r} in column 'score'; expected a number" in bad.first


def test_numbers_of_labels_are_no_decimals(tmp_path: Path) -> None:
    path = table(tmp_path / "a.tsv", "2,27", "27", "2", "3,27", "3", name="labels", sign="\t")
    assert guess(path).task == "multilabel"


@pytest.mark.parametrize(
    ("cells", "sign"),
    [(["2,5"], ","), (["2.5"], "."), (["1,234"], None), (["1,234", "0.5"], "."), (["5"], "."),
     (["1,234", "0,5"], ","), (["x, y", "2,5"], ","), (["1.234,5", "12.000"], None)],
)  # fmt: skip
def test_the_sign_of_decimals(cells: list[str], sign: str | None) -> None:
    assert decimal_sign(cells) == sign


LISTS: dict[str, tuple[list[object], str]] = dict(cases("label_lists"))  # fmt: skip
what_opens.opens("lists in cells")
what_opens.opens("a comma in a label")


def labelled(path: Path, cells: Sequence[object]) -> Path:
    rows = [{"text": f"film {i}", "label": cell} for i, cell in enumerate([*cells] * MANY)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.parametrize("name", LISTS)
def test_lists_in_cells(name: str, tmp_path: Path) -> None:
    cells, said = LISTS[name]
    path, bad = labelled(tmp_path / "a.jsonl", cells), BadRows(skip=True)
    examples = [*read_examples(path, find_task("multilabel"), bad_rows=BadRows())]
    five = [{"cold", "slow"}, {"slow"}, {"cold"}, {"rude", "cold"}, {"rude"}]
    assert [{*example.labels} for example in examples] == five * MANY
    assert guess(path).task == "multilabel"
    list(read_examples(path, find_task("classify"), bad_rows=bad))
    assert said in " ".join(bad.notes())


@opens("labels with commas and the like between them")
@pytest.mark.parametrize("sign", [", ", "; ", " / ", "+", " & ", " and ", "\t"])
def test_other_signs_between_labels_are_named(sign: str, tmp_path: Path) -> None:
    cells = ["cold", "slow", "old, new", f"cold{sign}slow"]
    path, bad = labelled(tmp_path / "a.jsonl", cells), BadRows()
    assert guess(path).task == "classify"
    examples = [*read_examples(path, find_task("classify"), bad_rows=bad)]
    assert examples[3].labels == (f"cold{sign}slow".strip(),)
    assert any("is one label here" in note for note in bad.notes())
    with pytest.raises(ValueError, match=r"has labels such as 'cold.*Write \|"):
        list(read_examples(path, find_task("multilabel"), bad_rows=BadRows()))


@pytest.mark.parametrize(
    "cells", [["Arts, Crafts", "Sports", "Business, Finance"], ["New York", "New", "York"]]
)
def test_a_comma_or_a_space_in_a_label(cells: list[str], tmp_path: Path) -> None:
    path, bad = labelled(tmp_path / "a.jsonl", cells), BadRows()
    for task in ("classify", "multilabel"):
        examples = [*read_examples(path, find_task(task), bad_rows=bad)]
        assert [example.labels for example in examples[:3]] == [(cell,) for cell in cells]
    assert not bad.notes()


@opens("a set in a cell")
@pytest.mark.parametrize(("cell", "items"), cases("python_lists"))
def test_lists_of_python(cell: str, items: object) -> None:
    found = parsed_list(cell)
    assert items in (found, repr(found))  # nan is unequal to itself


def test_nan_in_a_list_is_no_label(tmp_path: Path) -> None:
    path, bad = tmp_path / "a.csv", BadRows(skip=True)
    path.write_text("text,labels\na,\"['cold', 'slow']\"\nb,\"['cold', nan]\"\nc,['slow']\n")
    rows = find_task("multilabel").read(path, columns=Columns(), bad_rows=bad)
    assert [one.labels for one in rows] == [("cold", "slow"), ("slow",)]
    assert bad.num == 1


@pytest.mark.parametrize(("name", "content"), cases("word_columns"))
def test_columns_say_what_they_are_whatever_the_files_name(
    name: str, content: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content)
    found = guess(path)
    assert found.task == "tag"
    for columns in (Columns(), found.chosen):
        read = read_examples(path, find_task("tag"), columns=columns, bad_rows=BadRows())
        assert [(one.words, [*one.labels]) for one in read] == [  # type: ignore[attr-defined]
            (["EU", "wins"], ["B-ORG", "O"]),
            (["Oslo"], ["B-LOC"]),
        ]


@pytest.mark.parametrize("cells", [("1,5", "2,5", "3,5", "1", "7,5"), ("1.234,5", "2", "0,5")])
def test_a_column_called_label_may_have_decimal_commas(
    cells: tuple[str, ...], tmp_path: Path
) -> None:
    assert guess(table(tmp_path / "a.csv", *cells)).task == "regress"


@pytest.mark.parametrize(
    ("known", "gold"),
    [
        (("O", "I-PER", "B-LOC", "I-LOC"), "I-PER I-PER O B-LOC"),  # IOB1: dbmdz's taggers
        (("O", "B-PER", "I-PER", "E-PER", "S-PER", "B-LOC", "I-LOC"), "B-PER E-PER O B-LOC"),
        (("O", "B-PER", "I-PER", "B-LOC"), "B-PER I-PER O B-LOC"),
        (("O", "PER-I", "LOC-B", "LOC-I"), "PER-I PER-I O LOC-B"),
    ],
)
def test_entities_take_the_tags_that_a_head_has(
    known: tuple[str, ...], gold: str, tmp_path: Path
) -> None:
    path, task = tmp_path / "a.txt", find_task("tag")
    path.write_text("John B-PER\nSmith I-PER\nin O\nOslo B-LOC\n\n")
    [one] = read_examples(path, task, file_labels(task, known), bad_rows=BadRows())
    assert " ".join(one.labels) == gold
    with pytest.raises(ValueError, match="the tag 'I-PER', which is not one of"):
        list(
            read_examples(
                path, task, file_labels(task, ("O", "B-PER", "B-LOC")), bad_rows=BadRows()
            )
        )
