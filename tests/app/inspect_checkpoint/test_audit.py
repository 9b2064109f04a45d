"""The audit of a labelled file on Inspect: by the groups of a column, and with words swapped."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.inspect_checkpoint import flips as flips_view
from app.inspect_checkpoint.flips import in_words, leans_in_words
from app.inspect_checkpoint.groups import gap_in_words
from app.plots.formats import exactly
from app.shell.state import Field
from bertcore.analysis.attribution import run_file
from bertcore.bias import Gap, audit_groups, flip_file
from bertcore.tasks import open_task_model
from bertcore.tasks.column import column_values
from tests.support.finetuning_files import write_questions, write_tags
from tests.support.labelled_upload import ran, with_file
from tests.support.opened import (
    button,
    complaints,
    named_charts,
    numbers,
    ok,
    page_of,
    said,
    with_results,
)
from tests.support.rigged_models import bag_of_words, random_model

HOSTILE = "<img src=x onerror=alert(1)> ![x](http://x.org/y)"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("checkpoints")
    return {
        task: random_model(task).save(top / task) for task in ("classify", "regress", "qa", "tag")
    }


def content(answers: tuple[str, ...]) -> str:
    """Return a table with a column of groups, one with a single value, and one with many."""
    lines = ["text\tlabel\tgender\tsame\tmany"]
    for i in range(90):
        text = f"{('she', 'he')[i % 2]} {'was ' * (i % 3)}{('good', 'bad', 'new')[i % 3]}"
        group = ("women", HOSTILE)[i % 2]
        lines.append(f"{text}\t{answers[i % len(answers)]}\t{group}\tx\t{i}")
    return "\n".join(lines)


def opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str | bytes, **query: str
) -> AppTest:
    """Return the page with a file that was run; it may have an error to tell."""
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    app = page_of("inspect_checkpoint", seconds=120, text_a="the film was good", **query)
    return with_results(ran(with_file(app, monkeypatch, name, text)))


def test_groups_are_those_of_the_core(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = content(("good", "bad", "so-so"))
    app = ok(opened(folders["classify"], monkeypatch, "a.tsv", text))
    assert "groups" not in named_charts(app, "inspect")
    app = ok(with_results(app.selectbox(key="inspect_by").select("gender").run()))
    path = tmp_path / "a.tsv"
    path.write_text(text)
    model = open_task_model(folders["classify"], device="cpu")
    run = run_file(model, path)
    expected = audit_groups(run, column_values(path, model.task.name, "gender"), "gender")
    (dots,) = named_charts(app, "inspect")["groups"][:1]
    accuracy = expected.rates[0].groups
    assert numbers(dots["x"]).tolist() == pytest.approx([one.mean for one in accuracy])
    assert "<img" not in str(dots["customdata"])  # escaped
    gaps = app.dataframe[-1].value
    assert sorted(gaps["value"]) == pytest.approx(sorted(one.value for one in expected.gaps))
    assert "Barocas" in said(app)
    assert "![x]" not in " ".join(one.value for one in app.markdown)  # escaped
    app = ok(app.segmented_control(key="inspect_by_measure").set_value("recall").run())
    (dots,) = named_charts(app, "inspect")["groups"][:1]
    recall = next(one for one in expected.rates if (one.measure, one.label) == ("recall", "so-so"))
    assert numbers(dots["x"]).tolist() == pytest.approx([one.mean for one in recall.groups])


@pytest.mark.parametrize(("column", "what"), [("same", "one value"), ("many", "90 different")])
def test_columns_that_do_not_do_are_sentences(
    column: str, what: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = content(("good", "bad"))
    app = opened(folders["classify"], monkeypatch, "a.tsv", text, inspect_by=column)
    assert what in complaints(app)


def test_scores_by_group_and_swapped(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = content(("1", "2.5", "4"))
    app = ok(opened(folders["regress"], monkeypatch, "a.tsv", text, inspect_by="gender"))
    assert "groups" in named_charts(app, "inspect")
    assert "mean error" in set(app.dataframe[-1].value["gap"])
    app = ok(with_results(button(app, "Swap the words").click().run()))
    assert "90 of 90" in said(app)
    assert "score moves" in said(app)


def test_files_without_columns_say_so(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tags = write_tags(tmp_path / "a.txt", 12)
    app = ok(opened(folders["tag"], monkeypatch, tags.name, tags.read_bytes()))
    assert "The file has one word per line" in said(app)
    assert not [one for one in app.button if "Swap" in one.label]
    questions = write_questions(tmp_path / "a.json", 8)
    app = ok(opened(folders["qa"], monkeypatch, questions.name, questions.read_bytes()))
    assert app.selectbox(key="inspect_by").options == ["(none)", "title"]


def test_swapped_texts_are_those_of_the_core_and_open(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = content(("good", "bad", "so-so"))
    app = ok(opened(folders["classify"], monkeypatch, "a.tsv", text))
    app = ok(with_results(button(app, "Swap the words").click().run()))
    path = tmp_path / "a.tsv"
    path.write_text(text)
    model = open_task_model(folders["classify"], device="cpu")
    expected = flip_file(model, path, [("she", "he")])
    table = app.dataframe[-1].value
    assert list(table["swapped text"]) == [one.flipped for one in expected.texts]
    assert list(table["change"]) == pytest.approx([one.change for one in expected.texts])
    assert "90 of 90" in said(app)

    put: dict[str, object] = {}
    monkeypatch.setattr(Field, "put", lambda field, new: put.__setitem__(field.name, new))
    flips_view._open(expected.texts[0])
    assert (put["text_a"], put["inspect_view"]) == (expected.texts[0].text, "text")


def test_own_pairs_are_text_and_wrong_ones_a_sentence(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = content(("good", "bad"))
    query = {"inspect_swap_set": "own", "inspect_swap_pairs": "she"}
    app = ok(opened(folders["classify"], monkeypatch, "a.tsv", text, **query))
    app = with_results(button(app, "Swap the words").click().run())
    assert "is not a pair" in complaints(app)
    app.text_area(key="inspect_swap_pairs").set_value(f"she={HOSTILE.replace('=', '')}")
    app = ok(with_results(button(app, "Swap the words").click().run()))
    assert "45 of 90" in said(app)
    app.text_area(key="inspect_swap_pairs").set_value("zebra=horse")
    app = ok(with_results(button(app, "Swap the words").click().run()))
    assert "None of 90 texts" in said(app)


def test_a_lean_of_one_of_two_labels_says_it_all_unless_both_may_be_given(tmp_path: Path) -> None:
    words = {"she": (1.0, 0.0), "he": (0.0, -0.5), "was": (0.25, 0.5)}
    path = tmp_path / "a.tsv"
    rows = [f"{('she', 'he')[i % 2]} {'was ' * (i % 3)}\t{('no', 'yes')[i % 2]}" for i in range(12)]
    path.write_text("\n".join(["text\tlabel", *rows]))
    for task, number in (("classify", 1), ("multilabel", 2)):
        model = bag_of_words(words, task=task, labels=("no", "yes"))
        flips = flip_file(model, path, [("she", "he")])
        lines = leans_in_words(flips, ("women", "men"))
        means = sorted((one.difference.mean for one in flips.leans), key=abs, reverse=True)
        assert len(lines) == number
        for line, mean in zip(lines, means, strict=False):
            assert f"**{exactly(mean, 3)}**" in line
            assert "-" not in line
    assert "of the label that changes most moves" in in_words(flips)


def test_a_gap_in_words_shows_names_as_text() -> None:
    gap = Gap(
        measure="equal opportunity",
        label="a*b",
        value=0.13,
        low=0.04,
        high=0.22,
        chance=0.08,
        highest="women",
        lowest=HOSTILE,
        num_groups=2,
    )
    shown = gap_in_words(gap)
    assert "**13.0 points**" in shown
    assert "a\\*b" in shown
    assert "4.0 to 22.0" in shown
    assert "![x](" not in shown
