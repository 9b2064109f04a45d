"""The Inspect page on tiny fine-tuned checkpoints, without a browser."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.inspect_checkpoint import counterfactuals, file_results
from app.plots.formats import percent
from app.shell import cache
from app.shell.jobs import background, waiting
from app.task_model import file_choice
from app.task_model.task_views import TASK_VIEWS
from bertcore.analysis.attribution import (
    ClassTarget,
    FileRun,
    LabelsAnswer,
    answer,
    integrated_gradients,
    run_file,
    task_input,
)
from bertcore.configs import Columns
from bertcore.tasks import open_task_model, start_task_model
from tests.support.exhaustive import spread
from tests.support.finetuning_files import (
    write_choices,
    write_questions,
    write_scored_pairs,
    write_tags,
)
from tests.support.labelled_upload import ran, with_file
from tests.support.opened import alerts, charts, complaints, finish_jobs, numbers, ok, page_of, said
from tests.support.rigged_models import LABELS, random_model
from tests.support.tiny import tiny_bert

A, B = "the film was very good", "the man is in paris"
TASKS = ("classify", "pair", "multilabel", "tag", "regress", "qa", "choice")
CHOICES = {"choice_1": "it had rained", "choice_2": "the film was bad", "choice_4": "no"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    top = tmp_path_factory.mktemp("checkpoints")
    found = {task: random_model(task).save(top / task) for task in TASKS}
    return found | {"none": tiny_bert().save(top / "none")}


@pytest.fixture(autouse=True)
def shipped(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tiny checkpoint with a masked-word head stand for the shipped one."""
    key = cache.bert_key(str(folders["none"]), device="cpu")
    monkeypatch.setattr(counterfactuals, "proposer", lambda own: key)


def opened(folder: Path, monkeypatch: pytest.MonkeyPatch, text_b: str = B, **query: str) -> AppTest:
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folder))
    texts = {"text_a": A, "text_b": text_b, **CHOICES}
    return page_of("inspect_checkpoint", seconds=120, **{**texts, **query})


@pytest.mark.parametrize(("why", "task"), spread(["words", "layers", "swaps"], TASKS))
def test_every_task_is_explained(
    task: str, why: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(folders[task], monkeypatch, inspect_why=why).run())
    answers = 0 if task == "regress" else 1
    expected = {"words": 3, "layers": 1, "swaps": 0}[why]
    assert len(charts(app)) == answers + expected
    code = " ".join(block.value for block in app.code)
    assert "open_task_model" in code
    wanted = {
        "words": "integrated_gradients",
        "layers": "layer_conductance",
        "swaps": "find_counterfactuals",
    }[why]
    assert wanted in code


def test_the_numbers_are_those_of_the_core(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(folders["classify"], monkeypatch, "").run())
    model = open_task_model(folders["classify"], device="cpu")
    source = task_input(model, A)
    found = answer(model, source)
    order = sorted(range(3), key=lambda i: -found.probabilities[i])
    bars = charts(app)[0]["data"][0]
    assert bars["x"] == pytest.approx([found.probabilities[i] for i in order], abs=1e-5)
    assert bars["customdata"] == [LABELS["classify"][i] for i in order]
    expected = integrated_gradients(model, source, ClassTarget(found.best))
    boxes = charts(app)[1]["data"][0]
    shown = source.merge(expected.parts["token"])
    assert list(numbers(boxes["marker"]["color"])) == pytest.approx(shown.tolist(), abs=1e-4)


def test_a_cut_text_is_cut_as_in_fine_tuning_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = replace(random_model("classify"), max_seq_length=8).save(tmp_path / "short")
    app = ok(opened(folder, monkeypatch, "", text_a=" ".join([A] * 3)).run())
    assert "The limit is that of its fine-tuning" in said(app)
    whole = ok(opened(folder, monkeypatch, "").run())
    assert "The limit is that of its fine-tuning" not in said(whole)


def test_another_label_and_another_method_are_chosen(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(folders["classify"], monkeypatch, "", inspect_label="2").run())
    assert "ClassTarget(label=2)" in " ".join(block.value for block in app.code)
    before = charts(app)[1]["data"][0]["text"]
    app = ok(app.button_group(key="inspect_method").set_value("erasure").run())
    assert charts(app)[1]["data"][0]["text"] != before
    assert "if this word alone is replaced by [MASK]" in said(app)
    app = ok(app.button_group(key="inspect_erase").set_value("drop").run())
    assert "if this word alone is left out" in said(app)


