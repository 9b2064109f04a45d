"""The form that fine-tunes on a table: what it guesses, states and starts, and what it refuses."""

import json
import shlex
import time
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
import torch
from safetensors.torch import load_file
from streamlit.testing.v1 import AppTest

from app.screens.inspect_checkpoint.tasks import TASK_VIEWS
from app.screens.training.finetune_form import COLUMN_NAMES, TASK_NAMES, usual_numbers
from app.server.policy import CHECKPOINT_VARIABLE
from app.shell.uploads import on_disk
from app.sources.run_folders import process as training_process
from app.sources.run_folders import runs as training_runs
from bertcore.model.checkpoints.source import labelled_file
from bertcore.training.finetuning import make_settings
from bertcore.training.finetuning.label_curve import CURVE_FILE, STARTS, run_label_curve
from bertcore.training.tasks import TASKS
from tests.support.finetuning_files import WRITERS, write_reviews
from tests.support.opened import button, complaints, finish_jobs, ok, page_of, said
from tests.support.run_python import run_python
from tests.support.tiny_tasks import make_task


@pytest.fixture
def page(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    st.cache_resource.clear()
    training_process._children.clear()
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(tiny))
    monkeypatch.setattr(on_disk, "_copies", lambda: tmp_path / "uploads")
    (tmp_path / "uploads").mkdir()
    return page_of(
        "training",
        runs=str(tmp_path / "runs"),
        training_view="Start a run",
        training_kind="finetune",
        table="upload",
    )


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, dict[str, Any], dict[str, Any]]]:
    calls = []

    def start(run: Path, settings: dict[str, Any], **how: Any) -> None:
        calls.append((run, settings, how))
        training_process.log_file(run).parent.mkdir(parents=True, exist_ok=True)
        training_process.log_file(run).write_text("$ bertscope finetune\n")

    monkeypatch.setattr(training_process, "start", start)
    return calls


def upload(page: AppTest, name: str, content: bytes | str) -> AppTest:
    """Give a file to the page, and run it until it has what takes long."""
    raw = content if isinstance(content, bytes) else content.encode()
    at = page.run()
    at.file_uploader(key="table_upload").upload(name, raw, "text/plain").run()
    return finished(at)


def finished(at: AppTest) -> AppTest:
    for _ in range(4):
        if not at.get("progress"):
            break
        finish_jobs()
        at.run()
    assert not at.exception
    return at


def given(settings: dict[str, Any]) -> dict[str, Any]:
    """Return what the process reads of settings."""
    return {name: value for name, value in settings.items() if value is not None}


def reviews(num: int = 40) -> str:
    return "text,label\n" + "".join(f"the film was {i},{'bg'[i % 2]}\n" for i in range(num))


def test_a_table_is_guessed_counted_and_started(
    page: AppTest, started: list[Any], tmp_path: Path, tiny: Path
) -> None:
    at = ok(upload(page, "../my reviews.csv", reviews()))
    assert at.selectbox(key="table_task").value == "classify"
    assert at.selectbox(key="table_text").value == "text"
    assert at.selectbox(key="table_label").value == "label"
    assert at.dataframe[0].value.iloc[0].tolist() == ["the film was 0", "b"]
    assert "**40** examples · **2** labels: b (20), g (20)" in said(at)
    assert any(caption.value.startswith("Computing in ") for caption in at.caption)
    at.number_input(key="tune_epochs").set_value(2).run()
    at.selectbox(key="tune_rate").set_value(1e-4).run()
    offered = ["the whole network", "top layer", "bottom layer", "attention only"]
    assert at.selectbox(key="tune_trained").options[:4] == offered
    at.selectbox(key="tune_trained").set_value("top 1").run()
    assert at.selectbox(key="tune_pooling").options == ["[CLS]", "the mean of all tokens"]
    at.selectbox(key="tune_pooling").set_value("mean").run()
    at.text_input(key="run_name").set_value("mine").run()
    ok(finished(at))
    button(at, "Fine-tune").click().run()
    run, options, how = started[0]
    assert (run, how) == (tmp_path / "runs" / "mine", {"kind": "finetune"})
    wanted = given(options)
    copy = tmp_path / "runs" / "mine-data" / "train.csv"
    assert copy.read_text() == reviews()
    assert wanted == {
        "task": "classify",
        "train": copy,
        "held_out": 0.1,
        "text": "text",
        "label": "label",
        "skip_bad_rows": False,
        "checkpoint": str(tiny),
        "new_head": False,
        "epochs": 2,
        "learning_rate": 0.0001,
        "trained": "top 1",
        "pooling": "mean",
        "evaluate_every": 1,
    }
    assert at.session_state["run"] == "mine"  # and it is watched at once
    assert at.session_state["training_view"] == "Watch"


