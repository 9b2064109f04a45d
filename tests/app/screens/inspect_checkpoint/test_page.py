"""The Inspect page on tiny fine-tuned checkpoints, without a browser."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from app.plots.formats import percent
from app.screens.inspect_checkpoint import file_results, views
from app.screens.inspect_checkpoint import page as inspect_page
from app.screens.inspect_checkpoint.tasks import TASK_VIEWS
from app.shell import cache
from app.shell.frame import Page
from app.shell.sidebar import key_of
from app.shell.state import Field
from bertcore.analysis.attribution import (
    ClassTarget,
    answer,
    explain_file,
    integrated_gradients,
    run_file,
    task_input,
)
from bertcore.analysis.attribution.task_input import run_task, whole
from bertcore.configs import Columns
from bertcore.training.tasks import open_task_model, start_task_model
from tests.support.exhaustive import spread
from tests.support.finetuning_files import write_labelled
from tests.support.labelled_upload import ran, with_file
from tests.support.opened import (
    charts,
    complaints,
    numbers,
    ok,
    page_of,
    python_shown,
    said,
    shown_names,
)
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
    return " ".join(python_shown(app))


def button(app, label):
    (found,) = (each for each in app.button if each.label == label)
    return found


@pytest.mark.parametrize(("why", "task"), spread(["words", "layers", "swaps"], TASKS))
def test_every_task_is_explained(task, why, opened):
    app = opened(task, B, inspect_why=why)
    assert len(charts(app)) == 2 + (why == "layers") + (task == "qa")
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
    assert numbers(bars["x"]) == pytest.approx([expected.probabilities[i] for i in order], abs=1e-5)
    assert bars["customdata"] == [LABELS["classify"][i] for i in order]
    gradients = integrated_gradients(model, source, ClassTarget(expected.best))
    shown = source.merge(gradients.tokens)
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


def test_the_tag_of_a_chosen_word(opened):
    app = opened("tag", B, inspect_word="3")
    assert "sentence B is left out" in said(app)
    assert "TagTarget(position=3" in code(app)
    opened("tag", inspect_word="99", inspect_label="x")  # what does not exist is ignored


@pytest.mark.parametrize("task", ["tag", "qa"])
@pytest.mark.parametrize("word", [{}, {"inspect_word": "1", "inspect_answer": "1"}])
def test_lists_name_what_another_text_has(task, word, opened):
    app = opened(task, B, **word)
    key = "inspect_word" if task == "tag" else "inspect_answer"
    before = app.selectbox(key=key)
    box = app.text_area(key="text_a" if task == "tag" else "text_b")
    after = ok(box.set_value("no yes fish water").run()).selectbox(key=key)
    assert after.value == (int(word[key]) if word else after.value) == before.value
    assert not {*after.options} & {*before.options}
    # The browser shows the name it has unless another is sent.
    assert after.proto.set_value
    assert after.proto.raw_value in after.options


def test_the_same_word_is_listed_at_each_place(opened):
    listed = opened("tag", text_a="no no no no").selectbox(key="inspect_word").options
    assert [name.partition(":")[0] for name in listed] == ["1. no", "2. no", "3. no", "4. no"]


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
        model = core(folder)
        source, null = task_input(model, A, B), expected.null
        (logits,) = run_task(model, [whole(source)])
        first = source.encoding.text_ids.index(1)
        starts, ends = charts(app)[1]["data"]
        drawn = np.stack([numbers(starts["y"]), numbers(ends["y"])], axis=1)
        places = [null, *range(first, first + len(drawn) - 1)]
        np.testing.assert_allclose(drawn, logits[places], rtol=1e-4)
        best = expected.spans[0]
        assert f"= **{expected.score(best.start, best.end):.2f}**" in said(app).replace("−", "-")
        assert (expected.score(null, null) > expected.score(best.start, best.end)) == is_said
        shade = charts(app)[1]["layout"]["shapes"][0]
        edges = [shade["x0"] + 0.5, shade["x1"] - 0.5]
        assert [places[int(edge)] for edge in edges] == [best.start, best.end]
    assert len(heads) == 2
    chart = charts(opened(folder, " ".join([B] * 20)))[1]  # of a long text, the tokens around
    shade, count = chart["layout"]["shapes"][0], len(numbers(chart["data"][0]["y"]))
    assert count == 31
    assert 0 < shade["x0"] < shade["x1"] < count


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
    names = shown_names(app, "explain_text")
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
    for task in ("classify", "tag", "pair"):
        assert any(f"bertscope finetune --task {task}" in block.value for block in app.code)
    assert "(CoNLL-2003, SICK, RTE) are licensed for" in said(app)
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
    assert numbers(bars["x"]) == pytest.approx(expected.tolist(), abs=1e-5)
    assert bars["customdata"] == list(texts)
    assert f"choices={texts!r}" in code(app)
    app = ok(app.selectbox(key="inspect_label").set_value(1).run())
    assert "ClassTarget(label=1)" in code(app)
    # A fifth box comes with the fourth choice, and none after the fifth.
    app.text_area(key="choice_3").set_value("</b><img src=x onerror=alert(1)>")
    app = ok(app.run())
    assert len(numbers(charts(app)[0]["data"][0]["x"])) == 4
    app = ok(app.text_area(key="choice_5").set_value("她在河边 " * 30).run())
    assert len(boxes_of_choices(app)) == len(numbers(charts(app)[0]["data"][0]["x"])) == 5


def test_fewer_than_two_choices_are_asked_for_beside_an_example(opened):
    app = opened("choice", **dict.fromkeys(CHOICES, "") | {"choice_2": "the film"})
    assert "Write at least two" in said(app)
    assert "**Example:**" in said(app)
    assert len(numbers(charts(app)[0]["data"][0]["x"])) == 3
    app = ok(button(app, "Your sentence with these choices").click().run())
    assert "**Example:**" not in said(app)
    assert app.text_area(key="text_a").value == A
    assert app.text_area(key="choice_3").value == "she opened a bank account."


def test_words_are_swapped_and_the_text_is_taken_over(opened, core):
    app = opened("regress", inspect_why="swaps")
    app = ok(app.number_input(key="inspect_score").set_value(0.1).run())
    assert "texts with another answer" in said(app)
    taken = ok(app.button(key="swap_0").click().run()).text_area(key="text_a").value
    assert taken != A
    assert abs(core("regress", taken).score - core("regress", A).score) >= 0.1


# ---- a labelled file ----


@pytest.fixture
def upload(page, monkeypatch):
    """Return what opens a task's page with a file of this content."""
    return lambda task, content, name="a.csv": with_file(page(task), monkeypatch, name, content)


