"""The training page on a real tiny run."""

import json
import shutil
import tomllib
from pathlib import Path

import numpy as np
import pytest
import streamlit as st

from app.sources.run_folders import process as training_process
from app.sources.run_folders import runs as training_runs
from bertcore.model.architecture.objectives import OBJECTIVES
from bertcore.training.engine.run_lock import lock_run
from bertcore.training.pretraining import DataConfig, OptimizerConfig, TrainConfig, start_run
from bertcore.training.pretraining.data.corpus import NOVEL
from tests.support.opened import button, numbers, page_of, python_shown, said, shown_names
from tests.support.small_corpus import small_documents, write_documents
from tests.support.tiny import tiny_config, tiny_tokenizer


def train(folder, objective="mlm+nsp", *, steps, rate=None, shape=None, **rhythm):
    """Make a run on 60 small documents; return its folder."""
    text = write_documents(folder.parent / "text.txt", small_documents(60))
    usual = {"device": "cpu", "log_every": 2, "evaluate_rows": 8, "save_every": steps}
    rates = {} if rate is None else {"learning_rate": rate, "muon_learning_rate": rate}
    start_run(
        folder,
        corpus=[text],
        valid=text,
        tokenizer=tiny_tokenizer(),
        shape=shape or tiny_config(),
        train_config=TrainConfig(steps=steps, **{**usual, **rhythm}),
        data_config=DataConfig.for_length(24, objective=objective, batch_size=4),
        optimizer_config=OptimizerConfig(**rates),
    ).run()
    return folder


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A finished run of 24 steps with probes at 0, 8, 16 and 24 and three saved moments."""
    folder = tmp_path_factory.mktemp("trained") / "mine"
    return train(folder, steps=24, evaluate_every=8, save_every=8, keep_checkpoints=3)


@pytest.fixture(scope="module")
def words_alone(tmp_path_factory):
    """A finished run of 8 steps that learned no next sentences."""
    return train(tmp_path_factory.mktemp("trained") / "words", "mlm", steps=8, evaluate_every=2)


@pytest.fixture
def runs(tmp_path, trained):
    st.cache_resource.clear()
    training_process._children.clear()
    shutil.copytree(trained, tmp_path / "runs" / "mine")
    return tmp_path / "runs"


@pytest.fixture
def page(runs):
    return page_of("training", runs=str(runs))


@pytest.fixture
def started(monkeypatch):
    """What would have been started: the run's folder, and the settings."""
    calls = []

    def start(run, settings, *, kind="pretrain"):
        calls.append((run, settings))
        training_process.log_file(run).parent.mkdir(parents=True, exist_ok=True)
        training_process.log_file(run).write_text("$ bertscope pretrain\n")

    monkeypatch.setattr(training_process, "start", start)
    return calls


@pytest.mark.parametrize("view", ["Watch", "Replay", "Start a run"])
def test_every_view_is_drawn(page, view):
    page.query_params["training_view"] = view
    at = page.run()
    assert not at.exception
    assert [e.value for e in at.error] == []
    assert len(at.get("plotly_chart")) == {"Watch": 1, "Replay": 1, "Start a run": 0}[view]


def test_the_numbers_are_those_of_the_run(page, runs):
    at = page.run()
    last = training_runs.metrics(runs / "mine")[-1]
    shown = {metric.label: metric.value for metric in at.metric}
    assert shown["Step"] == "24"
    assert shown["Done"] == "100%"
    assert shown["Words right"] == f"{last['valid_mlm_top1']:.1%}"
    assert shown["Next sentence"] == f"{last['valid_nsp_accuracy']:.1%}"
    assert [b.label for b in at.button if b.label in ("Stop", "Resume")] == []


@pytest.mark.parametrize("view", ["Watch", "Replay"])
def test_a_run_without_next_sentences_says_nothing_of_them(page, runs, words_alone, view):
    shutil.copytree(words_alone, runs / "words")
    page.query_params.update({"training_view": view, "run": "words"})
    at = page.run()
    assert not at.exception
    assert [e.value for e in at.error] == []
    assert "Next sentence" not in [metric.label for metric in at.metric]
    said = " ".join(element.value for element in (*at.caption, *at.warning, *at.info))
    assert "pair" not in said
    drawn = " ".join(chart.proto.spec for chart in at.get("plotly_chart"))
    assert "Next sentence" not in drawn
    assert "B follows A" not in drawn
    assert not [code for code in python_shown(at) if "nsp" in code]


