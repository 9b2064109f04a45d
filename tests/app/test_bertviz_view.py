"""BertViz without a network and with hostile tokens. Run: pytest tests/app/test_bertviz_view.py"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
import torch

from app.components.bertviz_view import (
    HEAD_VIEW_TOKENS,
    MODEL_VIEW_TOKENS,
    BertvizView,
    head_view,
    model_view,
)

HOSTILE = [
    "[CLS]",
    "</script><script>window.hacked = 1</script>",
    "<!--",
    "<img src=x onerror='window.hacked=1'>",
    "&quot;",
    "\u2028",
    "\u2029",
    '"];alert(1);//',
    "PYTHON_PARAMS",
    "bertscope-token-0-",
    "\u05e9\u05dc\u05d5\u05dd",
    "\U0001f642",
    "[SEP]",
]


def attention(num_tokens: int, num_layers: int = 2, num_heads: int = 3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(num_layers, num_heads, num_tokens, num_tokens, generator=generator)
    return scores.softmax(-1)


def views(tokens: list[str], second_start: int | None = None) -> list[BertvizView]:
    weights = attention(len(tokens))
    return [
        head_view(weights, tokens, second_start=second_start, layer=1),
        model_view(weights, tokens, second_start=second_start),
    ]


class Scripts(HTMLParser):
    """Collect what a browser takes as scripts, and every tag."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += data


def parsed(view: BertvizView) -> Scripts:
    parser = Scripts()
    parser.feed(view.html)
    return parser


def parameters(view: BertvizView) -> dict:
    """Return what BertViz's script gets."""
    found = re.search(r"const params = (\{.*\});", view.html)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.parametrize("second_start", [None, 7])
def test_tokens_cannot_leave_the_script(second_start: int | None) -> None:
    for view in views(HOSTILE, second_start):
        page = parsed(view)
        # The libraries and BertViz's own; no token started a third, or any other element.
        assert len(page.scripts) == 2
        assert "img" not in [tag for tag, _ in page.tags]
        island = view.html[view.html.index("const params") :].split("\n")[0]
        own_words = island.replace(" -> Sentence", "")  # BertViz's names of its filters
        assert not set("<>&\u2028\u2029") & set(own_words)


def test_tokens_arrive_as_they_are() -> None:
    for view in views(HOSTILE):
        assert parameters(view)["attention"][0]["left_text"] == HOSTILE
        assert parameters(view)["attention"][0]["right_text"] == HOSTILE


def test_no_request_leaves_the_frame() -> None:
    for view in views(HOSTILE):
        for tag, attributes in parsed(view).tags:
            assert not {"src", "href"} & set(attributes), (tag, attributes)
        assert "cdnjs" not in view.html
        assert "require.config({" not in view.html
        # What is left are names that d3 compares, and its licence line: nothing is fetched.
        hosts = set(re.findall(r"https?://([\w.]+)", view.html))
        assert hosts <= {"www.w3.org", "d3js.org"}
        assert "default-src 'none'" in view.html


def test_libraries_are_inside() -> None:
    html = views(["a", "b"])[0].html
    assert "d3js.org v5" in html
    assert "jQuery v3" in html


def test_weights_are_sent_once_and_rounded() -> None:
    weights = attention(5)
    view = head_view(weights, list("abcde"))
    sent = torch.tensor(parameters(view)["attention"][0]["attn"])
    assert (sent - weights).abs().max() <= 0.5e-4 + 1e-6
    assert view.html.count(str(parameters(view)["attention"][0]["attn"][0][0][0])) == 1


def test_choices_reach_bertviz() -> None:
    chosen = parameters(head_view(attention(4), list("abcd"), layer=1, heads=[2]))
    assert (chosen["layer"], chosen["heads"]) == (1, [2])
    everything = parameters(head_view(attention(4), list("abcd"), layer=0))
    assert everything["heads"] is None


def test_pairs_get_the_sentence_filter() -> None:
    names = [part["name"] for part in parameters(views(HOSTILE, 7)[0])["attention"]]
    assert names[0] == "All"
    assert len(names) == 5


def test_long_texts_show_the_first_tokens_and_say_so() -> None:
    tokens = [f"t{i}" for i in range(100)]
    weights = attention(100, 1, 1)
    head = head_view(weights, tokens, second_start=90)
    model = model_view(weights, tokens, second_start=90)
    assert (head.shown, model.shown) == (HEAD_VIEW_TOKENS, MODEL_VIEW_TOKENS)
    assert head.total == model.total == 100
    shown = parameters(head)["attention"]
    assert shown[0]["left_text"] == tokens[:HEAD_VIEW_TOKENS]
    assert len(shown) == 1  # text B is not among what is shown: no filter for it
    rows = torch.tensor(shown[0]["attn"]).sum(-1)
    assert (rows < 1).any()