def test_the_tag_of_a_chosen_word(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(folders["tag"], monkeypatch, inspect_word="3").run())
    assert "sentence B is left out" in said(app)
    assert "TagTarget(position=3" in " ".join(block.value for block in app.code)
    assert "masked but not left out" in said(app)
    app = opened(folders["tag"], monkeypatch, inspect_word="99", inspect_label="x")
    ok(app.run())  # what a link asks for and does not exist is ignored


@pytest.mark.parametrize("task", ["classify", "multilabel", "tag", "regress"])
def test_a_single_text_is_read_without_a_word_about_another(
    task: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(folders[task], monkeypatch, "").run())
    assert "B is left out" not in said(app)
    assert alerts(app) == []


def test_no_answer_is_told_where_it_is_the_most_probable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders, heads = {}, set()
    for seed in range(8):
        folders[seed] = random_model("qa", seed=seed).save(tmp_path / str(seed))
        model = open_task_model(folders[seed], device="cpu")
        found = answer(model, task_input(model, A, B))
        is_none = found.no_answer > found.spans[0].probability
        if is_none in heads:
            continue
        heads.add(is_none)
        app = ok(opened(folders[seed], monkeypatch).run())
        (head,) = [one.value for one in app.header if "The model" in one.value]
        best, none = percent(found.spans[0].probability), percent(found.no_answer)
        assert best in head
        assert ("there is no answer" in head and none in head) == is_none
        assert "those of its end: 0 is 50% each" in said(app)
    assert len(heads) == 2