def test_every_task_has_a_name_its_columns_and_a_view() -> None:
    assert TASKS.keys() == TASK_NAMES.keys() == COLUMN_NAMES.keys() == TASK_VIEWS.keys()


@pytest.mark.parametrize("task", WRITERS)
def test_every_task_can_be_started(
    task: str, page: AppTest, started: list[Any], tmp_path: Path
) -> None:
    writer, ending = WRITERS[task]
    path = writer(tmp_path / f"table{ending}", 40)
    at = ok(upload(page, path.name, path.read_bytes()))
    assert at.selectbox(key="table_task").value == task
    button(at, "Fine-tune").click().run()
    assert not at.exception
    assert started[0][1]["task"] == task


def test_columns_of_0_and_1_are_labels_together(page: AppTest, started: list[Any]) -> None:
    rows = [f"{i},the film was {i},{i % 2},{int(i % 3 == 0)},0" for i in range(40)]
    table = "\n".join(["id,comment,toxic,insult,threat", *rows])
    at = ok(upload(page, "t.csv", table))
    assert at.selectbox(key="table_task").value == "multilabel"
    assert at.multiselect(key="table_labels").value == ["toxic", "insult", "threat"]
    assert "**3** labels: toxic (20), insult (14), threat (0)" in said(at)
    button(at, "Fine-tune").click().run()
    wanted = given(started[0][1])
    assert (wanted["text"], wanted["label"]) == ("comment", "toxic,insult,threat")


def test_a_checkpoint_with_a_head_for_other_labels_gets_a_new_one(
    page: AppTest, started: list[Any], tmp_path: Path
) -> None:
    make_task(tmp_path / "task", labels=("b", "g", "so-so"))
    for labels, is_new in ((("b", "g"), False), (("x", "y"), True)):
        page.query_params["checkpoint"] = str(tmp_path / "task")
        table = reviews().replace(",b\n", f",{labels[0]}\n").replace(",g\n", f",{labels[1]}\n")
        at = ok(upload(page, "t.csv", table))
        button(at, "Fine-tune").click().run()
        assert started[-1][1]["new_head"] is is_new
        at.segmented_control(key="training_view").set_value("Start a run").run()


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("t.csv", "text,place\n" + "".join(f"a {i},p {i}\n" for i in range(20)), ["No column"]),
        ("t.csv", "text,label\n" + "a,same\n" * 20, ["has 1 label ('same')"]),
        (
            "t.csv",
            "text,label\n" + "".join(f"a,l{i}\n" for i in range(1200)),
            ["more than 1,000 different labels"],
        ),
        ("t.csv", "text,label\na,1\n", ["1 examples", "at least two"]),
        ("t.csv", "text,text,label\n" + "a,b,c\na,b,d\n" * 9, ["2 columns 'text' (1 and 2)"]),
        ("t.csv", "", ["is empty"]),
        ("t.parquet", b"PAR1 cut", ["cannot be read as Parquet"]),
    ],
)
def test_a_table_that_cannot_be_used_is_one_sentence(
    page: AppTest, started: list[Any], name: str, content: bytes | str, parts: list[str]
) -> None:
    at = upload(page, name, content)
    shown = [*at.error, *at.warning]
    assert len(shown) == 1
    for part in parts:
        assert part in shown[0].value.replace("\\", "")
    assert "Fine-tune" not in [b.label for b in at.button]


def test_an_encoding_is_guessed_and_said(page: AppTest) -> None:
    table = "text,label\n" + "Это хороший фильм,да\nЭто плохой фильм,нет\n" * 8
    at = finished(ok(upload(page, "t.csv", table.encode("cp1251"))))
    assert "Windows-1251, which is a guess" in said(at).replace("\\", "")
    assert "upload.csv" not in said(at)
    assert at.dataframe[0].value.iloc[0].tolist() == ["Это хороший фильм", "да"]
    assert "да (8), нет (8)" in said(at)


