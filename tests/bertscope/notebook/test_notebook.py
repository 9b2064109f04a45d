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

from app.canvas.shared import transport
from bertcore import Bert, Trace
from bertcore.analysis.compare.before_after import compare_runs
from bertcore.analysis.compare.minimal_pair import aligned_attention
from bertcore.analysis.heads.importance import rank_heads
from bertcore.analysis.heads.report import HeadReport, report_heads
from bertcore.analysis.heads.texts import bundled_trees, read_texts
from bertcore.analysis.shared.inputs import masked_encoding
from bertcore.interventions import Changes
from bertscope import notebook
from bertscope.notebook import NotebookView
from tests.support.tiny import tiny_bert

ROOT = Path(__file__).resolve().parents[3]
CHANGES = Changes(heads_off=frozenset({(0, 1)}), pattern="causal")
HOSTILE = "</script><img src=x onerror=alert(1)> \u202edrow\u2028 the river"


@pytest.fixture(scope="module")
def bert() -> Bert:
    return tiny_bert()


@pytest.fixture(scope="module")
def report(bert: Bert) -> HeadReport:
    trees = bundled_trees()
    texts = read_texts(b"The river bank was steep.\nIt had rained all night.", "two.txt")
    return report_heads(bert, texts, trees, num_resamples=100)


@pytest.fixture(scope="module")
def trace(bert: Bert) -> Trace:
    return bert.trace(HOSTILE, "It had rained.")


SHOWN: dict[str, Callable[[Bert, Trace], NotebookView]] = {
    "overview": lambda bert, trace: notebook.show_overview(trace, bert=bert),
    "lines": lambda bert, trace: notebook.show_lines(trace, 1, [2], bert=bert),
    "map": lambda bert, trace: notebook.show_map(trace, 1, 2, bert=bert),
    "neurons": lambda bert, trace: notebook.show_neurons(trace, 1, 2, query=3, bert=bert),
    "norms": lambda bert, trace: notebook.show_map(trace, 1, measure="norms", bert=bert),
    "what if": lambda bert, trace: notebook.show_what_if(bert, trace, CHANGES, masked=[2]),
    "ranking": lambda bert, trace: notebook.show_ranking(bert, trace, masked=[2]),
    "minimal pair": lambda bert, trace: notebook.show_minimal_pair(
        bert, trace, bert.trace(HOSTILE + " [MASK]", "It had [MASK].")
    ),
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
    headers = held(notebook.show_lines(trace, 1, [2], words=True, between="0>1", looking=[3]))
    assert [header["layer"] for header in headers] == [1, 0]
    assert headers[0]["heads"] == [2]
    assert headers[0]["sent"] == [0, 1, 2, 3]
    assert headers[0]["alone"] == [0, 1]
    look = headers[0]["look"]
    assert (look["words"], look["filter"], look["chosen"]) == (True, "0>1", "l3")


@pytest.mark.parametrize("show", [notebook.show_lines, notebook.show_overview, notebook.show_map])
def test_arrays_of_any_model_are_shown(show: Callable[..., NotebookView], trace: Trace) -> None:
    arrays = tuple(layer[None] for layer in trace.attentions)
    shown = held(show(attentions=arrays, tokens=trace.tokens, text_ids=trace.text_ids))
    assert shown[0].get("tokens", trace.tokens) == trace.tokens
    assert shown[0]["num_layers"] == len(arrays)
    for wrong in ({"trace": trace, "attentions": arrays}, {"attentions": arrays}, {}):
        with pytest.raises(ValueError, match="what to show is not clear"):
            show(**wrong)


def test_a_changed_message_keeps_its_numbers() -> None:
    numbers = np.arange(7, dtype=np.float32)
    message = transport.change(transport.pack({"a": 1}, numbers), heads=[3], b="\u05e9")
    length = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + length])
    assert (header["a"], header["heads"], header["b"]) == (1, [3], "\u05e9")
    start, size = header["blocks"][0]
    body = message[4 + length :]
    assert (np.frombuffer(body[start : start + size], np.float32) == numbers).all()


def drawn(view: NotebookView) -> list[dict[str, Any]]:
    """Return the figures that a file holds, each with its numbers."""
    blocks = re.findall(r'<script type="text/plain" id="([^"]*)">([^<]*)</script>', view.html)
    libraries = [name for name, data in blocks if len(data) > 500_000]
    assert len(libraries) == 1  # Plotly is there once, however many figures there are
    return [json.loads(base64.b64decode(data)) for name, data in blocks if name not in libraries]


def test_what_if_shows_both_runs(bert: Bert, trace: Trace) -> None:
    view = notebook.show_what_if(bert, trace, CHANGES, masked=[2])
    names = re.findall(r"<h2>(.*?)</h2>", view.html)
    assert len(names) == 4
    words, _, _, grid = drawn(view)
    encoding = masked_encoding(bert, trace.text_a, trace.text_b, (2,))
    runs = [
        bert.trace(trace.text_a, trace.text_b, encoding=encoding, changes=changes)
        for changes in (Changes(), CHANGES)
    ]
    found = compare_runs(bert, *runs)
    assert numbers(words["data"][0]["x"]) == pytest.approx(found.shifts[0].before)
    assert numbers(words["data"][1]["x"]) == pytest.approx(found.shifts[0].after)
    assert numbers(grid["data"][0]["z"]) == pytest.approx(found.attention_change.ravel())
    assert not np.allclose(found.attention_change, 0)


