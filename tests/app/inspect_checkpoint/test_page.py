"""The Inspect page on tiny fine-tuned checkpoints, without a browser."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from app.inspect_checkpoint import file_results
from app.inspect_checkpoint import page as inspect_page
from app.inspect_checkpoint.tasks import TASK_VIEWS
from app.plots.formats import percent
from app.shell import cache
from app.shell.frame import Page
from app.shell.jobs import background, waiting
from app.shell.sidebar import key_of
from app.shell.state import Field
from bertcore.analysis.attribution import (
    ClassTarget,
    answer,
    integrated_gradients,
    run_file,
    task_input,
)
from bertcore.configs import Columns
from bertcore.tasks import open_task_model, start_task_model
from tests.support.exhaustive import spread
from tests.support.finetuning_files import write_labelled
from tests.support.labelled_upload import ran, with_file
from tests.support.opened import alerts, charts, complaints, finish_jobs, numbers, ok, page_of, said
from tests.support.rigged_models import LABELS, random_model
from tests.support.tiny import tiny_bert

A, B = "the film was very good", "the man is in paris"
TASKS = ("classify", "pair", "multilabel", "tag", "regress", "qa", "choice")
CHOICES = {"choice_1": "it had rained", "choice_2": "the film was bad", "choice_4": "no"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    top = tmp_path_factory.mktemp("checkpoints")
    made = {task: random_model(task).save(top / task) for task in TASKS}
    return made | {"none": tiny_bert().save(top / "none")}


@pytest.fixture
def page(folders, monkeypatch):
    """Return what makes the page, not yet run, of a folder or a task, on both texts or one.

    The tiny checkpoint with a masked-word head stands for the shipped one.
    """
    key = cache.bert_key(str(folders["none"]), device="cpu")
    monkeypatch.setattr(inspect_page, "proposer", lambda own: key)

    def of(task, text_b="", **query):
        monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folders.get(task, task)))
        texts = {"text_a": A, "text_b": text_b, **CHOICES}
        return page_of("inspect_checkpoint", seconds=120, **{**texts, **query})

    return of


@pytest.fixture
def opened(page):
    """Return what runs a page, and makes sure that nothing failed."""
    return lambda *args, **query: ok(page(*args, **query).run())


@pytest.fixture
def core(folders):
    """Return what opens a task's model in the core, and answers a text."""

    def of(task, *texts, **options):
        model = open_task_model(folders.get(task, task), device="cpu")
        return answer(model, task_input(model, *texts, **options)) if texts else model

    return of


def code(app):
    return " ".join(block.value for block in app.code)


def button(app, label):
    (found,) = (each for each in app.button if each.label == label)
    return found


@pytest.mark.parametrize(("why", "task"), spread(["words", "layers", "swaps"], TASKS))
def test_every_task_is_explained(task, why, opened):
    app = opened(task, B, inspect_why=why)
    assert len(charts(app)) == 1 + (why != "swaps")
    assert "open_task(" in code(app)
    called = {
        "words": "explain_text",
        "layers": "explain_layers",
        "swaps": "find_counterfactuals",
    }
    assert called[why] in code(app)


def test_the_numbers_are_those_of_the_core(opened, core):
    app, model = opened("classify"), core("classify")
    source = task_input(model, A)
    expected = answer(model, source)
    order = sorted(range(3), key=lambda i: -expected.probabilities[i])
    bars, boxes = (chart["data"][0] for chart in charts(app)[:2])
    assert bars["x"] == pytest.approx([expected.probabilities[i] for i in order], abs=1e-5)
    assert bars["customdata"] == [LABELS["classify"][i] for i in order]
    gradients = integrated_gradients(model, source, ClassTarget(expected.best))
    shown = source.merge(gradients.parts["token"])
    assert list(numbers(boxes["marker"]["color"])) == pytest.approx(shown.tolist(), abs=1e-4)


def test_a_cut_text_is_cut_as_in_fine_tuning_and_that_is_said(tmp_path, opened):
    folder = replace(random_model("classify"), max_seq_length=8).save(tmp_path / "short")
    limit = "The limit is that of its fine-tuning"
    assert limit in said(opened(folder, text_a=" ".join([A] * 3)))
    assert limit not in said(opened(folder))


