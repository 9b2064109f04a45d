"""Pages opened without a browser, and what is on them."""

import base64
import json
import re
import time
import zlib
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from app.server.policy import CHECKPOINT_VARIABLE
from app.shell.jobs import background

PAGES = Path(__file__).parents[2] / "pages"
PAIR = {"text_a": "The river bank was steep.", "text_b": "It had rained all day."}
QUICK = {"map_method": "pca"}
"""What else is in an address: compiling UMAP takes 17 s of a processor; its own page tests it."""


def page_of(name: str, *, seconds: float = 300, **query: str | list[str]) -> AppTest:
    """Return a page, by its script in `pages`, not yet run, at an address with a query."""
    app = AppTest.from_file(str(PAGES / f"{name}.py"), default_timeout=seconds)
    app.query_params.update(query)
    return app


def component_data(app: AppTest) -> list[Any]:
    """Return what the page's components are sent, of those that get JSON."""
    protos = [one.proto for one in app.get("bidi_component")]
    texts = [
        zlib.decompress(proto.bytes[1:]) if proto.bytes[:1] == b"\1" else proto.json
        for proto in protos
    ]
    return [json.loads(text) for text in texts if text]


def lessons_with_languages(**query: str) -> AppTest:
    """Return the page of lessons, not yet run, with the choice of language from the sidebar."""

    def draw() -> None:
        from app.screens.lessons import page
        from app.shell.words import language

        page.draw()
        language.choose()

    app = AppTest.from_function(draw, default_timeout=300)
    app.query_params.update(query)
    return app


def opener(folders: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Return what runs a page on a folder of that name, and makes sure that nothing failed."""
    st.cache_resource.clear()

    def opened(name: str, page: str, **query: str) -> AppTest:
        monkeypatch.setenv(CHECKPOINT_VARIABLE, str(folders[name]))
        return ok(with_results(page_of(page, **{**PAIR, **QUICK, **query}).run()))

    return opened


def with_results(app: AppTest) -> AppTest:
    """Return a page that ran with what takes long, which in a browser comes by itself."""
    if not app.get("progress"):
        return app
    finish_jobs()
    return app.run()


def finish_jobs() -> None:
    """Wait for all work in the background."""
    for job in list(background._jobs.values()):
        while not job.done:
            time.sleep(0.01)


def ok(app: AppTest) -> AppTest:
    """Make sure that a page shows no exception and no error."""
    assert not app.exception, app.exception
    assert not app.error, [error.value for error in app.error]
    return app


def said(app: AppTest) -> str:
    """Return all that a page says, as Markdown without its backslashes."""
    boxes = (
        *app.error,
        *app.warning,
        *app.info,
        *app.success,
        *app.caption,
        *app.markdown,
        *app.header,
    )
    shown = [str(box.value) for box in boxes]
    shown += [_markdown(box.proto.body) for box in app.get("html")]  # how to read a view
    return " ".join(shown).replace("\\", "")


def all_of(app: AppTest) -> str:
    """Return the elements of a page as text: words, labels, options, figures."""
    blocks, found = [app.main, app.sidebar], []
    while blocks:
        for child in blocks.pop().children.values():
            if hasattr(child, "children"):
                blocks.append(child)
            else:
                found.append(str(child.proto))
    return " ".join(found)


def _markdown(html: str) -> str:
    html = re.sub(r'<span class="meaning".*?</span>', "", html)  # of a word of the glossary
    signs = {"strong": "**", "em": "*", "code": "`"}
    return unescape(re.sub(r"</?(\w+).*?>", lambda tag: signs.get(tag[1], ""), html))


def python_shown(app: AppTest) -> list[str]:
    """Return the Python of each view of a page, whose menus are opened for it."""
    for block in app.get("popover"):
        if "-menu_" in block.proto.popover.id:
            name = block.proto.popover.id.partition("-menu_")[2]
            app.session_state[f"menu_{name}"] = True
    return [code.value for code in app.run().code if code.language == "python"]


def shown_names(app: AppTest, *words: str, at: int = 0) -> dict[str, Any]:
    """Run the Python of a view that has all these words, and return the names it leaves behind."""
    codes = [code for code in python_shown(app) if all(word in code for word in words)]
    names: dict[str, Any] = {}
    exec(compile(codes[at], "shown", "exec"), names)
    return names


def alerts(app: AppTest) -> list[str]:
    """Return what a page says in boxes: errors, warnings, notes and successes."""
    boxes = (*app.error, *app.warning, *app.info, *app.success, *app.toast)
    return [str(box.value) for box in boxes]


def complaints(app: AppTest) -> str:
    """Return the errors that a page shows, without Markdown's backslashes."""
    assert not app.exception, app.exception
    return " ".join(error.value for error in app.error).replace("\\", "")


def button(app: AppTest, label: str) -> Button:
    """Return the first button with these words on it."""
    return next(found for found in app.button if label in found.label)


def charts(app: AppTest) -> list[dict[str, Any]]:
    """Return the specification of each Plotly figure, in their order."""
    return [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]


def named_charts(app: AppTest, page: str) -> dict[str, Any]:
    """Return the data of each Plotly figure by what its name adds to the page's."""
    return {
        chart.proto.id.rpartition(f"figure_{page}-")[2]: json.loads(chart.proto.spec)["data"]
        for chart in app.get("plotly_chart")
    }


def numbers(array: Any) -> np.ndarray:
    """Return an array of a figure, plain or packed by Plotly; None is NaN."""
    if not isinstance(array, dict):
        return np.array(array, dtype=float)
    flat = np.frombuffer(base64.b64decode(array["bdata"]), dtype=array["dtype"])
    shape = array.get("shape")
    return flat if shape is None else flat.reshape([int(n) for n in shape.split(",")])
