"""BertViz without a network and with hostile tokens."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import torch

from app.parts.bertviz_views.view import (
    HEAD_VIEW_TOKENS,
    MODEL_VIEW_TOKENS,
    MOST_NUMBERS,
    MOST_TOKENS,
    BertvizView,
    head_view,
    model_view,
    neuron_view,
)
from bertcore import Trace
from bertcore.analysis.heads.attention import all_neurons
from bertcore.analysis.mixing.neurons import head_neurons
from tests.support.tiny import tiny_bert

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
        assert hosts <= {"www.w3.org", "d3js.org", "github.com"}
        assert "default-src 'none'" in view.html


def test_libraries_are_inside() -> None:
    html = views(["a", "b"])[0].html
    assert "d3js.org/d3.v7" in html


def test_weights_are_sent_once_and_rounded() -> None:
    weights = attention(5)
    view = head_view(weights, list("abcde"))
    sent = torch.tensor(parameters(view)["attention"][0]["attn"])
    assert (sent - weights).abs().max() <= 0.5e-4 + 1e-6
    assert view.html.count(str(parameters(view)["attention"][0]["attn"][0][0][0])) == 1


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


# ---- the neuron view, which BertViz's own function draws of its own models only ----


@pytest.fixture(scope="module")
def trace() -> Trace:
    return tiny_bert().trace("the river bank was steep after the rain", "it had rained")


def neuron_parameters(view: BertvizView) -> dict:
    found = re.search(r"window\.bertviz_params = (\{.*\})", view.html)
    return json.loads(found[1])


def test_the_neuron_view_gets_the_numbers_of_the_trace(trace: Trace) -> None:
    sent = neuron_parameters(neuron_view(all_neurons(trace, 1, 2)))
    assert (sent["layer"], sent["head"], sent["bidirectional"]) == (1, 2, True)
    whole = sent["attention"]["all"]
    assert whole["left_text"] == whole["right_text"] == trace.tokens
    for name, numbers in (("queries", trace.queries), ("keys", trace.keys)):
        assert (torch.tensor(whole[name]) - numbers).abs().max() <= 0.5e-4 + 1e-6
    # What its script computes of them, q.k / sqrt(K) and the weights, is what the head computes.
    queries, keys = (torch.tensor(whole[name][1][2]) for name in ("queries", "keys"))
    scores = queries @ keys.T / queries.shape[-1] ** 0.5
    torch.testing.assert_close(scores, head_neurons(trace, 1, 2).scores, atol=2e-3, rtol=0)
    weights = torch.tensor(whole["attn"][1][2])
    torch.testing.assert_close(weights, trace.attentions[1, 2], atol=1e-4, rtol=0)


def test_the_neuron_view_of_a_pair_has_its_sentence_filters(trace: Trace) -> None:
    sent = neuron_parameters(neuron_view(all_neurons(trace)))["attention"]
    second = trace.text_ids.index(1)
    assert list(sent) == ["all", "aa", "ab", "ba", "bb"]
    assert sent["ba"]["left_text"] == trace.tokens[second:]
    assert sent["ba"]["right_text"] == trace.tokens[:second]
    torch.testing.assert_close(
        torch.tensor(sent["ba"]["attn"]),
        trace.attentions[:, :, second:, :second],
        atol=1e-4,
        rtol=0,
    )
    torch.testing.assert_close(
        torch.tensor(sent["ba"]["keys"]), trace.keys[:, :, :second], atol=1e-4, rtol=0
    )
    one = neuron_view(all_neurons(tiny_bert().trace("the river")))
    assert list(neuron_parameters(one)["attention"]) == ["all"]
    assert 'value="ab"' not in one.html


def test_tokens_cannot_leave_the_neuron_view(trace: Trace) -> None:
    tokens = [*HOSTILE, *trace.tokens][: trace.num_tokens]
    hostile = neuron_view(all_neurons(replace(trace, tokens=tokens)))
    assert neuron_parameters(hostile)["attention"]["all"]["left_text"] == tokens
    page = parsed(hostile)
    assert len(page.scripts) == 3  # the libraries, the numbers, BertViz's own
    assert not {"src", "href"} & {name for _, names in page.tags for name in names}
    island = page.scripts[1]
    assert "\\u003c" in island
    assert not set("<>&\u2028\u2029") & set(island.replace("Sentence A -> ", ""))


def test_a_long_text_shows_the_first_tokens_of_the_neuron_view() -> None:
    long = tiny_bert().trace("the river bank " * 30)
    view = neuron_view(all_neurons(long))
    assert (view.shown, view.total) == (MOST_TOKENS, long.num_tokens)
    shape = torch.tensor(neuron_parameters(view)["attention"]["all"]["queries"]).shape
    assert shape[2] == MOST_TOKENS
    assert shape.numel() * 2 <= MOST_NUMBERS