def test_another_label_and_another_method_are_chosen(opened):
    app = opened("classify", inspect_label="2")
    assert "ClassTarget(label=2)" in code(app)
    before = charts(app)[1]["data"][0]["text"]
    app = ok(app.button_group(key="inspect_method").set_value("erasure").run())
    assert charts(app)[1]["data"][0]["text"] != before
    assert "if this word alone is occluded" in said(app)
    app = ok(app.button_group(key="inspect_erase").set_value("drop").run())
    assert "how='drop'" in code(app)


def test_the_tag_of_a_chosen_word(opened):
    app = opened("tag", B, inspect_word="3")
    assert "sentence B is left out" in said(app)
    assert "TagTarget(position=3" in code(app)
    assert "masked but not left out" in said(app)
    opened("tag", inspect_word="99", inspect_label="x")  # what does not exist is ignored


@pytest.mark.parametrize("task", ["classify", "multilabel", "tag", "regress"])
def test_a_single_text_is_read_without_a_word_about_another(task, opened):
    app = opened(task)
    assert "B is left out" not in said(app)
    assert alerts(app) == []


def test_no_answer_is_told_where_it_is_the_most_probable(tmp_path, opened, core):
    heads = set()
    for seed in range(8):
        folder = random_model("qa", seed=seed).save(tmp_path / str(seed))
        expected = core(folder, A, B)
        if (expected.best is None) in heads:
            continue
        heads.add(expected.best is None)
        app = opened(folder, B)
        (head,) = (each.value for each in app.header if "The model" in each.value)
        assert percent(expected.spans[0].probability) in head
        is_said = "there is no answer" in head and percent(expected.no_answer) in head
        assert is_said == (expected.best is None)
        assert "those of its end: 0 is 50% each" in said(app)
    assert len(heads) == 2


def test_a_feature_based_tagger_hands_out_what_runs(folders, tmp_path, opened):
    """Gradients do not reach its words, so its Python is of occlusion alone."""
    start = start_task_model(
        folders["none"],
        task="tag",
        labels=LABELS["tag"],
        generator=torch.Generator().manual_seed(0),
        features="concat-last-four",
    )
    app = opened(start.save(tmp_path / "lstm"))
    names = {}
    exec(next(block.value for block in app.code if "explain_text" in block.value), names)
    words = np.nan_to_num(names["result"].words["occlusion"])
    assert list(names["result"].words) == ["occlusion"]
    boxes = charts(app)[1]["data"][0]
    assert list(numbers(boxes["marker"]["color"])) == pytest.approx(words.tolist(), abs=1e-4)


@pytest.mark.parametrize(("task", "text"), [("qa", "question as sentence A"), ("pair", "pair of")])
def test_a_missing_second_text_is_asked_for_beside_an_example(task, text, opened):
    app = opened(task)
    assert text in said(app)
    assert "**Example:**" in said(app)
    assert charts(app)
    app = ok(button(app, "Your sentence with this B").click().run())
    assert app.text_area(key="text_b").value == TASK_VIEWS[task].example[1]
    assert "**Example:**" not in said(app)


def test_a_checkpoint_without_a_task_head_shows_the_classifier_that_ships(opened):
    app = opened("none", B)
    assert "**Example:** the classifier **sentiment**" in said(app)
    assert "has no decision to inspect" in said(app)
    assert "bertscope finetune --task classify" in code(app)
    assert charts(app)
    app = ok(button(app, "sentiment on your text").click().run())
    assert "**Example:**" not in said(app)
    assert "sentiment" in app.session_state["checkpoint"]


def boxes_of_choices(app):
    return [area.label for area in app.text_area if area.label.startswith("Choice")]