@pytest.mark.parametrize(
    ("objective", "label", "score"),
    [
        ("rtd", "Replaced found", "replaced_recall"),
        ("plm", "Words right", "plm_top1"),
        ("mass", "Tokens right", "written_top1"),
    ],
)
@pytest.mark.parametrize("view", ["Watch", "Replay"])
def test_a_run_of_another_objective_shows_its_own_score(page, runs, objective, label, score, view):
    train(runs / "other", objective, steps=4, evaluate_every=2)
    page.query_params.update({"training_view": view, "run": "other"})
    at = page.run()
    assert not at.exception
    assert [e.value for e in at.error] == []
    last = training_runs.metrics(runs / "other")[-1]
    if view == "Watch":
        shown = {metric.label: metric.value for metric in at.metric}
        assert shown[label] == f"{last[f'valid_{score}']:.1%}"
        drawn = " ".join(chart.proto.spec for chart in at.get("plotly_chart"))
        assert "Loss of the objective" in drawn
        assert "Masked words" not in drawn
        captions = " ".join(caption.value for caption in at.caption)
        assert "dotted" not in captions  # it is drawn in the loss of masked words


def test_a_saved_moment_is_opened(page, runs):
    at = page.run()
    at.button(key="open_step-16").click().run()
    assert not at.exception
    assert at.session_state["checkpoint"] == str(runs / "mine" / "checkpoints" / "step-16")


def test_the_replay_follows_its_controls(page):
    page.query_params["training_view"] = "Replay"
    at = page.run()
    for name, wanted in (("replay_sentence", 4), ("replay_layer", 0), ("replay_head", -1)):
        at.selectbox(key=name).set_value(wanted).run()
        assert not at.exception
        assert at.session_state[name] == wanted
    spec = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert [frame["name"] for frame in spec["frames"]] == ["0", "8", "16", "24"]
    title = spec["layout"]["annotations"][0]["text"]
    assert title == "Layer 0, all heads"
    drawn = [probe.sentences[4].attention[0].mean(0) for probe in shown_names(at)["result"]]
    for frame, weights in zip(spec["frames"], drawn, strict=True):
        cells = numbers(frame["data"][0]["customdata"])
        np.testing.assert_allclose(cells, weights, atol=1e-4)


def test_a_folder_without_runs_shows_the_recorded_one_and_offers_to_start_another(page, tmp_path):
    page.query_params["runs"] = str(tmp_path / "none")
    at = page.run()
    assert not at.exception
    assert "**Example:** a recorded run" in said(at)
    figure = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert 25 <= len(figure["frames"]) <= 40
    at.segmented_control(key="training_view").set_value("Watch").run()
    assert not at.exception
    assert at.get("plotly_chart")
    assert not [one for one in at.button if one.label == "Resume"]  # it has no weights
    at.segmented_control(key="training_view").set_value("Start a run").run()
    assert button(at, "Start training")


def test_a_start_gives_the_run_what_was_chosen(page, runs, started, monkeypatch):
    monkeypatch.setattr("bertcore.base.device.computes_bfloat16", lambda device: False)
    page.query_params["training_view"] = "Start a run"
    at = page.run()
    told = "Computing in float32: this processor has no bfloat16 products."
    assert any(caption.value.startswith(told) for caption in at.caption)
    at.text_input(key="run_name").set_value("other")
    at.segmented_control(key="length_unit").set_value("steps").run()
    at.number_input(key="length_steps").set_value(30)
    at.number_input(key="shape_layers").set_value(3)
    at.selectbox(key="shape_hidden").set_value(64).run()
    button(at, "Start training").click().run()
    assert not at.exception
    run, given = started[0]
    assert run == runs / "other"
    assert (given["corpus"], given["valid"]) == ([NOVEL.train], NOVEL.valid)
    assert (given["steps"], given["layers"], given["hidden"]) == (30, 3, 64)
    assert "minutes" not in given
    assert at.session_state["run"] == "other"  # and it is watched at once
    assert at.session_state["training_view"] == "Watch"


def test_a_checkpoint_brings_shape_and_vocabulary(page, runs, started):
    begin = str(runs / "mine" / "checkpoints" / "step-16")
    page.query_params.update({"training_view": "Start a run", "checkpoint": begin})
    at = page.run()
    at.segmented_control(key="start_from").set_value("checkpoint").run()
    assert not at.exception
    shown = [box.label for box in (*at.selectbox, *at.number_input)]
    assert not {"Layers", "Width", "Word pieces"} & set(shown)
    assert "It goes on with **mine/step" in said(at).replace("\\", "")  # open in the sidebar
    at.selectbox(key="objective").set_value("mlm").run()
    button(at, "Start training").click().run()
    assert not at.exception
    given = started[-1][1]
    assert given["checkpoint"] == begin
    assert given["objective"] == "mlm"
    assert not {"layers", "hidden", "vocab_size", "start", "tokenizer"} & set(given)


def test_every_objective_is_offered_and_starts(page, runs, started):
    """With the options that the command needs for it, and one sentence on what it is."""
    page.query_params.update({"training_view": "Start a run", "start_from": "warm"})
    at = page.run()
    assert list(at.selectbox(key="objective").options)[:2] == [
        "Masked words + next sentence (BERT)",
        "Masked words (BERT, RoBERTa)",
    ]
    said = set()
    for name in OBJECTIVES:
        at.selectbox(key="objective").set_value(name).run()
        assert not at.exception
        assert not at.warning
        (start,) = (one for one in at.button if one.label == "Start training")
        assert not start.disabled
        given = command_of(at)
        assert given["objective"] == name
        assert given.get("family") == ("albert" if name == "mlm+sop" else None)
        is_writer = name in ("denoise-t5", "denoise-bart", "mass")
        assert given["start"] == ("noise" if is_writer else "warm")
        said.add(" ".join(caption.value for caption in at.caption))
    assert len(said) == len(OBJECTIVES)
    assert any("begins from noise" in one for one in said)


