"""The notebook's functions without a browser."""

import base64
import html
import json
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bertscope
from app.parts.canvas.shared import transport
from bertcore import Bert, Trace
from bertcore.analysis import given_attention
from bertscope import notebook
from bertscope.notebook import NotebookView

ROOT = Path(__file__).resolve().parents[3]
HOSTILE = "</script><img src=x onerror=alert(1)> \u202edrow\u2028 the river"


@pytest.fixture(scope="module")
def trace(bert: Bert) -> Trace:
    return bert.trace(HOSTILE, "It had rained.")


SHOWN: dict[str, Callable[[Bert, Trace], NotebookView]] = {
    "overview": lambda bert, trace: notebook.show_overview(trace, bert=bert),
    "lines": lambda bert, trace: notebook.show_lines(trace, 1, [2], bert=bert),
    "map": lambda bert, trace: notebook.show_map(trace, 1, 2, bert=bert),
    "neurons": lambda bert, trace: notebook.show_neurons(trace, 1, 2, query=3, bert=bert),
    "norms": lambda bert, trace: notebook.show_map(trace, 1, measure="norms", bert=bert),
    **{
        f"BertViz, {kind}": lambda bert, trace, kind=kind: notebook.show_bertviz(
            trace, kind, 1, [2], bert=bert
        )
        for kind in ("head", "model", "neuron")
    },
}


