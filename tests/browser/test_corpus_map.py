"""The map of a corpus in a browser: drawn, searched, read, chosen with the lasso, by keys."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.support.browser.visit import Visit
from tests.support.encoded_table import encode_table

pytestmark = pytest.mark.browser


def opened(visit: Visit, folder: Path) -> Locator:
    encoded = encode_table(folder)
    visit.open("layer-map", map_source="corpus", corpus="folder", corpus_folder=str(encoded.folder))
    field = visit.page.get_by_role("application", name="Map of the corpus")
    expect(field).to_be_visible()
    visit.settle()
    return field


def colours(field: Locator) -> int:
    """Count the pixels with a colour: points; names and ground are grey."""
    picture = np.asarray(Image.open(io.BytesIO(field.screenshot())).convert("RGB")).astype(int)
    return int((picture.max(-1) - picture.min(-1) > 60).sum())


def test_points_are_drawn_found_and_read(visit: Visit, tmp_path: Path) -> None:
    field = opened(visit, tmp_path)
    assert colours(field) > 20  # thirteen places; names stand over some of them
    search = visit.page.get_by_role("searchbox", name="Find a word")
    search.fill("bank")
    chosen = visit.page.locator(".st-key-corpus_point_map .chosen")
    expect(chosen).to_have_text("8 points: bank (8)")
    expect(visit.page.locator("[data-testid=stDataFrame]")).to_be_visible()
    search.fill("<img src=x onerror=alert(1)>")
    expect(chosen).to_contain_text("No point is")
    assert not visit.was_tricked()
    field.press("Escape")
    expect(chosen).to_have_text("")
    visit.check()


def test_the_lasso_and_the_keys(visit: Visit, tmp_path: Path) -> None:
    field = opened(visit, tmp_path)
    visit.page.get_by_role("button", name="Lasso").click()
    box = field.bounding_box()
    assert box is not None
    left, top = box["x"] + 4, box["y"] + 4
    right, bottom = box["x"] + box["width"] - 4, box["y"] + box["height"] - 4
    mouse = visit.page.mouse
    mouse.move(left, top)
    mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top + 8)):
        mouse.move(x, y, steps=4)
    mouse.up()
    chosen = visit.page.locator(".st-key-corpus_point_map .chosen")
    expect(chosen).to_contain_text("points: the (")
    field.press("Escape")
    layer = visit.page.get_by_role("slider", name="Layer")
    expect(layer).to_have_value("1")
    field.press("PageDown")
    expect(layer).to_have_value("0")
    for key in ("+", "ArrowLeft", "0"):
        field.press(key)
    visit.check()
