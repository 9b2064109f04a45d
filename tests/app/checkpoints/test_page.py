"""The checkpoints page, good files and bad."""

import io
import json
import zipfile

import pytest
import streamlit as st
import torch
from safetensors.torch import load_file, save_file

from app.access.policy import CHECKPOINT_VARIABLE
from app.plots.formats import plain
from app.shell import cache, uploads
from bertcore.analysis.health.checkpoint_doctor import PROBE_TEXTS as TEXTS
from tests.support.adapters import make_adapter
from tests.support.opened import page_of, with_results
from tests.support.tiny import tiny_bert

LOOK_UP = "Look it up on the hub"
VIEWS = ["What was read", "Doctor", "Shape", "Model card", "Memory"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    st.cache_resource.clear()
    folder = tiny_bert().save(tmp_path / "tiny")
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(folder))
    return folder


@pytest.fixture
def page(folder):
    return page_of("checkpoints", seconds=30)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_drawn(page, view):
    page.query_params["checkpoint_view"] = view
    at = page.run()
    assert not at.exception
    assert not at.error


def test_the_report_counts_the_tensors(page, folder):
    at = page.run()
    counts = {metric.label: metric.value for metric in at.metric}
    assert counts["Missing"] == "0"
    rows = at.dataframe[0].value
    assert int(counts["Loaded"]) == len(rows)
    assert "bert.embeddings.word_embeddings.weight" in list(rows["tensor"])


def test_a_typed_folder_is_opened(page, tmp_path):
    other = tiny_bert(heads=frozenset({"pooler"})).save(tmp_path / "other")
    at = page.run()
    at.text_input(key="open_source").set_value(str(other))
    at.button[0].click().run()
    assert not at.exception
    assert at.session_state["checkpoint"] == str(other)
    assert at.header[0].value == "other"
    assert int(next(m.value for m in at.metric if m.label == "Missing")) > 0


def test_the_config_table_has_every_field(page):
    page.query_params["checkpoint_view"] = "Shape"
    at = page.run()
    table = at.table[0].value
    assert table.loc["hidden_size", "value"] == "32"


def test_the_card_is_shown_without_pictures(page, folder):
    (folder / "README.md").write_text(
        "---\nlicense: mit\n---\n# My BERT\n![spy](http://x.org/a.png)\n<script>alert(1)</script>"
    )
    page.query_params["checkpoint_view"] = "Model card"
    at = page.run()
    card = next(m for m in at.markdown if "My BERT" in m.value)
    assert "![" not in card.value
    assert not card.allow_html
    assert "license" not in card.value


def break_config(folder):
    (folder / "config.json").unlink()


def break_json(folder):
    (folder / "config.json").write_text("{")


def truncate(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:1000])


def mis_shape(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 64}))


def remove_vocabulary(folder):
    for name in ("vocab.txt", "tokenizer.json"):
        (folder / name).unlink()


@pytest.mark.parametrize(
    "damage", [break_config, break_json, truncate, mis_shape, remove_vocabulary]
)
def test_damaged_folders_are_one_sentence(page, folder, damage):
    damage(folder)
    at = page.run()
    assert not at.exception
    assert len(at.error) == 1
    assert "Traceback" not in at.error[0].value
    assert at.text_input(key="open_source")


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
    agree.click().run()
    assert not at.exception
    assert not at.error
    assert at.metric


def test_unload_lets_go(page, folder):
    page.query_params["checkpoint_view"] = "Memory"
    at = page.run()
    first = cache.bert(str(folder))
    at.button(key="unload_0").click().run()
    assert not at.exception
    assert cache.bert(str(folder)) is not first


def test_a_link_asks_the_hub_for_nothing_before_the_visitor_agrees(page, monkeypatch):
    asked = []

    def look_up(source, **options):
        asked.append(source)
        raise RuntimeError("the hub cannot be reached.")

    monkeypatch.setattr("app.shell.fetch.look_up", look_up)
    page.query_params["checkpoint"] = "somebody/some-bert"
    at = page.run()
    assert not asked
    assert "Nothing is fetched unless you agree" in at.info[0].value
    next(b for b in at.button if b.label == LOOK_UP).click().run()
    assert asked == ["somebody/some-bert"]
    assert "hub cannot be reached" in at.error[0].value