def test_choices_are_written_and_compared(opened, core):
    app, texts = opened("choice", B), tuple(CHOICES.values())
    assert "B is left out" in said(app)
    assert boxes_of_choices(app) == ["Choice 1", "Choice 2", "Choice 3", "Choice 4"]
    bars = charts(app)[0]["data"][0]
    expected = core("choice", A, choices=texts).probabilities
    assert bars["x"] == pytest.approx(expected.tolist(), abs=1e-5)
    assert bars["customdata"] == list(texts)
    assert f"choices={texts!r}" in code(app)
    app = ok(app.selectbox(key="inspect_label").set_value(1).run())
    assert "ClassTarget(label=1)" in code(app)
    # A fifth box comes with the fourth choice, and none after the fifth.
    app.text_area(key="choice_3").set_value("</b><img src=x onerror=alert(1)>")
    app = ok(app.run())
    assert len(charts(app)[0]["data"][0]["x"]) == 4
    app = ok(app.text_area(key="choice_5").set_value("她在河边 " * 30).run())
    assert len(boxes_of_choices(app)) == len(charts(app)[0]["data"][0]["x"]) == 5


def test_fewer_than_two_choices_are_asked_for_beside_an_example(opened):
    app = opened("choice", **dict.fromkeys(CHOICES, "") | {"choice_2": "the film"})
    assert "Write at least two" in said(app)
    assert "**Example:**" in said(app)
    assert len(charts(app)[0]["data"][0]["x"]) == 3
    app = ok(button(app, "Your sentence with these choices").click().run())
    assert "**Example:**" not in said(app)
    assert app.text_area(key="text_a").value == A
    assert app.text_area(key="choice_3").value == "she opened a bank account."


def test_words_are_swapped_and_the_text_is_taken_over(opened, core):
    app = opened("regress", inspect_why="swaps")
    app = ok(app.number_input(key="inspect_score").set_value(0.1).run())
    assert "with another answer; the model was run" in said(app)
    taken = ok(app.button(key="swap_0").click().run()).text_area(key="text_a").value
    assert taken != A
    assert abs(core("regress", taken).score - core("regress", A).score) >= 0.1


def test_that_no_swap_is_enough_is_said(opened):
    app = opened("regress", inspect_why="swaps", inspect_score="99.0")
    assert "No other answer was found" in said(app)
    assert "came closest" in said(app)


def test_the_yes_or_no_of_a_chosen_label_is_explained_and_turned(opened, core):
    app, first = opened("multilabel", inspect_why="swaps"), core("multilabel", A)
    header = next(each.value for each in app.header if "The model gives it" in each.value)
    for place, name in enumerate(first.labels):
        assert (f"**{name}**" in header) == (place in first.given)
    for label in (0, 2):
        app = ok(app.selectbox(key="inspect_label").set_value(label).run())
        assert f"label={label}," in code(app)
        swaps = [each for each in app.button if each.key == "swap_0"]
        if swaps and "another answer;" in said(app):
            taken = ok(swaps[0].click().run()).text_area(key="text_a").value
            turned = label in core("multilabel", taken).given
            assert turned != (label in first.given)
            app = opened("multilabel", inspect_why="swaps")


def test_nan_weights_are_told(tmp_path, page):
    model = random_model("classify")
    model.module.head.classifier.weight.data[0, 0] = float("nan")
    assert "NaN or infinity" in complaints(page(model.save(tmp_path / "nan")).run())


def test_a_checkpoint_of_another_vocabulary_gets_no_swaps(page, monkeypatch):
    def refuse(key):
        raise ValueError("default has another vocabulary than mine.")

    app = page("classify", inspect_why="swaps")
    monkeypatch.setattr(inspect_page, "proposer", refuse)
    assert "another vocabulary" in complaints(app.run())


# ---- a labelled file ----


@pytest.fixture
def upload(page, monkeypatch):
    """Return what opens a task's page with a file of this content."""
    return lambda task, content, name="a.csv": with_file(page(task), monkeypatch, name, content)


@pytest.mark.parametrize("task", TASKS)
def test_a_file_is_run(task, upload, core, tmp_path):
    path = write_labelled(task, tmp_path)
    app = ok(upload(task, path.read_bytes(), path.name))
    assert charts(app) == []
    app = ok(ran(app))
    columns = Columns(label="Toxic,insult,threat" if task == "multilabel" else None)
    expected = run_file(core(task), path, columns=columns)
    if task == "multilabel":
        assert "'Toxic' is 'toxic'" in said(app)
        assert [metric.label for metric in app.metric] == ["Micro F1", "Macro F1", "Exact match"]
    shown = [float(metric.value) for metric in app.metric]
    assert shown == pytest.approx(list(expected.metrics()[0].values()), abs=2e-3)
    # Confusion or each label, and calibration (tags, labels), calibration (qa) or dots (scores).
    assert len(charts(app)) == (1 if task in ("qa", "regress", "choice") else 2)
    table = app.dataframe[0].value
    assert len(table) == len(expected.errors)
    assert {"Attention", "What if?"} <= set(table.columns)
    assert table["Attention"].str.startswith("attention?text_a=").all()


