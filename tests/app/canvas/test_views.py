"""What the attention components send, and what is said about a head."""

from __future__ import annotations

import base64
import json
import math
import re
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from app.attention.page import head_sentence
from app.canvas.heat_map import heat_map
from app.canvas.lines import lines
from app.canvas.overview import overview
from app.canvas.shared import transport
from app.canvas.shared.attention_data import (
    layer_arrays,
    mean_weights,
    missing_sentence,
    opening,
    shown_heads,
    weights_code,
    words_of,
)
from app.canvas.shared.view_options import read_options, write_options
from app.canvas.views import LINES, MAP
from app.plots import theme
from bertcore import Trace
from bertcore.analysis.heads.measures import MEASURES, measure_heads
from tests.support.attention_words import merge_to_words
from tests.support.tiny import tiny_bert, tiny_config


@pytest.fixture(scope="module")
def pair() -> Trace:
    return tiny_bert().trace("The river bank was steep.", "It had rained.")


def read(message: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """Read a message as transport.js does."""
    length = int.from_bytes(message[:4], "little")
    header = json.loads(message[4 : 4 + length])
    body = message[4 + length :]
    parts = []
    for start, size, *is_deflated in header["blocks"]:
        part = body[start : start + size]
        parts.append(zlib.decompress(part) if is_deflated else part)
    return header, parts


# ---- lines ----


@pytest.mark.parametrize("heads", [[2], [0, 3], []])
def test_lines_send_the_shown_heads_as_bytes(
    pair: Trace, heads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "SMALL", 0)
    header, (codes, table, flags) = read(lines.message(pair, 1, heads, revision=7))
    sent = heads or list(range(pair.attentions.shape[1]))
    weights = pair.attentions[1][sent].numpy()
    decoded = np.frombuffer(table, np.float32)[np.frombuffer(codes, np.uint8)]
    assert np.abs(decoded.reshape(weights.shape) - weights).max() <= transport.MAX_ERROR
    assert header["tokens"] == pair.tokens
    assert (header["layer"], header["heads"], header["revision"]) == (1, heads, 7)
    assert (header["sent"], header["broken"], header["missing"], flags) == (sent, [], "", b"")
    assert header["is_pair"]


def test_lines_of_a_short_text_have_all_heads_at_hand(pair: Trace) -> None:
    header, (codes, *_) = read(lines.message(pair, 1, [2]))
    assert (header["heads"], header["sent"]) == ([2], [0, 1, 2, 3])
    assert len(codes) == pair.attentions[1].numel()


def test_lines_know_one_checkpoint_from_another(pair: Trace) -> None:
    """The browser keeps heads that it has: only for the same weights."""
    marks = [read(lines.message(pair, 1, [head]))[0]["weights"] for head in (0, 1)]
    other = tiny_bert(seed=1).trace(pair.text_a, pair.text_b)
    marks.append(read(lines.message(other, 1, [0]))[0]["weights"])
    assert marks[0] == marks[1] != marks[2]


def with_weights(trace: Trace, weights: torch.Tensor) -> Trace:
    """Return a trace of as many equal tokens as the weights [L, H, T, T] have."""
    size = weights.shape[-1]
    return replace(
        trace,
        tokens=["word"] * size,
        text_ids=[0] * size,
        segment_ids=[0] * size,
        word_ids=list(range(size)),
        offsets=[(0, 0)] * size,
        activations=replace(trace.activations, attentions=weights),
    )


def test_every_view_of_12_heads_and_512_tokens_stays_small(pair: Trace) -> None:
    torch.manual_seed(0)
    long = with_weights(pair, torch.softmax(torch.randn(1, 12, 512, 512) * 1.5, -1))
    weights, title = mean_weights(long, [0], [])
    sizes = [
        len(lines.message(long, 0, [])),
        len(heat_map.message(long, heat_map.Mapped(weights, title), [0], [])),
        len(overview.message(overview.summary_of(long), 512, 0, [])),
    ]
    assert max(sizes) < 2_500_000
    assert len(lines.message(long, 0, [5])) < 200_000


def test_views_show_what_is_not_a_number(pair: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = pair.attentions.clone()
    weights[1, 2, 3] = torch.nan
    broken = replace(pair, activations=replace(pair.activations, attentions=weights))
    size = pair.num_tokens
    monkeypatch.setattr(lines, "SMALL", 0)
    header, (_, _, flags) = read(lines.message(broken, 1, [1, 2]))
    assert header["broken"] == [2]
    assert np.array_equal(
        np.flatnonzero(np.unpackbits(np.frombuffer(flags, np.uint8))), np.arange(3 * size, 4 * size)
    )
    assert header["missing"].startswith(
        f"{size} of {2 * size**2} weights are not numbers (NaN), in layer 1 head 2."
    )
    assert read(lines.message(broken, 0, []))[0]["missing"] == ""

    summary = overview.summary_of(broken)
    header, (*_, flags) = read(overview.message(summary, size, 0, []))
    assert header["broken"] == [1 * 4 + 2]
    assert np.unpackbits(np.frombuffer(flags, np.uint8)).sum() == size  # T < 48: nothing pooled
    assert "in layer 1 head 2" in header["missing"]
    assert header["measures"]["entropy"][6] is None
    assert header["measures"]["entropy"][5] is not None

    mean, title = mean_weights(broken, [0, 1], [])
    header, _ = read(heat_map.message(broken, heat_map.Mapped(mean, title), [0, 1], []))
    assert f"{size} of {8 * size**2:,} weights" in header["missing"]
    assert np.isnan(mean).any(1).sum() == 1


def test_the_sentence_about_missing_numbers_names_heads_and_counts_layers() -> None:
    counts = np.zeros((12, 12), np.int64)
    assert missing_sentence(counts, 5) == ""
    counts[3, [0, 7]] = 25
    assert "in layer 3 heads 0, 7." in missing_sentence(counts, 5)
    counts[4:] = 25
    said = missing_sentence(counts, 5)
    assert "2,450 of 3,600 weights" in said
    assert "layer 4 all 12 heads; layer 5" in said
    assert "and 3 more layers" in said


@pytest.mark.parametrize("num_heads", [1, 12, 16, 64])
def test_every_head_has_a_colour_of_its_own(num_heads: int) -> None:
    colours = lines.head_colours(num_heads)
    assert len(set(colours)) == num_heads
    assert all(len(colour) == 7 and int(colour[1:], 16) >= 0 for colour in colours)
    assert tuple(colours[:12]) == theme.CATEGORICAL[:num_heads]


# ---- overview ----


def test_overview_sends_thumbnails_and_measures(pair: Trace) -> None:
    measures = measure_heads(pair.attentions, pair.text_ids, pair.tokens)
    summary = overview.summary_of(pair)
    message = overview.message(summary, pair.num_tokens, 0, [])
    header, (codes, colours, _, _) = read(message)
    assert codes == transport.thumbnails(pair.attentions).codes.tobytes()
    assert len(colours) == 256 * 3
    num_layers, num_heads = pair.attentions.shape[:2]
    sent = np.array(header["measures"]["a_to_b"]).reshape(num_layers, num_heads)
    assert np.abs(sent - measures.a_to_b.numpy()).max() < 1e-4
    assert list(header["names"]) == list(header["measures"])


def test_a_causal_head_that_spreads_over_all_earlier_tokens_is_even() -> None:
    bert = tiny_bert(tiny_config(is_decoder=True), heads=frozenset({"mlm"}))
    for layer in bert.module.layers:
        for parameter in layer.attention.query.parameters():
            torch.nn.init.zeros_(parameter)
    trace = bert.trace("the river bank was steep")
    measured = overview.summary_of(trace, is_causal=True).measures
    torch.testing.assert_close(measured.evenness, torch.ones_like(measured.evenness))
    part = overview.part(trace, 0, is_causal=True)
    header, _ = read(base64.b64decode(part.data[0]))
    assert np.allclose(header["measures"]["evenness"], 1, atol=1e-4)


def test_every_measure_has_a_name_of_its_own() -> None:
    assert set(overview.NAMES) == set(MEASURES)
    labels = [name.label for name in overview.NAMES.values()]
    assert len(set(labels)) == len(labels)


def test_overview_sends_nothing_for_what_does_not_exist() -> None:
    trace = tiny_bert().trace("the river")
    summary = overview.summary_of(trace)
    header, _ = read(overview.message(summary, trace.num_tokens, 0, []))
    assert set(header["measures"]["a_to_b"]) == {None}


def test_colour_table_is_the_scale_of_the_charts() -> None:
    table = overview.colour_table()
    assert table.shape == (256, 3)
    # From dark to light without turning back, or weights could not be told by their colour.
    lightness = table @ np.array([0.2126, 0.7152, 0.0722])
    assert (np.diff(lightness) > -0.5).all()
    assert lightness[255] - lightness[0] > 150


# ---- heat map ----


def test_heat_map_sends_the_weights_themselves(pair: Trace) -> None:
    weights, title = mean_weights(pair, [0, 1], [])
    header, (values, colours) = read(
        heat_map.message(pair, heat_map.Mapped(weights, title), [0, 1], [], 3)
    )
    assert np.array_equal(np.frombuffer(values, np.float32).reshape(weights.shape), weights)
    assert len(colours) == 256 * 3
    assert header["tokens"] == pair.tokens
    assert (header["layers"], header["heads"], header["revision"]) == ([0, 1], [], 3)


def test_heat_map_lets_the_browser_show_what_is_no_number(pair: Trace) -> None:
    weights = np.full((pair.num_tokens, pair.num_tokens), np.nan, np.float32)
    _, (values, _) = read(heat_map.message(pair, heat_map.Mapped(weights, ""), [0], [0]))
    assert np.isnan(np.frombuffer(values, np.float32)).all()


# ---- words ----


def test_words_have_their_names_as_in_the_text() -> None:
    trace = tiny_bert().trace("The river fishing.", "steep")
    words = words_of(trace)
    assert words.names == ["[CLS]", "The", "river", "fishing", ".", "[SEP]", "steep", "[SEP]"]
    assert len(words.starts) < trace.num_tokens  # "fishing" is of several pieces
    assert [
        trace.word_ids[start] for start in words.starts if trace.word_ids[start] >= 0
    ] == sorted({word for word in trace.word_ids if word >= 0})


def test_words_are_looked_at_as_a_sum_and_look_as_a_mean() -> None:
    """Three tokens, of which the last two are one word, worked by hand."""
    weights = np.array([[0.5, 0.2, 0.3], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]], np.float32)
    merged = merge_to_words(weights, [0, 1])
    assert np.allclose(merged, [[0.5, 0.5], [0.2, 0.8]])


def test_merged_rows_still_sum_to_one(pair: Trace) -> None:
    merged = merge_to_words(pair.attentions.numpy(), words_of(pair).starts)
    assert merged.shape[:2] == pair.attentions.shape[:2]
    assert np.allclose(merged.sum(-1), 1, atol=1e-5)


# ---- how one looks, in the address ----


@pytest.mark.parametrize("view", [overview, lines, heat_map])
def test_looks_go_through_the_address(view: Any) -> None:
    assert write_options(view.DEFAULT_OPTIONS, view.DEFAULT_OPTIONS) == ""
    assert read_options("", view.DEFAULT_OPTIONS, view.OPTION_CHOICES) == view.DEFAULT_OPTIONS
    other = dict(view.DEFAULT_OPTIONS)
    for name, default in view.DEFAULT_OPTIONS.items():
        if isinstance(default, bool):
            other[name] = not default
        elif isinstance(default, str):
            options = view.OPTION_CHOICES[name]
            forms = {"chosen": "l2.5r7", "seen": "12.5-0-40"}
            other[name] = forms[name] if isinstance(options, re.Pattern) else options[-1]
        else:
            other[name] = 0.125
    assert other != view.DEFAULT_OPTIONS
    assert (
        read_options(
            write_options(other, view.DEFAULT_OPTIONS), view.DEFAULT_OPTIONS, view.OPTION_CHOICES
        )
        == other
    )


@pytest.mark.parametrize(
    "wrong", ["limit:nan", "limit:x", "order:<b>", "lowest:7", ":::,,:", "a:b"]
)
def test_a_wrong_address_opens_as_by_default(wrong: str) -> None:
    view = overview
    assert read_options(wrong, view.DEFAULT_OPTIONS, view.OPTION_CHOICES) == view.DEFAULT_OPTIONS


@pytest.mark.parametrize(
    "wrong", ["l", "r", "l1.", "x1", "l1r", "r1l2", "l" + "1." * 300 + "1", "l123456"]
)
def test_a_choice_of_tokens_that_is_none_is_left_out(wrong: str) -> None:
    view = lines
    options = read_options(f"words:1,chosen:{wrong}", view.DEFAULT_OPTIONS, view.OPTION_CHOICES)
    assert (options["chosen"], options["words"]) == ("", True)


@pytest.mark.parametrize("wrong", ["1-2", "1-2-3-4", "-1-2-3", "1-2-x", "1e9-2-3", "123456-1-2"])
def test_a_part_of_the_map_that_is_none_is_left_out(wrong: str) -> None:
    options = read_options(
        f"words:1,seen:{wrong}", heat_map.DEFAULT_OPTIONS, heat_map.OPTION_CHOICES
    )
    assert (options["seen"], options["words"]) == ("", True)


# ---- numbers and code ----


@pytest.mark.parametrize(
    ("heads", "words"),
    [([2], "head 2"), ([0, 3], "mean of heads 0, 3"), ([], "mean of all 4 heads")],
)
def test_mean_weights_of_the_open_heads(pair: Trace, heads: list[int], words: str) -> None:
    weights, title = mean_weights(pair, [1], heads)
    chosen = heads or [0, 1, 2, 3]
    expected = sum(pair.attentions[1, head] for head in chosen) / len(chosen)
    assert np.allclose(weights, expected, atol=1e-6)
    assert np.allclose(weights.sum(-1), 1, atol=1e-5)
    assert words in title


def test_all_of_one_head_is_that_head() -> None:
    assert shown_heads([], 1) == [0]
    assert shown_heads([], 4) == []
    assert shown_heads([3, 2, 3], 4) == [2, 3]


def test_mean_over_layers_counts_every_head_alike(pair: Trace) -> None:
    weights, title = mean_weights(pair, [0, 1], [0, 3])
    four = [pair.attentions[layer, head] for layer in (0, 1) for head in (0, 3)]
    assert np.allclose(weights, sum(four) / 4, atol=1e-6)
    assert title == "All 2 layers, mean of heads 0, 3"


@pytest.mark.parametrize("layers", [[1], [0, 1]])
@pytest.mark.parametrize("heads", [[2], [0, 3], []])
def test_the_python_that_is_offered_gives_the_same_numbers(
    pair: Trace, layers: list[int], heads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    import bertcore

    monkeypatch.setattr(bertcore, "load", lambda source: tiny_bert())
    for picture in (LINES, MAP):
        names: dict[str, Any] = {}
        setup = opening("default", pair)
        exec(picture.python(None, setup, **weights_code(layers, heads)), names)
        assert np.allclose(names["weights"], mean_weights(pair, layers, heads)[0], atol=1e-6)


def test_a_map_is_saved_with_its_weights_and_tokens(pair: Trace) -> None:
    weights, _ = mean_weights(pair, [1], [2])
    assert MAP.table is not None
    saved = MAP.table((weights, pair.tokens))
    assert np.array_equal(saved["attention"], weights)
    assert saved["tokens"].tolist() == pair.tokens


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
    assert said.startswith("Layer 3 head 2 attends mostly to the token before: 81%")
    assert "12% to the token after" in said
    assert "often attends to [SEP]: 30%" in head_sentence(of(to_separator=0.3), 0, [1], 20)


def test_sentence_knows_broad_and_unplaced_heads() -> None:
    broad = head_sentence(of(to_self=0.05, entropy=0.95 * math.log(20)), 0, [1], 20)
    assert "attends broadly" in broad
    assert "no single positional habit" in head_sentence(of(to_self=0.1, entropy=0.9), 0, [1], 20)
    assert "mean of heads 1, 2" in head_sentence(of(to_self=0.1, entropy=2.9), 0, [1, 2], 20)


def test_sentence_of_a_single_token() -> None:
    nothing = dict.fromkeys(of(), math.nan)
    assert "only one token" in head_sentence(nothing, 0, [0], 1)
    assert "not numbers (NaN)" in head_sentence(nothing, 0, [0], 2)
