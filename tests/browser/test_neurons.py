"""The neuron view alone in a real Chromium: its numbers, keys and files, and hostile tokens."""

import csv
import io
import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from bertcore import Trace
from bertcore.analysis.mixing.neurons import head_neurons
from tests.support.browser import bare_view
from tests.support.browser.bare_tab import HOSTILE, Tab
from tests.support.browser.bare_view import made_trace
from tests.support.browser.visit import TEXT_A, TEXT_B, Visit

pytestmark = pytest.mark.browser

WIDTH = 16


def neural_trace(tokens: list[str], second: int | None = None) -> Trace:
    """Return a made trace whose attention comes from its random queries and keys."""
    trace = made_trace(tokens, second=second)
    generator = torch.Generator().manual_seed(1)
    shape = (2, 4, len(tokens), WIDTH)
    queries = 2 * torch.randn(shape, generator=generator)
    keys = torch.randn(shape, generator=generator)
    scores = queries @ keys.mT / math.sqrt(WIDTH)
    activations = replace(
        trace.activations, queries=queries, keys=keys, attentions=scores.softmax(-1)
    )
    return replace(trace, activations=activations)


def test_what_is_drawn_and_saved_is_the_cores(tab: Tab) -> None:
    trace = neural_trace(["[CLS]", *(f"word{k}" for k in range(30)), "[SEP]"], second=12)
    found = head_neurons(trace, 1, 2)
    page = tab.show(bare_view.neurons_view(trace, 1, 2, look={"query": 5}))
    data = json.loads(tab.save("JSON"))
    assert (data["layer"], data["head"], data["query"], data["token"]) == (1, 2, 5, "word4")
    order = [row[0] for row in data["rows"]]
    assert order == found.weights[5].argsort(descending=True, stable=True).tolist()
    drawn = np.array([[*row[2:]] for row in data["rows"]])
    np.testing.assert_allclose(drawn[:, 0], found.scores[5, order], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(drawn[:, 1], found.weights[5, order], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(drawn[:, 2:], found.products(5)[order], rtol=1e-5, atol=1e-6)
    page.get_by_label("Order of the keys").select_option("text")
    assert [row[0] for row in json.loads(tab.save("JSON"))["rows"]] == list(range(32))
    with np.load(io.BytesIO(tab.save("NPZ"))) as arrays:
        assert np.array_equal(arrays["products"], found.products(5).numpy())
        assert np.array_equal(arrays["scores"], found.scores[5].numpy())
        assert np.array_equal(arrays["query"], trace.queries[1, 2, 5].numpy())
        assert arrays["tokens"].tolist() == trace.tokens
    page.wait_for_function("window.reports.look?.order === 'text'")
    page.locator("details summary").click()
    table = tab.sheet()
    assert [row[0] for row in table[1:4]] == ["0 [CLS]", "1 word0", "2 word1"]
    assert table[1][1] == f"{float(found.scores[5, 0]):.4f}"


def test_hostile_tokens_and_nan_in_every_file(tab: Tab) -> None:
    trace = neural_trace(HOSTILE, second=12)
    trace.keys[0, 0, 3] = torch.nan
    page = tab.show(bare_view.neurons_view(trace, width=460, look={"query": 1, "order": "text"}))
    expect(page.locator(".foot")).to_contain_text("not numbers (NaN)")
    tab.sheet()
    for down in (100, 130, 200, 300):
        page.get_by_role("application").hover(position={"x": 180, "y": down})
        tab.settle()
    tree = ET.fromstring(tab.save("SVG"))
    tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
    assert tags <= {"svg", "path", "rect", "text", "image"}
    assert not [a for element in tree.iter() for a in element.attrib if a.startswith("on")]
    tab.save("PNG")
    rows = list(csv.reader(io.StringIO(tab.save("CSV").decode("utf-8-sig"), newline="")))
    assert not [cell for row in rows for cell in row if re.match(r"[=+@].", cell)]
    assert len(rows) == len(HOSTILE) + 1
    assert rows[4][2] == ""  # no number, so an empty cell


def test_in_the_app_the_head_and_the_token_are_in_the_address(visit: Visit) -> None:
    visit.open("attention", text_a=TEXT_A, text_b=TEXT_B, view="neurons", layer="1", heads="2")
    visit.inked(".st-key-attention_neurons")
    view = visit.page.locator(".st-key-attention_neurons")
    expect(view.get_by_label("Head", exact=True)).to_have_value("2")
    view.get_by_label("Layer", exact=True).select_option("0")
    expect(visit.page).not_to_have_url(re.compile(r"[?&]layer="))
    view.get_by_label("Query token", exact=True).select_option("6")
    visit.wait_for_query("neurons", "query:6")
    expect(view.locator(".sum")).to_contain_text("“river” attends to")
    visit.check()
