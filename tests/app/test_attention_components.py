"""What the attention components send, and what is said about a head.

Run: pytest tests/app/test_attention_components.py
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from app import theme
from app.components import attention_overview, attention_view, transport
from app.figures.attention_data import attention_code, layer_arrays, mean_weights, shown_heads
from app.figures.attention_heatmap import MAX_NUMBERED, attention_heatmap, heatmap_table
from app.figures.head_sentence import head_sentence
from bertcore import Trace
from bertcore.analysis.heads import measure_heads
from tests.bertcore.tiny import tiny_bert

HOSTILE = ["</script><img src=x onerror=alert(1)>", "\u202eabc", "<b>bold</b>", "\u2028"]


@pytest.fixture(scope="module")
def pair() -> Trace:
    return tiny_bert().trace("The river bank was steep.", "It had rained.")


def read(message: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Read a message as transport.js does."""
    length = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + length])
    body = message[4 + length :]
    return header, [body[start : start + size] for start, size in header["blocks"]]


# ---- lines ----


def test_lines_send_one_layer_as_bytes(pair: Trace) -> None:
    header, (codes, table) = read(attention_view.message(pair, 1, [2], revision=7))
    num_heads, num_tokens = pair.attentions.shape[1:3]
    assert len(codes) == num_heads * num_tokens * num_tokens
    decoded = np.frombuffer(table, np.float32)[np.frombuffer(codes, np.uint8)]
    error = np.abs(decoded.reshape(pair.attentions[1].shape) - pair.attentions[1].numpy())
    assert error.max() <= transport.MAX_ERROR
    assert header["tokens"] == pair.tokens
    assert (header["layer"], header["heads"], header["revision"]) == (1, [2], 7)
    assert header["is_pair"]


def test_lines_of_128_tokens_and_12_heads_stay_small() -> None:
    """BertViz needs 108 MB for all layers of such a text; one layer here is 0.2 MB."""
    trace = tiny_bert().trace("the")
    weights = torch.softmax(torch.randn(1, 12, 128, 128), -1)
    activations = replace(trace.activations, attentions=weights)
    long = replace(
        trace,
        tokens=["word"] * 128,
        text_ids=[0] * 128,
        segment_ids=[0] * 128,
        activations=activations,
    )
    assert len(attention_view.message(long, 0, [])) < 12 * 128 * 128 + 5000


@pytest.mark.parametrize("num_heads", [1, 12, 16, 64])
def test_every_head_has_a_colour_of_its_own(num_heads: int) -> None:
    colours = attention_view.head_colours(num_heads)
    assert len(set(colours)) == num_heads
    assert all(len(colour) == 7 and int(colour[1:], 16) >= 0 for colour in colours)
    assert tuple(colours[:12]) == theme.CATEGORICAL[:num_heads]


# ---- overview ----


def test_overview_sends_thumbnails_and_measures(pair: Trace) -> None:
    measures = measure_heads(pair.attentions, pair.text_ids, pair.tokens)
    small = transport.thumbnails(pair.attentions)
    summary = attention_overview.Summary(small, measures)
    header, (codes, colours, _) = read(attention_overview.message(summary, pair.num_tokens, 0, []))
    assert codes == small.tobytes()
    assert len(colours) == 256 * 3
    num_layers, num_heads = pair.attentions.shape[:2]
    sent = np.array(header["measures"]["a_to_b"]).reshape(num_layers, num_heads)
    assert np.abs(sent - measures.a_to_b.numpy()).max() < 1e-4
    assert {name for name, _ in header["shares"]} <= set(header["measures"])


def test_overview_sends_nothing_for_what_does_not_exist() -> None:
    trace = tiny_bert().trace("the river")
    summary = attention_overview.Summary(
        transport.thumbnails(trace.attentions),
        measure_heads(trace.attentions, trace.text_ids, trace.tokens),
    )
    header, _ = read(attention_overview.message(summary, trace.num_tokens, 0, []))
    assert set(header["measures"]["a_to_b"]) == {None}


def test_colour_table_is_the_scale_of_the_charts() -> None:
    table = attention_overview.colour_table()
    assert table.shape == (256, 3)
    # From dark to light without turning back, or weights could not be told by their colour.
    lightness = table @ np.array([0.2126, 0.7152, 0.0722])
    assert (np.diff(lightness) > -0.5).all()
    assert lightness[255] - lightness[0] > 150