def test_rows_that_cannot_be_used_are_left_out_on_request(
    page: AppTest, started: list[Any]
) -> None:
    at = upload(page, "t.csv", reviews() + ",b\nlonely\n")
    assert "2 rows cannot be used. The first: row 41" in said(at)
    assert "has no text" in said(at)
    assert button(at, "Fine-tune").disabled
    at.toggle(key="table_skip").set_value(True).run()
    finished(at)
    button(at, "Fine-tune").click().run()
    assert started[0][1]["skip_bad_rows"]


@pytest.mark.parametrize(
    ("num_train", "usual"), [(2, [2]), (36, [10]), (54, [50]), (1800, [50, 200, 800])]
)
def test_a_series_begins_with_numbers_that_the_table_has(num_train: int, usual: list[int]) -> None:
    assert usual_numbers(num_train, 2) == usual


def test_a_file_to_score_on(page: AppTest, started: list[Any], tmp_path: Path) -> None:
    at = ok(upload(page, "t.csv", reviews()))
    at.selectbox(key="tune_dev").set_value("file").run()
    assert "Fine-tune" not in [b.label for b in at.button]
    dev = at.file_uploader(key="dev_upload")
    dev.upload("d.csv", b"text,label\nx,b\ny,new\n", "text/plain").run()
    finished(at)
    assert "the label 'new', which is not one of 'b', 'g'" in complaints(at)
    dev = at.file_uploader(key="dev_upload")
    dev.upload("d.csv", b"text,label\nx,b\ny,g\n", "text/plain").run()
    ok(finished(at))
    button(at, "Fine-tune").click().run()
    wanted = given(started[0][1])
    assert wanted["dev"] == tmp_path / "runs" / "run-1-data" / "dev.csv"
    assert "held_out" not in wanted


def test_a_series_by_number_of_labels_is_started(
    page: AppTest, started: list[Any], tmp_path: Path, tiny: Path
) -> None:
    page.query_params["training_kind"] = "label-curve"
    at = ok(upload(page, "t.csv", reviews()))
    numbers = at.multiselect(key="tune_labels")
    assert (numbers.value, numbers.options) == (["10"], ["2", "5", "10", "20"])
    numbers.set_value([]).run()
    assert "no number of labels" in complaints(at)
    at.multiselect(key="tune_labels").set_value(["20", "10"]).run()
    at.number_input(key="tune_seeds").set_value(2).run()
    at.number_input(key="tune_steps").set_value(5).run()
    at.selectbox(key="tune_rate").set_value(1e-4).run()
    ok(finished(at))
    assert "**12** fine-tunings" in said(at)
    assert not [box for box in at.selectbox if box.label in ("Train", "Epochs")]
    button(at, "Fine-tune").click().run()
    (run, options, how), *_ = started
    assert (run.name, how) == ("run-1", {"kind": "label-curve"})
    assert given(options) == {
        "task": "classify",
        "train": tmp_path / "runs" / "run-1-data" / "train.csv",
        "held_out": 0.1,
        "text": "text",
        "label": "label",
        "skip_bad_rows": False,
        "checkpoint": str(tiny),
        "label_curve": (10, 20),
        "seeds": 2,
        "least_steps": 5,
        "learning_rate": 0.0001,
    }