@pytest.mark.parametrize("task", TASKS)
def test_a_file_is_run(task, upload, core, tmp_path):
    path = write_labelled(task, tmp_path)
    app = ok(upload(task, path.read_bytes(), path.name))
    above = len(charts(app))
    app = ok(ran(app))
    columns = Columns(label="Toxic,insult,threat" if task == "multilabel" else None)
    expected = run_file(core(task), path, columns=columns)
    if task == "multilabel":
        assert "'Toxic' is 'toxic'" in said(app)
        assert [metric.label for metric in app.metric] == ["Micro F1", "Macro F1", "Exact match"]
    shown = [float(metric.value) for metric in app.metric]
    assert shown == pytest.approx(list(expected.metrics()[0].values()), abs=2e-3)
    # Confusion or each label, and calibration (tags, labels), calibration (qa) or dots (scores).
    assert len(charts(app)) - above == (1 if task in ("qa", "regress", "choice") else 2)
    table = app.dataframe[0].value
    assert len(table) == len(expected.errors)


@pytest.mark.parametrize("task", ["classify", "regress", "tag"])
def test_the_words_of_a_file_are_explained(task, page, core, monkeypatch, tmp_path):
    path = write_labelled(task, tmp_path)
    opened = with_file(page(task, inspect_file_words=1), monkeypatch, path.name, path.read_bytes())
    app = ok(opened)
    if task == "tag":  # it has an answer for each word
        assert views.FILE_WORDS.question not in said(app)
        return
    drawn = views.FILE_WORDS.table(explain_file(core(task), path)).query("is_drawn")
    shown = [x for trace in charts(app)[-1]["data"] for x in numbers(trace["x"])]
    assert sorted(shown) == pytest.approx(sorted(drawn["mean"]), abs=1e-4)
    assert ("wrongly" in str(charts(app)[-1])) == (task == "classify")
    word, rows = next(iter(drawn.groupby("word")["rows"]))  # of each class that it has a dot for
    assert f"{word} ({' / '.join(map(str, rows))})" in str(charts(app)[-1])


def test_notes_beside_words_name_the_file_as_the_visitor_does(page, monkeypatch):
    content = "id,remark by the guest,label\n1,the film was good,good\n2,the film was bad,bad\n"
    app = ok(with_file(page("classify", inspect_file_words=1), monkeypatch, "a.csv", content))
    assert "The text of 'a.csv' is column 'remark by the guest'" in said(app)


@pytest.mark.parametrize("task", ["tag", "choice"])
def test_a_row_leads_to_its_text(task, folders, core, monkeypatch, tmp_path):
    """A click on a row of the errors; AppTest cannot click, so what it calls is called."""
    monkeypatch.setenv("BERTSCOPE_CHECKPOINT", str(folders[task]))
    error = run_file(core(task), write_labelled(task, tmp_path)).errors[0]
    put = {}
    monkeypatch.setattr(Field, "put", lambda field, new: put.__setitem__(field.name, new))
    file_results._open(Page(key_of(str(folders[task])), "", None, False, False), error)
    assert put["text_a"] == error.text
    if task == "choice":
        assert [put[f"choice_{number}"] for number in range(1, 6)] == [*error.choices, ""]


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


@pytest.mark.parametrize("content", ["", "text,label\n", b"\xff\xfe\x00", 'text,label\n"a,b\n'])
def test_broken_files(content, upload):
    app = upload("classify", content)
    assert complaints(app if app.error else ran(app))


def test_how_a_file_is_read_is_told_once(page, monkeypatch):
    rows = f"text;label\n{A};good\n{B};bad\n{A};good\n"
    app = with_file(page("classify"), monkeypatch, "mine.csv", rows.encode())
    told = "mine.csv is read as a table with semicolons between cells, UTF-8."
    assert told in said(app)
    assert said(ok(ran(app))).count("is read as") == 1