@pytest.mark.parametrize("task", ["tag", "choice"])
def test_a_row_leads_to_its_text(task, folders, core, monkeypatch, tmp_path):
    """A click on a row of the errors; AppTest cannot click, so what it calls is called."""
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folders[task]))
    error = run_file(core(task), write_labelled(task, tmp_path)).errors[0]
    put = {}
    monkeypatch.setattr(Field, "put", lambda field, new: put.__setitem__(field.name, new))
    file_results._open(Page(key_of(str(folders[task])), "", None, False, False), error)
    assert put["text_a"] == error.text
    assert put["inspect_view"] == "text"
    if task == "choice":
        assert [put[f"choice_{number}"] for number in range(1, 6)] == [*error.choices, ""]
    else:
        word = task_input(core(task), error.text).words[put["inspect_word"]]
        assert error.gold.startswith(f"{word.text}:")


def test_bad_files_are_told_and_mended_by_choices(upload):
    app = ok(upload("classify", "said,mood\nthe film was good,good\nan old fish,sad\n"))
    assert "it has 'said', 'mood'" in complaints(ran(app))
    app.selectbox(key="column_text").set_value("said")
    app.selectbox(key="column_label").set_value("mood")
    app = ran(app.run())
    assert "the label 'sad'" in complaints(app)
    app.toggle(key="inspect_skip").set_value(True)
    app = ok(ran(app.run()))
    assert "1 bad row was left out" in said(app)
    assert "1 example" in [header.value for header in app.header]


def test_what_nobody_annotated_is_told(upload):
    """An export of Label Studio: a task without an answer is left out, one of two is said."""
    tasks = [
        {
            "data": {"text": f"the film was {number}"},
            "annotations": [{"result": [{"value": {"choices": [name]}}]} for name in labels],
        }
        for number, labels in enumerate([["good"], ["bad"], [], ["good", "bad"]])
    ]
    app = ok(ran(ok(upload("classify", json.dumps(tasks), "a.json"))))
    assert "3 examples" in " ".join(header.value for header in app.header)
    assert "1 example has no label and was left out (1 not annotated)" in said(app)
    assert "annotated several times: 1" in said(app)


@pytest.mark.parametrize("content", ["", "text,label\n", b"\xff\xfe\x00", 'text,label\n"a,b\n'])
def test_broken_files(content, upload):
    app = upload("classify", content)
    assert complaints(app if app.error else ran(app))


def test_a_stopped_run_keeps_what_is_done(upload, monkeypatch):
    """Also if it is stopped while its result is awaited."""
    is_awaited = []

    def in_fours(*args, should_stop, **options):
        while is_awaited and not should_stop():
            time.sleep(0.01)
        return run_file(*args, **options, should_stop=should_stop, rows_at_once=4)

    class Stopped(file_results.Stop):
        def __init__(self):
            super().__init__()
            self.wanted.set()

    monkeypatch.setattr(file_results, "run_file", in_fours)
    with monkeypatch.context() as patched:
        patched.setattr(file_results, "Stop", Stopped)
        app = ok(ran(ok(upload("classify", "text,label\n" + "the film was good,good\n" * 40))))
    assert "for the first 4 examples" in said(app)
    is_awaited.append(True)
    monkeypatch.setattr(waiting, "PATIENCE_SECONDS", 0.0)
    app = ok(ran(ok(upload("classify", "text,label\n" + "the film was bad,bad\n" * 40))))
    assert len(app.get("progress")) == 1
    app.button(key="stop_keep").click().run()
    finish_jobs()
    app = ok(app.run())  # in a browser it comes by itself
    assert "for the first 4 examples" in said(app)
    assert "Stop and keep the results so far" not in [each.label for each in app.button]
    assert all(job.done for job in background._jobs.values())