def zip_of(folder):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        for file in folder.iterdir():
            target.write(file, f"mine/{file.name}")
    return out.getvalue()


def open_upload(page, name, data, monkeypatch, tmp_path):
    monkeypatch.setattr(uploads.visits, "root", lambda: tmp_path)
    at = page.run()
    at.file_uploader(key="checkpoint_zip").upload(name, data, "application/zip").run()
    next(button for button in at.button if button.label == "Open the upload").click().run()
    assert not at.exception
    return at


def test_an_uploaded_zip_is_opened(page, tmp_path, monkeypatch):
    other = tiny_bert(heads=frozenset({"pooler"})).save(tmp_path / "other")
    at = open_upload(page, "mine.zip", zip_of(other), monkeypatch, tmp_path)
    assert not at.error
    assert at.header[0].value == plain("mine.zip")


def test_a_hostile_zip_is_one_sentence(page, tmp_path, monkeypatch):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        target.writestr("../config.json", "{}")
    at = open_upload(page, "x.zip", out.getvalue(), monkeypatch, tmp_path)
    assert "leads out of its folder" in at.error[0].value


@pytest.mark.parametrize("base", ["other", "./other", "adapter/../other", "/"])
def test_an_adapter_in_a_zip_opens_no_folder_of_this_machine(page, base, tmp_path, monkeypatch):
    other = tiny_bert().save(tmp_path / "other")
    make_adapter(other, tmp_path / "adapter", target_modules=["query"])
    config = tmp_path / "adapter" / "adapter_config.json"
    place = str(other) if base == "/" else base
    values = json.loads(config.read_text())
    config.write_text(json.dumps({**values, "base_model_name_or_path": place}))
    monkeypatch.chdir(tmp_path)
    data = zip_of(tmp_path / "adapter")
    at = open_upload(page, "mine.zip", data, monkeypatch, tmp_path)
    assert "comes from a zip file" in at.error[0].value


def test_an_uploaded_pickle_waits_for_the_visitors_word(page, tmp_path, monkeypatch):
    other = tiny_bert().save(tmp_path / "other")
    (other / "model.safetensors").rename(other / "pytorch_model.bin")
    at = open_upload(page, "mine.zip", zip_of(other), monkeypatch, tmp_path)
    assert "pickle" in at.error[0].value


def test_the_doctor_says_that_random_weights_are_random(page):
    page.query_params["checkpoint_view"] = "Doctor"
    at = page.run()
    assert "freshly initialised" in at.warning[0].value
    assert len(at.get("plotly_chart")) == 2


def test_the_doctor_has_nothing_to_say_against_the_shipped_checkpoint(page, monkeypatch):
    monkeypatch.setenv(CHECKPOINT_VARIABLE, "default")
    page.query_params["checkpoint_view"] = "Doctor"
    at = page.run()
    assert not at.error
    assert at.success[0].value == plain("Nothing here looks untrained or collapsed.")


def test_the_doctor_guesses_the_words_of_your_own_sentences(page, monkeypatch):
    monkeypatch.setenv(CHECKPOINT_VARIABLE, "default")
    page.query_params["checkpoint_view"] = "Doctor"
    at = with_results(page.run())
    assert any("40 English sentences" in each.value for each in at.markdown)
    at.text_area[0].set_value("\n".join(TEXTS)).run()
    at = with_results(at)
    assert any(f"{len(TEXTS)} given sentences" in each.value for each in at.markdown)
    at.text_area[0].set_value("One.\nTwo.").run()
    assert "expected at least 8" in with_results(at).error[0].value


def test_the_doctor_of_nan_weights(page, folder):
    tensors = load_file(folder / "model.safetensors")
    tensors["bert.encoder.layer.0.output.dense.weight"][0, 0] = float("nan")
    save_file(tensors, folder / "model.safetensors")
    page.query_params["checkpoint_view"] = "Doctor"
    at = page.run()
    assert not at.exception
    assert "NaN" in at.warning[0].value