def test_a_series_is_watched(page: AppTest, tmp_path: Path, tiny: Path) -> None:
    """Damaged, stopped and finished; its picture has a line for each start."""
    table = write_reviews(tmp_path / "reviews.tsv", 40)
    settings = make_settings(
        task="classify",
        train=table,
        dev=None,
        held_out=0.2,
        checkpoint=str(tiny),
        new_head=True,
        device="cpu",
    )
    run = tmp_path / "runs" / "mine"
    asked = iter([False] * 5)  # the first fine-tuning has three steps
    run_label_curve(
        run, settings, num_labels=(8, 16), least_steps=1, should_stop=lambda: next(asked, True)
    )
    page.query_params.update({"training_view": "Watch", "run": "mine"})
    at = ok(page.run())
    found = training_runs.read_run(run)
    assert found.state == "stopped"
    assert 0 < found.fraction_done < 1
    assert "Resume" in [b.label for b in at.button]
    curve = run_label_curve(run, None)
    at = ok(at.run())
    assert training_runs.read_run(run).state == "finished"
    drawn = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert {line["name"] for line in drawn["data"] if line.get("name")} == set(STARTS)
    assert drawn["layout"]["xaxis"]["ticktext"] == ["8", "16"]
    assert len(curve.points) == 6
    assert "alone, at a peak rate of 0.001. *Untrained*" in said(at)
    values = json.loads((run / CURVE_FILE).read_text())
    older = {**values, "starts": [start for start in STARTS if start != "frozen"]}
    older["points"] = [point for point in values["points"] if point["start"] != "frozen"]
    (run / CURVE_FILE).write_text(json.dumps(older))
    assert "Frozen" not in said(ok(at.run()))
    (run / CURVE_FILE).write_text(json.dumps({**values, "num_dev": None}))
    assert "damaged" in complaints(at.run())
    values["points"][0]["num_steps"] = None
    (run / CURVE_FILE).write_text(json.dumps(values))
    (run.parent / "other").mkdir()
    (run.parent / "other" / CURVE_FILE).write_text("{")
    at.run()
    assert "damaged" in complaints(at)
    states = {
        row["run"]: (row["state"], row["time"]) for _, row in at.dataframe[0].value.iterrows()
    }
    assert states == {"mine": ("damaged", None), "other": ("damaged", None)}


@pytest.mark.parametrize(
    ("name", "task"), [("sentiment", "classify"), ("pos", "tag"), ("qa", "qa")]
)
def test_labelled_files_that_ship_can_be_learned_from(
    page: AppTest, started: list[Any], name: str, task: str
) -> None:
    """The first of them is there before anything is chosen."""
    del page.query_params["table"]
    at = ok(finished(page.run()))
    assert at.segmented_control(key="table").value == "sentiment"
    at.segmented_control(key="table").set_value(name).run()
    ok(finished(at))
    assert at.selectbox(key="table_task").value == task
    button(at, "Fine-tune").click().run()
    assert started[0][1]["train"] == labelled_file(name)


def test_a_full_disk_at_the_start_is_one_sentence(
    page: AppTest, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ok(upload(page, "t.csv", reviews()))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("app.screens.training.new_run.shutil.copyfile", full)
    button(at, "Fine-tune").click().run()
    assert "The run could not be started: the disk of" in complaints(at)
    assert "is full. Free some space." in complaints(at)
    assert not started


def test_hostile_names_and_labels_are_shown_as_text(page: AppTest) -> None:
    bad = "![x](http://x.org/a.png)"
    table = f"text,label,{bad}\n" + f"{bad},{bad},1\nb,<script>,2\n" * 8
    at = ok(upload(page, f"{bad}.csv", table))
    for box in (*at.markdown, *at.caption, *at.warning):
        assert bad not in box.value


@pytest.mark.slow
@pytest.mark.exhaustive
def test_the_page_and_the_command_make_the_same_weights(
    page: AppTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run started by the page, watched to its end, against the command that the page shows."""
    monkeypatch.setenv("BERTSCOPE_DEVICE", "cpu")
    at = ok(upload(page, "t.csv", reviews()))
    shown, recipe = shlex.split(at.code[0].value), tmp_path / "run-1.toml"
    recipe.write_text(at.code[1].value)
    button(at, "Fine-tune").click().run()
    run = tmp_path / "runs" / "run-1"
    deadline = time.monotonic() + 240
    while (found := training_runs.read_run(run)).state in ("preparing", "running"):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert found.state == "finished", found.detail
    at = ok(at.run())
    numbers = {metric.label: metric.value for metric in at.metric}
    assert numbers["Epoch"] == "3 of 3"
    assert numbers["Done"] == "100%"
    assert numbers["Accuracy now"] == f"{found.scores['dev_accuracy']:.3f}"
    labels = [b.label for b in at.button]
    assert "Inspect it" in labels
    assert "Compare before and after" in labels
    other = tmp_path / "other"
    words = shown[1:]
    words[words.index("--out") + 1] = str(other)
    words[words.index("--recipe") + 1] = str(recipe)
    # In a process of its own: dropout draws from the random source that this one's jobs share.
    run_python("-m", "bertscope", *words)
    a, b = (load_file(folder / "model.safetensors") for folder in (run, other))
    assert a.keys() == b.keys()
    assert all(torch.equal(a[key], b[key]) for key in a)