def test_a_minimal_pair_shows_the_difference(bert: Bert, trace: Trace) -> None:
    second = bert.trace(HOSTILE.replace("river", "bank"), "It had rained.")
    view = notebook.show_minimal_pair(bert, trace, second, layer=0, head=2)
    assert "Second version, Text A" in view.html
    figure = next(f for f in drawn(view) if "attended to" in str(f["layout"]["xaxis"]["title"]))
    both = (trace.text_b or "", second.text_b or "")
    wanted = aligned_attention(bert, trace.text_a, second.text_a, both, 0, 2)
    difference = np.abs(wanted.second - wanted.first)
    assert np.nanmax(np.abs(numbers(figure["data"][0]["z"]))) == pytest.approx(
        np.nanmax(difference), abs=1e-6
    )


def test_a_ranking_shows_the_effect_of_each_head(bert: Bert, trace: Trace) -> None:
    view = notebook.show_ranking(bert, trace, masked=[2], measure="hidden")
    (figure,) = drawn(view)
    found = rank_heads(bert, trace.text_a, trace.text_b, (2,))
    assert numbers(figure["data"][0]["z"]) == pytest.approx(found.hidden.ravel(), abs=1e-6)


def test_heads_over_many_sentences(bert: Bert, report: HeadReport) -> None:
    grid, bars = drawn(notebook.show_heads(bert, report, "to_next"))
    assert numbers(grid["data"][0]["z"]) == pytest.approx(
        report.statistics.of("to_next").mean.ravel()
    )
    num_heads = bert.config.num_attention_heads
    best = divmod(int(report.statistics.of("to_next").mean.argmax()), num_heads)
    assert f"layer {best[0]} head {best[1]}" in json.dumps(bars).lower()
    grid, _ = drawn(notebook.show_heads(bert, report, "det", "to_head", opened=(1, 3)))
    wanted = report.scores.accuracy("det", "to_head").mean
    assert numbers(grid["data"][0]["z"]) == pytest.approx(wanted.ravel())


def numbers(of: Any) -> list[float]:
    """Return an array of a figure, which Plotly writes as base64 or as lists."""
    if isinstance(of, dict):
        kind = {"f4": np.float32, "f8": np.float64}[of["dtype"]]
        return np.frombuffer(base64.b64decode(of["bdata"]), kind).tolist()
    return np.asarray(of, float).ravel().tolist()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda t: notebook.show_lines(t, 2), "layer is 2, but this checkpoint has layers 0 to 1"),
        (lambda t: notebook.show_lines(t, 0, [4]), "head is 4, but a layer of this checkpoint has"),
        (lambda t: notebook.show_lines(t, between="2>0"), "'2>0' is no choice of this view"),
        (lambda t: notebook.show_lines(t, looked_at=[-1]), "token is -1, but the text has tokens"),
        (lambda t: notebook.show_overview(t, measure="fame"), "measure is 'fame'; expected one of"),
        (lambda t: notebook.show_map(t, []), "no layer is given"),
        (lambda t: notebook.show_map(t, rows="best"), "'best' is no choice of this view"),
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


def test_what_was_not_measured_is_said(bert: Bert, trace: Trace, report: HeadReport) -> None:
    with pytest.raises(ValueError, match="'fame' was not measured; expected one of to_previous"):
        notebook.show_heads(bert, report, "fame")
    with pytest.raises(ValueError, match=r"opened is \(9, 0\); expected a layer from 0 to 1"):
        notebook.show_heads(bert, report, opened=(9, 0))
    with pytest.raises(ValueError, match="measure is 'word'; expected one of next_sentence"):
        notebook.show_ranking(bert, trace, measure="word")
    with pytest.raises(ValueError, match="Give two pairs or two single texts"):
        notebook.show_minimal_pair(bert, trace, bert.trace("alone"))


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


@pytest.mark.parametrize("name", ["what if", "ranking", "minimal pair"])
def test_the_python_of_a_view_runs(
    name: str, bert: Bert, trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    import bertcore

    monkeypatch.setattr(bertcore, "load", lambda source: bert)
    view = SHOWN[name](bert, trace)
    (code,) = re.findall(r'<pre class="code"><code>(.*?)</code></pre>', view.html, re.S)
    names: dict[str, Any] = {}
    exec(html.unescape(code), names)
    shown = {
        "what if": lambda: names["result"].runs.attention_change,
        "ranking": lambda: getattr(names["result"], names["result"].measures()[0]),
        # Of a long text the columns that differ most are drawn.
        "minimal pair": lambda: np.nanmax(names["result"].second - names["result"].first),
    }[name]()
    grids = [f for f in drawn(view) if f["data"][0]["type"] == "heatmap"]
    found = [numbers(figure["data"][0]["z"]) for figure in grids]
    if name == "minimal pair":
        found = [[np.nanmax(values)] for values in found]
    assert any(one == pytest.approx(shown.ravel(), abs=1e-6) for one in found)


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