class Elements(HTMLParser):
    """The elements and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("name", SHOWN)
def test_a_view_is_a_frame_that_cannot_reach_the_notebook(
    name: str, bert: Bert, trace: Trace, tmp_path: Path
) -> None:
    view = SHOWN[name](bert, trace)
    ((tag, attributes),) = Elements(view._repr_html_()).found
    assert tag == "iframe"
    assert attributes["srcdoc"] == view.html
    assert set((attributes["sandbox"] or "").split()) == {"allow-scripts", "allow-downloads"}
    assert view.save(tmp_path / "view.html").read_text(encoding="utf-8") == view.html
    tags = Elements(view.html).found
    assert not [tag for tag, _ in tags if tag in ("img", "iframe", "link", "object", "base")]
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
    assert not [tag for tag, attributes in tags if "src" in attributes]
    assert html.escape("</script><img src=x onerror=alert(1)>") in view.html
    assert "\u202e" not in view.html
    assert "<dt>Checkpoint</dt><dd><bdi>tiny</bdi>" in view.html


def held(view: NotebookView) -> list[dict[str, Any]]:
    """Return the headers of the messages that a file holds."""
    blocks = re.findall(r'<script type="text/plain" id="[^"]*">([^<]*)</script>', view.html)
    messages = [base64.b64decode(block) for block in blocks]
    return [json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")]) for data in messages]


def test_lines_hold_every_layer_and_open_on_the_asked_one(trace: Trace) -> None:
    headers = held(notebook.show_lines(trace, 1, [2], words=True, between="0>1"))
    assert [header["layer"] for header in headers] == [1, 0]
    assert headers[0]["heads"] == [2]
    assert headers[0]["sent"] == [0, 1, 2, 3]
    assert headers[0]["alone"] == [0, 1]
    look = headers[0]["look"]
    assert (look["words"], look["filter"]) == (True, "0>1")


@pytest.mark.parametrize("show", [notebook.show_lines, notebook.show_overview, notebook.show_map])
def test_arrays_of_any_model_are_shown(show: Callable[..., NotebookView], trace: Trace) -> None:
    arrays = tuple(layer[None] for layer in trace.attentions)
    shown = held(show(attentions=arrays, tokens=trace.tokens, text_ids=trace.text_ids))
    assert shown[0].get("tokens", trace.tokens) == trace.tokens
    assert shown[0]["num_layers"] == len(arrays)
    uneven = show(attentions=[layer * 0.9 for layer in arrays], tokens=trace.tokens)
    assert "do not sum to 1" in uneven.html
    for wrong in ({"trace": trace, "attentions": arrays}, {"attentions": arrays}, {}):
        with pytest.raises(ValueError, match="what to show is not clear"):
            show(**wrong)


def test_arrays_are_shown_by_the_name_of_a_view(trace: Trace) -> None:
    given = given_attention(trace.attentions, trace.tokens, text_ids=trace.text_ids)
    shown = bertscope.show("attention-layer", given, layer=1)
    assert held(shown)[0]["layer"] == 1
    assert "given_attention(attentions, tokens)" in html.unescape(shown.html)
    own = notebook.show_bertviz(attentions=np.full((1, 1, 2, 2), 0.5), tokens=["one", "pieces"])
    (block,) = re.findall(r'<script type="text/plain" id="[^"]*">([^<]*)</script>', own.html)
    assert '"pieces"' in base64.b64decode(block).decode()
    vectors = np.eye(4)
    mapped = bertscope.show("vector-map", vectors=vectors, labels=["a", "a", "b", "b"])
    assert "map_vectors(vectors=vectors, labels=" in html.unescape(mapped.html)
    for name, of, words in (
        ("attention-bertviz-neuron", given, "more of the model than its attention"),
        ("attention-norms", given, "needs the checkpoint"),
        ("attention-layer", None, "needs the checkpoint"),
    ):
        with pytest.raises(ValueError, match=words):
            bertscope.show(name, of)
    with pytest.raises(ValueError, match="queries and keys"):
        notebook.show_bertviz(kind="neuron", attentions=trace.attentions, tokens=trace.tokens)


def test_a_changed_message_keeps_its_numbers() -> None:
    numbers = np.arange(7, dtype=np.float32)
    message = transport.change(transport.pack({"a": 1}, numbers), heads=[3], b="\u05e9")
    length = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + length])
    assert (header["a"], header["heads"], header["b"]) == (1, [3], "\u05e9")
    start, size = header["blocks"][0]
    body = message[4 + length :]
    assert (np.frombuffer(body[start : start + size], np.float32) == numbers).all()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda t: notebook.show_lines(t, 2), "layer is 2, but this checkpoint has layers 0 to 1"),
        (lambda t: notebook.show_lines(t, 0, [4]), "head is 4, but a layer of this checkpoint has"),
        (lambda t: notebook.show_lines(t, between="2>0"), "'2>0' is no choice of this view"),
        (lambda t: notebook.show_overview(t, measure="fame"), "measure is 'fame'; expected one of"),
        (lambda t: notebook.show_map(t, []), "no layer is given"),
        (lambda t: notebook.show_neurons(t, query=999), "query is 999, but the text has tokens 0"),
        (lambda t: notebook.show_bertviz(t, "brain"), "kind is 'brain'; expected one of 'head'"),
        (lambda t: notebook.show_bertviz(t, "head", 7), "layer is 7, but this checkpoint has"),
    ],
)
def test_what_does_not_exist_is_said(
    trace: Trace, wrong: Callable[[Trace], object], said: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        wrong(trace)


@pytest.mark.parametrize("measure", ["norms", "zeroing", "rollout"])
def test_a_measure_beside_the_weights(
    measure: str, bert: Bert, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bertcore

    monkeypatch.setattr(bertcore, "load", lambda source: bert)
    view = notebook.show_map(trace, 1, 2, measure=measure, bert=bert)
    (code,) = re.findall(r'<pre class="code"><code>(.*?)</code></pre>', view.html, re.S)
    names: dict[str, Any] = {}
    exec(html.unescape(code), names)
    assert names["result"].values.sum(-1).tolist() == pytest.approx([1] * trace.num_tokens)
    for wrong, said in (
        ({"layers": [0, 1]}, "is of one layer"),
        *([] if measure == "rollout" else [({"bert": None}, "needs the model")]),
        ({"measure": "flow"}, "measure is 'flow'"),
    ):
        with pytest.raises(ValueError, match=said):
            notebook.show_map(trace, **{"layers": 1, "measure": measure, "bert": bert, **wrong})


def test_a_notebook_keeps_an_app_of_its_own(tmp_path: Path) -> None:
    """Somebody's app.py, imported before or after, is what `app` means to them."""
    (tmp_path / "app.py").write_text("whose = 'mine'\n", encoding="utf-8")
    script = (
        "import sys; sys.path.insert(0, '.')\n"
        "{before}\n"
        "import bertcore\n"
        "from bertscope.notebook import show_lines, show_neurons\n"
        "trace = bertcore.load('default').trace('the river')\n"
        "assert 'canvas' in show_lines(trace).html\n"
        "assert 'canvas' in show_neurons(trace).html\n"
        "import app\n"
        "assert app.whose == 'mine'\n"
    )
    for before in ("", "import app"):
        run = subprocess.run(
            [sys.executable, "-c", script.format(before=before)],
            cwd=tmp_path,
            env={"PYTHONPATH": str(ROOT), "PATH": "", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
