"""The frame: navigation, sidebar, errors, downloads."""

import csv
import io
import json
import logging
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.parts.html_file import data_files
from app.plots.formats import plain, safe_card
from app.server.policy import CHECKPOINT_VARIABLE
from app.shell import frame, sentence_box, sidebar, state
from tests.support.opened import page_of
from tests.support.tiny import tiny_bert

NO_MEMORY = (
    "there is not enough memory for this. Use fewer or shorter texts, a smaller batch or a smaller "
    "checkpoint."
)
MAIN = Path(__file__).parents[3] / "app" / "run.py"
FORMULAS = Path(__file__).parents[1] / "parts" / "canvas" / "formulas.json"
"""Texts, and how they are written in CSV without the quotes around them."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    st.cache_resource.clear()
    folder = tiny_bert().save(tmp_path / "tiny")
    monkeypatch.setenv(CHECKPOINT_VARIABLE, str(folder))
    return folder


def test_main_draws_sidebar_and_first_page(folder):
    at = AppTest.from_file(str(MAIN), default_timeout=30).run()
    assert not at.exception
    assert not at.error
    assert not at.title, "the door writes its own"
    assert len(at.sidebar.selectbox) == 1, "what is closed is not drawn"
    at.session_state["sidebar_more"] = True
    at.run()
    told = " ".join(m.value for m in at.sidebar.markdown)
    for fact in ("**2** layers", "**32** wide", "**4** heads", "64"):
        assert fact in told
    inside = {one.value for one in at.sidebar.expander[0].caption}
    (seen,) = (one.value for one in at.sidebar.caption if one.value.startswith("Runs on"))
    assert seen == "Runs on **cpu** in float32"
    assert seen not in inside


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ({}, (sentence_box.DEFAULT.text_a, sentence_box.DEFAULT.text_b)),
        ({"text_a": "The river."}, ("The river.", "")),  # as links of 0.1.0 have it
        ({"text_b": ""}, (sentence_box.DEFAULT.text_a, "")),
        ({"text_b": "It rained."}, (sentence_box.DEFAULT.text_a, "It rained.")),
    ],
)
def test_a_link_has_the_texts_that_it_was_made_with(folder, query, texts):
    at = page_of("tokens", **query).run()
    assert (at.session_state["text_a"], at.session_state["text_b"]) == texts
    assert dict(at.query_params) == query


def test_a_new_text_a_leaves_text_b_as_it_is(folder):
    """Somebody may be typing into its box: what a run writes there would replace it."""
    at = page_of("tokens").run()
    at.text_area(key="text_a").set_value("The river.").run()
    text_b = sentence_box.DEFAULT.text_b
    assert at.text_area(key="text_b").value == text_b
    assert dict(at.query_params) == {"text_a": "The river.", "text_b": text_b}
    at.text_area(key="text_b").set_value("").run()
    assert dict(at.query_params) == {"text_a": "The river."}


def test_a_bad_checkpoint_leaves_the_choices(folder):
    at = AppTest.from_file(str(MAIN), default_timeout=30)
    at.query_params["checkpoint"] = "/no/such"
    at.query_params["text_a"] = "The river."
    at.run()
    assert not at.exception
    assert len(at.error) == 1
    assert at.sidebar.selectbox(key="checkpoint").value == "/no/such"
    assert at.text_area(key="text_a").value == "The river."
    at.sidebar.selectbox(key="checkpoint").set_value(str(folder)).run()
    assert not at.error
    assert at.text_area(key="text_a").value == "The river."


@pytest.mark.parametrize("has_products", [True, False])
def test_text_and_choices_are_in_the_address(folder, monkeypatch, has_products):
    monkeypatch.setattr("bertcore.base.device.computes_bfloat16", lambda device: has_products)
    at = AppTest.from_file(str(MAIN), default_timeout=30)
    at.query_params["text_a"] = "The river."  # a link of before to the app's own address
    at.run()
    at.text_area(key="text_a").set_value("It had rained.")
    at.session_state["sidebar_more"] = True
    at.run().sidebar.selectbox(key="dtype").set_value("bfloat16").run()
    assert not at.exception
    assert at.query_params["text_a"] == "It had rained."
    assert at.query_params["dtype"] == "bfloat16"
    (told,) = [m.value for m in at.sidebar.caption if "bfloat16" in m.value]
    assert ("which is slow: this processor has no" in told) == (not has_products)


def guarded(kind: str):
    def script(kind):
        import streamlit as st
        import torch

        from app.shell import frame

        with frame.guard():
            if kind == "memory":
                torch.empty(10**14)
            raise {"value": ValueError, "bug": KeyError}[kind](
                "width is ![x](http://x.org/a.png); expected 4. Choose 4."
            )
        st.text("the page goes on")

    return AppTest.from_function(script, kwargs={"kind": kind}, default_timeout=20).run()


def test_an_expected_error_is_one_sentence():
    at = guarded("value")
    assert not at.exception
    assert at.error[0].value == plain("Width is ![x](http://x.org/a.png); expected 4. Choose 4.")
    assert at.text[0].value == "the page goes on"


def test_an_unexpected_error_is_one_sentence_and_is_logged(caplog):
    with caplog.at_level(logging.ERROR, logger="bertscope.app"):
        at = guarded("bug")
    assert not at.exception
    assert "KeyError" in at.error[0].value
    assert "Traceback" not in at.error[0].value
    assert caplog.records[0].exc_info is not None


def test_too_little_memory_is_one_sentence():
    at = guarded("memory")
    assert [error.value for error in at.error] == [plain(f"T{NO_MEMORY[1:]}")]
    assert at.text[0].value == "the page goes on"


def test_an_error_in_a_fragment_is_one_sentence():
    def script():
        import streamlit as st

        from app.shell import frame

        @frame.fragment
        def part(number, *, name):
            st.text(f"{name} {number}")
            raise ValueError("width is 3; expected 4.")

        with frame.guard():
            part(1, name="part")
            part(2, name="part")
            st.text("the page goes on")

    at = AppTest.from_function(script, default_timeout=20).run()
    assert not at.exception
    assert [error.value for error in at.error] == [plain("Width is 3; expected 4.")] * 2
    assert [text.value for text in at.text] == ["part 1", "part 2", "the page goes on"]


def test_tables_and_arrays_come_back_as_they_were():
    table = pd.DataFrame({"token": ["שלום", "</script>", "a,b"], "x": [1.5, 2.0, -3.0]})
    content = data_files.to_csv(table)
    assert content.startswith(b"\xef\xbb\xbf")  # the byte order mark, for spreadsheets
    again = pd.read_csv(io.BytesIO(content), encoding="utf-8-sig")
    pd.testing.assert_frame_equal(again, table)
    arrays = {"token": np.arange(6, dtype=np.float32).reshape(2, 3)}
    assert np.array_equal(np.load(io.BytesIO(data_files.to_npz(arrays)))["token"], arrays["token"])


@pytest.mark.parametrize(("text", "written"), json.loads(FORMULAS.read_text()))
def test_csv_holds_no_formulas(text: str, written: str) -> None:
    """The same cases as of the files that the browser makes (csv.test.ts)."""
    content = data_files.to_csv(pd.DataFrame({text: [text, -0.5]}))
    cell = '"' + written.replace('"', '""') + '"'
    assert content.decode("utf-8-sig") == f"{cell}\r\n{cell}\r\n-0.5\r\n"


def test_csv_of_a_spreadsheet_that_splits_at_semicolons_holds_no_formulas() -> None:
    names = ["Bob;=cmd|'/c calc'!A1", 'a";"=1+1', 'x;" \t＝1', "\n@a;-b"]
    content = data_files.to_csv(pd.DataFrame({"n": [1] * 4, "name": names, "p": [-0.5] * 4}))
    for separator in ";\t,":
        for row in csv.reader(io.StringIO(content.decode("utf-8-sig")), delimiter=separator):
            for cell in row:
                assert cell == "-0.5" or cell.lstrip(' \t\r\n"')[:1] not in set("=+-@＝＋－＠"), row


def test_numbers_of_a_csv_are_as_short_as_they_are_exact() -> None:
    columns = {
        "half": np.array([0.1, -0.5], np.float16),
        "single": np.array([0.1, np.nan], np.float32),
        "double": [1e-7, np.inf],
        "whole": [-3, 2**60],
        "is": [True, False],
        "mixed": [None, 2.5],
    }
    content = data_files.to_csv(pd.DataFrame(columns)).decode("utf-8-sig")
    assert content.splitlines()[1:] == ["0.1,0.1,1e-07,-3,True,", f"-0.5,,inf,{2**60},False,2.5"]


def test_setup_code_makes_the_same_trace(folder):
    key = frame.cache.bert_key(str(folder))
    trace = frame.cache.trace(key, 'it\'s "steep"\n', "rain")
    page = frame.Page(key, trace.text_a, trace.text_b, True, False)
    assert page.trace is trace
    scope = {}
    exec(page.setup_code, scope)
    assert scope["trace"].tokens == trace.tokens


@pytest.mark.parametrize(
    "text", ["![a](http://x)", "<img onerror=1>", ":red[a] :material/bug:", "$x$ `b` *c* _d_ # e"]
)
def test_plain_leaves_no_markdown(text):
    escaped = plain(text)
    assert escaped.replace("\\", "") == text
    special = set("!<>[]():$`*_#")
    assert all(escaped[i - 1] == "\\" for i, c in enumerate(escaped) if c in special)


def test_a_card_fetches_no_pictures():
    assert safe_card("![a](http://x) ![b][c] !![d](e) Hi!") == ("[a](http://x) [b][c] [d](e) Hi!")


@pytest.mark.parametrize(
    ("text", "problem", "offered"),
    [
        ("我爱学习。", "for 5 of 5 tokens", "zh"),
        ("我爱[MASK]习", "for 3 of 4 tokens", "zh"),
        ("Я люблю [MASK].", "6 letters became", "ru"),
        ("BERT это модель.", "13 letters became", "ru"),
        ("私は学生です", "for ", None),
        ("ภาษาไทย", "tokens", None),
        ("The river rose, and the fisherman said: люблю, 我爱.", None, None),
    ],
)
def test_a_text_of_another_script_offers_the_checkpoint_that_reads_it(text, problem, offered):
    at = page_of("tokens", text_a=text).run()
    assert not at.exception
    told = [warning.value for warning in at.warning]
    buttons = [button for button in at.button if button.key == "open_language"]
    assert [problem in t for t in told] == ([True] if problem else [])
    assert [b.label for b in buttons] == ([f"Open {offered}"] if offered else [])
    if offered:
        buttons[0].click().run()
        assert not at.exception
        assert at.session_state["checkpoint"] == offered
        assert not at.warning
        assert at.text_area(key="text_a").value == text


def test_examples_are_of_every_kind():
    assert any(example.text_b for example in sentence_box.EXAMPLES)
    titles = [example.title for example in sentence_box.EXAMPLES]
    assert len(set(titles)) == len(titles)
    assert all(
        len(e.text_a) + len(e.text_b) < state.MAX_URL_CHARACTERS for e in sentence_box.EXAMPLES
    )


def test_checkpoints_of_one_name_are_told_apart():
    sources = ["default", "/a/SST-2/seed-1", "/a/RTE/seed-1", "/b/mine", "me/seed-1"]
    names = sidebar.distinct_names(sources)
    assert list(names.values())[1:] == ["SST-2/seed-1", "RTE/seed-1", "mine", "me/seed-1"]
    assert len(set(names.values())) == len(sources)
    same_tails = ["/a/x/seed-1", "/b/x/seed-1", "x/seed-1"]
    assert len(set(sidebar.distinct_names(same_tails).values())) == 3


def test_short_names():
    assert sidebar.short_name("/home/me/my-bert") == "my-bert"
    assert sidebar.short_name("google-bert/bert-base-uncased") == "google-bert/bert-base-uncased"
    assert sidebar.short_name("default").startswith("default")


def test_a_name_that_training_gives_comes_with_the_runs_own():
    assert sidebar.short_name("/runs/SST-2/seed-1") == "SST-2/seed-1"
    assert sidebar.short_name("/runs/law/checkpoints/step-500") == "law/step-500"
    assert sidebar.short_name("/trained/checkpoint-1200") == "trained/checkpoint-1200"
    assert sidebar.short_name("/seed-1") == "seed-1"
    assert sidebar.short_name("/home/me/best-of-all") == "best-of-all"


def test_local_checkpoints_are_found(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert sidebar.local_checkpoints() == []
    saved = tiny_bert().save(tmp_path / "runs" / "one" / "checkpoints" / "step-5")
    assert sidebar.local_checkpoints() == [str(saved)]