def command_of(at):
    """Return the settings of the recipe that is shown, which Start gives too."""
    return tomllib.loads(at.code[-1].value)


def test_a_server_that_forbids_training_only_shows_it(page, runs, monkeypatch):
    monkeypatch.setenv("BERTSCOPE_NO_TRAINING", "1")
    config = json.loads((runs / "mine" / "config.json").read_text())
    config["train"]["steps"] = 48
    (runs / "mine" / "config.json").write_text(json.dumps(config))
    at = page.run()
    assert not at.exception
    assert len(at.get("plotly_chart")) == 1
    assert "Resume" not in [b.label for b in at.button]  # it was stopped at step 24
    with lock_run(runs / "mine"):
        assert "Stop" not in [b.label for b in page.run().button]
    at.segmented_control(key="training_view").set_value("Start a run").run()
    assert not at.exception
    assert at.info[0].value.startswith("This server starts no runs")
    assert "Start training" not in [b.label for b in at.button]


def test_an_upload_is_split_beside_the_run(page, runs, started, tmp_path):
    text = write_documents(tmp_path / "my words.txt", small_documents(30)).read_bytes()
    page.query_params.update({"training_view": "Start a run", "corpus": "upload"})
    at = page.run()
    button(at, "Start training").click().run()
    assert "no text was uploaded" in at.error[0].value.lower()
    at.file_uploader(key="corpus_upload").upload("../my words.TXT", text, "text/plain").run()
    button(at, "Start training").click().run()
    assert not at.exception
    own = runs / "run-1-text"
    words = sorted(text.split())
    assert (
        sorted((own / "train.txt").read_bytes().split() + (own / "valid.txt").read_bytes().split())
        == words
    )
    assert {path.name for path in own.iterdir()} == {"train.txt", "valid.txt"}
    assert (own / "train.txt").stat().st_size > 10 * (own / "valid.txt").stat().st_size > 0
    assert started[0][1]["corpus"] == [own / "train.txt"]


def test_a_running_run_is_stopped_and_a_stopped_one_resumed(page, runs, started, monkeypatch):
    asked = []
    monkeypatch.setattr(training_process, "stop", lambda pid, **how: asked.append((pid, how)))
    config = json.loads((runs / "mine" / "config.json").read_text())
    config["train"]["steps"] = 48
    (runs / "mine" / "config.json").write_text(json.dumps(config))
    with lock_run(runs / "mine"):
        at = page.run()
        assert any("running" in m.value for m in at.markdown)
        button(at, "Stop").click().run()
        assert len(asked) == 1
        assert asked[0][1] == {"has_begun": True}
        assert button(at, "Stop").disabled
    at.run()
    assert any("stopped" in m.value for m in at.markdown)
    button(at, "Resume").click().run()
    assert not at.exception
    assert started == [(runs / "mine", None)]


def test_a_start_that_failed_says_why_in_plain_text(page, runs):
    (runs / "bad.log").write_text("$ bertscope\nError: the text ![x](http://x.org/a.png) is bad.\n")
    page.query_params["run"] = "bad"
    at = page.run()
    assert not at.exception
    assert at.error[0].value.replace("\\", "").startswith("The text ![x](http")
    assert "![x]" not in at.error[0].value


@pytest.mark.parametrize("run", ["pretraining", "finetuning"])
def test_a_run_of_0_2_0_is_shown_without_what_went(run, tmp_path):
    """A penalty of 0.2.0 and its column are no setting and no curve any more; the rest is drawn."""
    data = Path(__file__).parents[3] / "data" / "runs_0.1.0" / run
    folder = shutil.copytree(data, tmp_path / "runs" / run)
    penalty = {"name": "gender", "weight": 1.0, "pairs": [["she", "he"]]}
    went = {"direction": penalty, "bias_focus": 3.0, "swap": {**penalty, "mode": "substitute"}}
    file = folder / {"pretraining": "config.json", "finetuning": "finetune.json"}[run]
    file.write_text(json.dumps({**json.loads(file.read_text()), **went}))
    (metrics_file,) = folder.rglob("metrics.jsonl")
    lines = map(json.loads, metrics_file.read_text().splitlines())
    metrics_file.write_text(
        "".join(json.dumps({**x, "direction_penalty": 0.1}) + "\n" for x in lines)
    )
    at = page_of("training", runs=str(folder.parent)).run()
    assert not at.exception
    assert [e.value for e in at.error] == []
    assert len(at.get("plotly_chart")) == 1
    assert [b.label for b in at.button if b.label == "Resume"] == ["Resume"]
