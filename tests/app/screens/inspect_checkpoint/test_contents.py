"""*What is in this checkpoint?* of Inspect, and what the page says of one that does not open."""

import json

import pytest
import streamlit as st
import torch
from safetensors.torch import load_file

from app.plots.formats import plain
from app.screens.inspect_checkpoint.contents import VIEWS
from app.server.policy import CHECKPOINT_VARIABLE
from bertcore.analysis.health.checkpoint_doctor import PROBE_TEXTS as TEXTS
from tests.support.opened import ok, page_of, said, with_results
from tests.support.tiny import tiny_bert

LOOK_UP = "Look it up on the hub"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    st.cache_resource.clear()
    folder = tiny_bert().save(tmp_path / "tiny")
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(folder))
    # What follows the heading is tested in test_page.py.
    for name in ("show_text", "_show_example"):
        monkeypatch.setattr(f"app.screens.inspect_checkpoint.page.{name}", lambda page, *_: page)
    monkeypatch.setattr("app.shell.frame.Page.task_model", None)
    return folder


@pytest.fixture
def page(folder):
    return page_of("inspect_checkpoint", seconds=30, contents="1")


def view_of(page, view):
    page.query_params["checkpoint_view"] = view
    return with_results(page.run())


@pytest.mark.parametrize("view", VIEWS)
def test_a_link_with_a_view_opens_the_heading(folder, view):
    ok(view_of(page_of("inspect_checkpoint", seconds=30), view))


def test_the_card_is_shown_without_pictures(page, folder):
    (folder / "README.md").write_text(
        "---\nlicense: mit\n---\n# My BERT\n![spy](http://x.org/a.png)\n<script>alert(1)</script>"
    )
    at = view_of(page, "Model card")
    card = next(m for m in at.markdown if "My BERT" in m.value)
    assert "![" not in card.value
    assert not card.allow_html
    assert "license" not in card.value


def test_the_doctor_says_that_random_weights_are_random(page):
    at = view_of(page, "Doctor")
    assert "freshly initialised" in at.warning[0].value
    assert len(at.get("plotly_chart")) == 2


def test_the_doctor_guesses_the_words_of_your_own_sentences(page, monkeypatch):
    monkeypatch.setenv(CHECKPOINT_VARIABLE, "default")
    at = ok(view_of(page, "Doctor"))
    assert at.success[0].value == plain("Nothing here looks untrained or collapsed.")
    assert "40 English sentences" in said(at)
    own = at.text_area(key="doctor_sentences")
    at = with_results(own.set_value("\n".join(TEXTS)).run())
    assert f"{len(TEXTS)} given sentences" in said(at)
    at = at.text_area(key="doctor_sentences").set_value("One.\nTwo.").run()
    assert "expected at least 8" in with_results(at).error[0].value


def truncate(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:1000])


def mis_shape(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 64}))


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "config.json").unlink(),
        lambda folder: (folder / "config.json").write_text("{"),
        lambda folder: [(folder / name).unlink() for name in ("vocab.txt", "tokenizer.json")],
        truncate,
        mis_shape,
    ],
)
def test_damaged_folders_are_one_sentence(page, folder, damage):
    damage(folder)
    at = page.run()
    assert not at.exception
    assert len(at.error) == 1
    assert "Traceback" not in at.error[0].value


@pytest.mark.parametrize("source", ["/no/such", "no/such", "x" * 5000, "a\0b", "![a](http://x)"])
def test_sources_that_are_not_there_are_one_sentence(page, source):
    page.query_params["checkpoint"] = source
    at = page.run()
    for consent in [b for b in at.button if b.label == LOOK_UP]:
        consent.click().run()
    assert not at.exception
    assert len(at.error) == 1
    assert "![" not in at.error[0].value


def test_a_pickle_is_opened_only_after_agreeing(page, folder):
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    at = page.run()
    assert len(at.error) == 1
    agree = next(b for b in at.button if b.label.startswith("I trust it"))
    assert ok(agree.click().run()).metric
