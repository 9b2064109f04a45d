"""What the attention components send, and what is said about a head."""

import json
import math
import re
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from app.parts.canvas.heat_map import heat_map
from app.parts.canvas.lines import lines
from app.parts.canvas.overview import overview
from app.parts.canvas.shared import transport
from app.parts.canvas.shared.missing import missing_sentence
from app.parts.canvas.shared.view_options import read_options, write_options
from app.plots import theme
from app.screens.attention.page import head_sentence
from bertcore import Trace
from bertcore.analysis.heads.attention import attention_map, attention_overview, layer_attention
from bertcore.analysis.heads.measures import measure_heads
from tests.support.tiny import tiny_bert


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
    trace: Trace, heads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "SMALL", 0)
    header, (codes, table, flags) = read(
        lines.message(layer_attention(trace, 1, heads), revision=7)
    )
    sent = heads or list(range(trace.attentions.shape[1]))
    weights = trace.attentions[1][sent].numpy()
    decoded = np.frombuffer(table, np.float32)[np.frombuffer(codes, np.uint8)]
    assert np.abs(decoded.reshape(weights.shape) - weights).max() <= transport.MAX_ERROR
    assert header["tokens"] == trace.tokens
    assert (header["layer"], header["heads"], header["revision"]) == (1, heads, 7)
    assert (header["sent"], header["broken"], header["missing"], flags) == (sent, [], "", b"")
    assert header["is_pair"]


def test_lines_know_one_checkpoint_from_another(trace: Trace) -> None:
    """The browser keeps heads that it has: only for the same weights."""
    marks = [
        read(lines.message(layer_attention(trace, 1, [head])))[0]["weights"] for head in (0, 1)
    ]
    other = tiny_bert(seed=1).trace(trace.text_a, trace.text_b)
    marks.append(read(lines.message(layer_attention(other, 1, [0])))[0]["weights"])
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


def test_views_show_what_is_not_a_number(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = trace.attentions.clone()
    weights[1, 2, 3] = torch.nan
    broken = replace(trace, activations=replace(trace.activations, attentions=weights))
    size = trace.num_tokens
    monkeypatch.setattr(lines, "SMALL", 0)
    header, (_, _, flags) = read(lines.message(layer_attention(broken, 1, [1, 2])))
    assert header["broken"] == [2]
    assert np.array_equal(
        np.flatnonzero(np.unpackbits(np.frombuffer(flags, np.uint8))), np.arange(3 * size, 4 * size)
    )
    assert header["missing"].startswith(
        f"{size} of {2 * size**2} weights are not numbers (NaN), in layer 1 head 2."
    )
    assert read(lines.message(layer_attention(broken)))[0]["missing"] == ""

    header, (*_, flags) = read(overview.message(attention_overview(broken)))
    assert header["broken"] == [1 * 4 + 2]
    assert np.unpackbits(np.frombuffer(flags, np.uint8)).sum() == size  # T < 48: nothing pooled
    assert "in layer 1 head 2" in header["missing"]
    assert header["measures"]["entropy"][6] is None
    assert header["measures"]["entropy"][5] is not None

    shown = attention_map(broken, [0, 1])
    header, _ = read(heat_map.message(shown))
    assert f"{size} of {8 * size**2:,} weights" in header["missing"]
    assert np.isnan(shown.values).any(1).sum() == 1
    named = read(heat_map.message(attention_map(broken, [1], [2])))[0]["missing"]
    assert "in layer 1 head 2." in named


def test_the_sentence_about_missing_numbers_names_heads_and_counts_layers() -> None:
    counts = np.zeros((12, 12), np.int64)
    assert missing_sentence(counts, 5) == ""
    counts[3, [0, 7]] = 25
    assert "in layer 3 head 0, layer 3 head 7." in missing_sentence(counts, 5)
    counts[4:] = 25
    said = missing_sentence(counts, 5)
    assert "2,450 of 3,600 weights" in said
    assert "and 86 more" in said


@pytest.mark.parametrize("num_heads", [1, 12, 16, 64])
def test_every_head_has_a_colour_of_its_own(num_heads: int) -> None:
    colours = lines.head_colours(num_heads)
    assert len(set(colours)) == num_heads
    assert all(len(colour) == 7 and int(colour[1:], 16) >= 0 for colour in colours)
    assert tuple(colours[:12]) == theme.CATEGORICAL[:num_heads]


# ---- overview ----


def test_overview_sends_thumbnails_and_measures(trace: Trace) -> None:
    measures = measure_heads(trace.attentions, trace.text_ids, trace.tokens)
    header, (codes, colours, _, _) = read(overview.message(attention_overview(trace)))
    assert codes == transport.encode(trace.attentions).codes.tobytes()
    assert len(colours) == 256 * 3
    num_layers, num_heads = trace.attentions.shape[:2]
    sent = np.array(header["measures"]["a_to_b"]).reshape(num_layers, num_heads)
    assert np.abs(sent - measures.a_to_b.numpy()).max() < 1e-4
    assert list(header["names"]) == list(header["measures"])


def test_colour_table_is_the_scale_of_the_charts() -> None:
    table = overview.colour_table()
    assert table.shape == (256, 3)
    # From dark to light without turning back, or weights could not be told by their colour.
    lightness = table @ np.array([0.2126, 0.7152, 0.0722])
    assert (np.diff(lightness) > -0.5).all()
    assert lightness[255] - lightness[0] > 150


# ---- heat map ----


def test_heat_map_sends_the_weights_themselves(trace: Trace) -> None:
    shown = attention_map(trace, [0, 1])
    header, (values, colours) = read(heat_map.message(shown, 3))
    assert np.array_equal(np.frombuffer(values, np.float32), shown.values.ravel())
    assert len(colours) == 256 * 3
    assert header["tokens"] == trace.tokens
    assert (header["layers"], header["heads"], header["revision"]) == ([0, 1], [], 3)


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


# ---- the sentence ----


def of(**shares: float) -> dict[str, float]:
    kinds = ("to_previous", "to_next", "to_self", "to_first", "to_separator")
    return {kind: shares.get(kind, 0.0) for kind in kinds} | {"entropy": shares.get("entropy", 0.5)}


def test_sentence_names_the_strongest_habit() -> None:
    said = head_sentence(of(to_previous=0.81, to_next=0.12), 3, [2], 20)
    assert said.startswith("Layer 3, head 2 attends mostly to the token before: 81%")
    assert "often attends to [SEP]: 30%" in head_sentence(of(to_separator=0.3), 0, [1], 20)


def test_sentence_knows_unplaced_heads() -> None:
    assert "no single habit of place" in head_sentence(of(to_self=0.1, entropy=0.9), 0, [1], 20)
    assert "mean of heads 1, 2" in head_sentence(of(to_self=0.1, entropy=2.9), 0, [1, 2], 20)


def test_sentence_of_a_single_token() -> None:
    nothing = dict.fromkeys(of(), math.nan)
    assert "only one token" in head_sentence(nothing, 0, [0], 1)
    assert "not numbers (NaN)" in head_sentence(nothing, 0, [0], 2)