def test_a_feature_based_tagger_hands_out_what_runs(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gradients do not reach its words, so its Python is of occlusion alone."""
    start = start_task_model(
        folders["none"],
        task="tag",
        labels=LABELS["tag"],
        generator=torch.Generator().manual_seed(0),
        features="concat-last-four",
    )
    app = ok(opened(start.save(tmp_path / "lstm"), monkeypatch, "").run())
    names: dict[str, Any] = {}
    exec(next(c.value for c in app.code if "words = " in c.value), names)
    words = np.nan_to_num(names["words"]["occlusion"])
    assert list(names["words"]) == ["occlusion"]
    boxes = charts(app)[1]["data"][0]
    assert list(numbers(boxes["marker"]["color"])) == pytest.approx(words.tolist(), abs=1e-4)


@pytest.mark.parametrize(("task", "text"), [("qa", "question as sentence A"), ("pair", "pair of")])
def test_a_missing_second_text_is_asked_for_beside_an_example(
    task: str, text: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(folders[task], monkeypatch, "").run())
    assert text in said(app)
    assert "**Example:**" in said(app)
    assert charts(app)
    (button,) = (one for one in app.button if one.label == "Your sentence with this B")
    app = ok(button.click().run())
    assert app.text_area(key="text_b").value == TASK_VIEWS[task].example[1]
    assert "**Example:**" not in said(app)


def test_a_checkpoint_without_a_task_head_shows_the_classifier_that_ships(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(folders["none"], monkeypatch).run())
    assert "**Example:** the classifier **sentiment**" in said(app)
    assert "has no decision to inspect" in said(app)
    assert "bertscope finetune --task classify" in " ".join(block.value for block in app.code)
    assert charts(app)
    (button,) = (one for one in app.button if one.label == "sentiment on your text")
    app = ok(button.click().run())
    assert "**Example:**" not in said(app)
    assert "sentiment" in app.session_state["checkpoint"]


def test_choices_are_written_and_compared(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(folders["choice"], monkeypatch).run())
    assert "B is left out" in said(app)
    texts = tuple(CHOICES.values())
    boxes = [area.label for area in app.text_area if area.label.startswith("Choice")]
    assert boxes == ["Choice 1", "Choice 2", "Choice 3", "Choice 4"]
    model = open_task_model(folders["choice"], device="cpu")
    found = answer(model, task_input(model, A, choices=texts))
    bars = charts(app)[0]["data"][0]
    assert bars["x"] == pytest.approx(found.probabilities.tolist(), abs=1e-5)
    assert bars["customdata"] == list(texts)
    assert f"choices=[{', '.join(map(repr, texts))}]" in " ".join(c.value for c in app.code)
    app = ok(app.selectbox(key="inspect_label").set_value(1).run())
    assert "ClassTarget(label=1)" in " ".join(block.value for block in app.code)
    # A fifth box comes with the fourth choice, and none after the fifth.
    app.text_area(key="choice_3").set_value("</b><img src=x onerror=alert(1)>")
    app = ok(app.run())
    assert len(charts(app)[0]["data"][0]["x"]) == 4
    app = ok(app.text_area(key="choice_5").set_value("她在河边 " * 30).run())
    boxes = [area.label for area in app.text_area if area.label.startswith("Choice")]
    assert len(boxes) == 5
    assert len(charts(app)[0]["data"][0]["x"]) == 5


def test_fewer_than_two_choices_are_asked_for_beside_an_example(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    only_one = dict.fromkeys(CHOICES, "") | {"choice_2": "the film"}
    app = ok(opened(folders["choice"], monkeypatch, "", **only_one).run())
    assert "Write at least two" in said(app)
    assert "**Example:**" in said(app)
    assert len(charts(app)[0]["data"][0]["x"]) == 3
    (button,) = (one for one in app.button if one.label == "Your sentence with these choices")
    app = ok(button.click().run())
    assert "**Example:**" not in said(app)
    assert app.text_area(key="text_a").value == A
    assert app.text_area(key="choice_3").value == "she opened a bank account."


def test_a_row_of_a_file_leads_to_its_choices(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from app.shell.frame import Page
    from app.shell.sidebar import key_of
    from app.shell.state import Field

    path = write_choices(tmp_path / "a.csv", 20)
    error = run_file(open_task_model(folders["choice"], device="cpu"), path).errors[0]
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folders["choice"]))
    put: dict[str, object] = {}
    monkeypatch.setattr(Field, "put", lambda field, new: put.__setitem__(field.name, new))
    page = Page(key_of(str(folders["choice"])), "", None, False, False)
    file_results._open(page, error)
    assert [put[f"choice_{number}"] for number in range(1, 6)] == [*error.choices, ""]
    assert put["text_a"] == error.text


def test_words_are_swapped_and_the_text_is_taken_over(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(folders["regress"], monkeypatch, "", inspect_why="swaps").run())
    app = ok(app.number_input(key="inspect_score").set_value(0.1).run())
    assert "with another answer; the model was run" in said(app)
    first = answer_score(folders, A)
    app = ok(app.button(key="swap_0").click().run())
    taken = app.text_area(key="text_a").value
    assert taken != A
    assert abs(answer_score(folders, taken) - first) >= 0.1


def answer_score(folders: dict[str, Path], text: str) -> float:
    model = open_task_model(folders["regress"], device="cpu")
    score = answer(model, task_input(model, text)).score
    assert score is not None
    return score


def test_that_no_swap_is_enough_is_said(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(folders["regress"], monkeypatch, "", inspect_why="swaps", inspect_score="99.0")
    app = ok(app.run())
    assert "No other answer was found" in said(app)
    assert "came closest" in said(app)


@pytest.mark.parametrize(
    ("task", "text"),
    spread(
        ["classify", "tag", "qa", "choice"],
        [
            "a",
            "!!! ...",
            "\u200b",
            "</script><img src=x onerror=alert(1)>",
            "**b** $x$ [a](b) :smile: שלום 🙂",
            "the river " * 99,
        ],
    ),
)
def test_odd_texts(
    task: str, text: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = opened(folders[task], monkeypatch, text)
    app.query_params["text_a"] = text
    app.query_params["inspect_why"] = "swaps" if "<" in text else "words"
    ok(app.run())


def test_nan_weights_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_model("classify")
    model.module.head.classifier.weight.data[0, 0] = float("nan")
    app = opened(model.save(tmp_path / "nan"), monkeypatch).run()
    assert "NaN or infinity" in complaints(app)


# ---- a labelled file ----


def content_of(task: str, folder: Path) -> tuple[str, bytes]:
    if task == "tag":
        path = write_tags(folder / "a.txt", 20)
    elif task == "qa":
        path = write_questions(folder / "a.json", 12)
    elif task == "choice":
        path = write_choices(folder / "a.csv", 20)
    elif task == "regress":
        path = write_scored_pairs(folder / "a.tsv", 20)
    elif task == "multilabel":  # its columns are found by the labels of the checkpoint
        path = folder / "a.csv"
        rows = "the film was good,1,0,0\nan old fish,0,0,0\nno,1,1,0\n" * 5
        path.write_text("text,Toxic,insult,threat\n" + rows)
    elif task == "pair":
        path = folder / "a.tsv"
        rows = [f"the house\tshe ran\t{('no', 'yes')[i % 2]}" for i in range(9)]
        path.write_text("\n".join(["sentence1\tsentence2\tlabel", *rows]))
    else:
        path = folder / "a.csv"
        path.write_text("text,label\n" + "the film was good,good\nan old fish,bad\nno,so-so\n" * 5)
    return path.name, path.read_bytes()


@pytest.mark.parametrize("task", TASKS)
def test_a_file_is_run(
    task: str, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name, content = content_of(task, tmp_path)
    app = ok(with_file(opened(folders[task], monkeypatch), monkeypatch, name, content))
    assert charts(app) == []
    app = ok(ran(app))
    columns = Columns(label="Toxic,insult,threat" if task == "multilabel" else None)
    model = open_task_model(folders[task], device="cpu")
    expected = run_file(model, tmp_path / name, columns=columns)
    if task == "multilabel":
        assert "'Toxic' is 'toxic'" in said(app)
        assert [metric.label for metric in app.metric] == ["Micro F1", "Macro F1", "Exact match"]
    shown = [float(metric.value) for metric in app.metric]
    assert shown == pytest.approx(list(expected.metrics()[0].values()), abs=2e-3)
    # Confusion or each label, and calibration (tags, labels), calibration (qa) or dots (scores);
    # and the slices.
    assert len(charts(app)) == (2 if task in ("qa", "regress", "choice") else 3)
    table = app.dataframe[0].value
    assert len(table) == len(expected.errors)
    assert {"Attention", "What if?"} <= set(table.columns)
    assert table["Attention"].str.startswith("attention?text_a=").all()


def test_the_yes_or_no_of_a_chosen_label_is_explained_and_turned(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = ok(opened(folders["multilabel"], monkeypatch, "", inspect_why="swaps").run())
    model = open_task_model(folders["multilabel"], device="cpu")
    found = answer(model, task_input(model, A))
    assert isinstance(found, LabelsAnswer)
    header = next(one.value for one in app.header if "The model gives it" in one.value)
    for place, name in enumerate(found.labels):
        assert (f"**{name}**" in header) == (place in found.given)
    for label in (0, 2):
        app = ok(app.selectbox(key="inspect_label").set_value(label).run())
        assert f"LabelTarget(label={label}, is_given=True)" in " ".join(c.value for c in app.code)
        swaps = [button for button in app.button if button.key == "swap_0"]
        if swaps and "another answer;" in said(app):
            taken = ok(swaps[0].click().run()).text_area(key="text_a").value
            other = answer(model, task_input(model, taken))
            assert isinstance(other, LabelsAnswer)
            assert (label in other.given) != (label in found.given)
            app = ok(opened(folders["multilabel"], monkeypatch, "", inspect_why="swaps").run())


def test_bad_files_are_told_and_mended_by_choices(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "said,mood\nthe film was good,good\nan old fish,sad\n"
    app = ok(with_file(opened(folders["classify"], monkeypatch), monkeypatch, "a.csv", text))
    assert "it has 'said', 'mood'" in complaints(ran(app))
    app.selectbox(key="column_text").set_value("said")
    app.selectbox(key="column_label").set_value("mood")
    app = ran(app.run())
    assert "the label 'sad'" in complaints(app)
    app.toggle(key="inspect_skip").set_value(True)
    app = ok(ran(app.run()))
    assert "1 bad row was left out" in said(app)
    assert "1 example" in " ".join(header.value for header in app.header)


def test_what_nobody_annotated_is_told(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export of Label Studio: a task without an answer is left out, one of two is said."""
    answers = [["good"], ["bad"], [], ["good", "bad"]]
    tasks = [
        {
            "data": {"text": f"the film was {i}"},
            "annotations": [{"result": [{"value": {"choices": [one]}}]} for one in labels],
        }
        for i, labels in enumerate(answers)
    ]
    app = with_file(
        opened(folders["classify"], monkeypatch), monkeypatch, "a.json", json.dumps(tasks)
    )
    app = ok(ran(ok(app)))
    assert "3 examples" in " ".join(header.value for header in app.header)
    assert "1 example has no label and was left out (1 not annotated)" in said(app)
    assert "annotated several times: 1" in said(app)


@pytest.mark.parametrize("content", ["", "text,label\n", b"\xff\xfe\x00", 'text,label\n"a,b\n'])
def test_broken_files(
    content: str | bytes, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = with_file(opened(folders["classify"], monkeypatch), monkeypatch, "a.csv", content)
    if not app.error:
        app = ran(app)
    assert complaints(app)


def test_a_row_leads_to_its_text(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A click on a row of the errors; AppTest cannot click, so what it calls is called."""
    from app.shell.frame import Page
    from app.shell.sidebar import key_of
    from app.shell.state import Field

    app = opened(folders["tag"], monkeypatch)
    name, content = content_of("tag", tmp_path)
    ok(ran(with_file(app, monkeypatch, name, content)))
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folders["tag"]))
    error = run_file(open_task_model(folders["tag"], device="cpu"), tmp_path / name).errors[0]
    put: dict[str, object] = {}
    monkeypatch.setattr(Field, "put", lambda field, new: put.__setitem__(field.name, new))
    page = Page(key_of(str(folders["tag"])), "", None, False, False)
    file_results._open(page, error)
    assert put["text_a"] == error.text
    assert put["inspect_view"] == "text"
    model = open_task_model(folders["tag"], device="cpu")
    word = task_input(model, error.text).words[put["inspect_word"]]  # type: ignore[index]
    assert error.gold.startswith(f"{word.text}:")


def test_a_stopped_run_keeps_what_is_done(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr(
        file_choice,
        "run_file",
        lambda *args, **kwargs: run_file(*args, **{**kwargs, "rows_at_once": 4}),
    )
    text = "text,label\n" + "the film was good,good\n" * 40
    app = ok(with_file(opened(folders["classify"], monkeypatch), monkeypatch, "a.csv", text))

    class Stopped(file_choice.Stop):
        def __init__(self) -> None:
            super().__init__()
            self.wanted.set()

    monkeypatch.setattr(file_results, "Stop", Stopped)
    app = ok(ran(app))
    assert "for the first 4 examples" in said(app)


def test_a_run_can_be_stopped_while_it_is_awaited(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:

    def until_stopped(*args: Any, should_stop: Callable[[], bool], **kwargs: Any) -> FileRun:
        while not should_stop():
            time.sleep(0.01)
        return run_file(*args, **kwargs, should_stop=should_stop, rows_at_once=4)

    monkeypatch.setattr(file_choice, "run_file", until_stopped)
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 0.0)
    text = "text,label\n" + "the film was bad,bad\n" * 40
    app = ok(ran(with_file(opened(folders["classify"], monkeypatch), monkeypatch, "b.csv", text)))
    assert len(app.get("progress")) == 1
    app.button(key="stop_keep").click().run()
    finish_jobs()
    app = ok(app.run())  # in a browser it comes by itself
    assert "for the first 4 examples" in said(app)
    assert "Stop and keep the results so far" not in [button.label for button in app.button]


def test_nothing_is_left_running() -> None:
    assert all(job.done for job in background._jobs.values())


def test_a_checkpoint_of_another_vocabulary_gets_no_swaps(
    monkeypatch: pytest.MonkeyPatch, folders: dict[str, Path]
) -> None:
    def refuse(key: object) -> None:
        raise ValueError("default has another vocabulary than mine.")

    monkeypatch.setattr(counterfactuals, "proposer", refuse)
    app = opened(folders["classify"], monkeypatch, "", inspect_why="swaps").run()
    assert "another vocabulary" in complaints(app)