# ---- heat map and data ----


def test_heat_map_holds_exact_weights_and_safe_names() -> None:
    weights = torch.softmax(torch.randn(4, 4), -1).numpy()
    fig = attention_heatmap(weights, HOSTILE, "Layer 0, head 0")
    heat = fig.data[0]
    assert np.array_equal(heat.customdata, weights)
    assert np.allclose(np.square(heat.z), weights, atol=1e-6)
    assert not any("<" in name for name in heat.x)
    assert len(set(heat.x)) == len(HOSTILE)
    assert heat.texttemplate


def test_heat_map_of_long_texts_shows_no_numbers_in_cells() -> None:
    size = MAX_NUMBERED + 1
    weights = np.full((size, size), 1 / size, np.float32)
    fig = attention_heatmap(weights, ["same"] * size, "")
    assert fig.data[0].texttemplate is None
    assert len(set(fig.data[0].x)) == size  # equal tokens must not fall onto one row


def test_table_has_one_row_for_each_token(pair: Trace) -> None:
    weights, _ = mean_weights(pair, 0, [1])
    table = heatmap_table(weights, pair.tokens)
    assert table.shape == (pair.num_tokens, pair.num_tokens + 1)
    assert table.iloc[0, 1:].sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("heads", "words"),
    [([2], "head 2"), ([0, 3], "mean of heads 0, 3"), ([], "mean of all 4 heads")],
)
def test_mean_weights_of_the_open_heads(pair: Trace, heads: list[int], words: str) -> None:
    weights, title = mean_weights(pair, 1, heads)
    chosen = heads or [0, 1, 2, 3]
    expected = sum(pair.attentions[1, head] for head in chosen) / len(chosen)
    assert np.allclose(weights, expected, atol=1e-6)
    assert np.allclose(weights.sum(-1), 1, atol=1e-5)
    assert words in title


def test_all_of_one_head_is_that_head() -> None:
    assert shown_heads([], 1) == [0]
    assert shown_heads([], 4) == []
    assert shown_heads([3, 2, 3], 4) == [2, 3]


@pytest.mark.parametrize("heads", [[2], [0, 3], []])
def test_the_python_that_is_offered_gives_the_same_numbers(
    pair: Trace, heads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    import bertcore

    monkeypatch.setattr(bertcore, "load", lambda source: tiny_bert())
    names: dict[str, Any] = {}
    exec(attention_code("default", pair, 1, heads), names)
    assert np.allclose(names["weights"], mean_weights(pair, 1, heads)[0])


def test_layer_arrays_can_be_saved(pair: Trace) -> None:
    arrays = layer_arrays(pair, 1)
    assert np.array_equal(arrays["attention"], pair.attentions[1].numpy())
    assert arrays["tokens"].tolist() == pair.tokens
    assert all(array.dtype != object for array in arrays.values())  # no pickle in the file


# ---- the sentence ----


def of(**shares: float) -> dict[str, float]:
    kinds = ("to_previous", "to_next", "to_self", "to_first", "to_separator")
    return {kind: shares.get(kind, 0.0) for kind in kinds} | {"entropy": shares.get("entropy", 0.5)}


def test_sentence_names_the_strongest_habit() -> None:
    said = head_sentence(of(to_previous=0.81, to_next=0.12), 3, [2], 20)
    assert said.startswith("Layer 3 head 2 looks mostly at the token before: 81%")
    assert "12% to the token after" in said
    assert "often looks at [SEP]: 30%" in head_sentence(of(to_separator=0.3), 0, [1], 20)


def test_sentence_knows_broad_and_unplaced_heads() -> None:
    broad = head_sentence(of(to_self=0.05, entropy=0.95 * math.log(20)), 0, [1], 20)
    assert "looks broadly" in broad
    assert "no single habit" in head_sentence(of(to_self=0.1, entropy=0.9), 0, [1], 20)
    assert "mean of heads 1, 2" in head_sentence(of(to_self=0.1, entropy=2.9), 0, [1, 2], 20)


def test_sentence_of_a_single_token() -> None:
    nothing = dict.fromkeys(of(), math.nan)
    assert "only one token" in head_sentence(nothing, 0, [0], 1)
