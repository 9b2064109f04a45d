"""The overview: all heads of all layers as small pictures, from which the visitor picks one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import plotly.colors
import streamlit as st
from numpy.typing import NDArray

from app import cache, theme
from app.components import transport
from bertcore import Bert
from bertcore.analysis.heads import HeadMeasures, measure_heads

_HERE = Path(__file__).parent


class Picked(TypedDict):
    """What the visitor clicked."""

    layer: int
    heads: list[int]
    """One head, or empty for the whole layer."""


SHARES = {
    "to_previous": "token before",
    "to_next": "token after",
    "to_self": "itself",
    "to_first": "[CLS]",
    "to_separator": "[SEP]",
    "a_to_b": "A to B",
    "b_to_a": "B to A",
    "to_same_word": "same word",
    "to_punctuation": "punctuation",
}
"""Measures drawn as bars, and what they are called there."""


@lru_cache(maxsize=1)
def _component() -> Callable[..., Any]:
    return st.components.v2.component(
        "bertscope_attention_overview",
        css=(_HERE / "attention_overview.css").read_text(encoding="utf-8"),
        js=transport.SHARED_JS + (_HERE / "attention_overview.js").read_text(encoding="utf-8"),
    )


@lru_cache(maxsize=1)
def colour_table() -> NDArray[np.uint8]:
    """Return our sequential scale as 256 colours, red, green and blue, uint8 [256, 3]."""
    levels = np.linspace(0, 1, 256).tolist()
    colours = plotly.colors.sample_colorscale(theme.SEQUENTIAL, levels, colortype="tuple")
    return np.round(np.array(colours) * 255).astype(np.uint8)


@dataclass(frozen=True, slots=True)
class Summary:
    """All heads at a glance."""

    small: NDArray[np.uint8]
    """Thumbnails, [L, H, S, S]."""
    measures: HeadMeasures
    """Each [L, H]."""


def summarize(_bert: Bert, key: cache.BertKey, text_a: str, text_b: str | None) -> Summary:
    """Return thumbnails and measures of a text or pair; for `cache.call`: it reads L H T T."""
    trace = cache.trace(key, text_a, text_b)
    return Summary(
        transport.thumbnails(trace.attentions),
        measure_heads(trace.attentions, trace.text_ids, trace.tokens),
    )


def message(summary: Summary, num_tokens: int, layer: int, heads: Sequence[int]) -> bytes:
    """Return what the overview draws.

    Args:
        summary: Of one text or pair.
        num_tokens: Its T.
        layer, heads: The open layer and its open heads; empty for all.
    """
    small, measures = summary.small, summary.measures
    num_layers, num_heads = small.shape[:2]
    header = {
        "num_layers": num_layers,
        "num_heads": num_heads,
        "num_tokens": num_tokens,
        "all_heads": list(range(num_heads)),
        "size": small.shape[-1],
        "layer": layer,
        "heads": list(heads),
        "shares": list(SHARES.items()),
        "measures": {
            field.name: [
                None if math.isnan(value) else round(value, 4)
                for value in getattr(measures, field.name).flatten().tolist()
            ]
            for field in fields(measures)
        },
    }
    return transport.pack(header, small, colour_table(), transport.decoding_table())


def attention_overview(
    summary: Summary,
    num_tokens: int,
    layer: int,
    heads: Sequence[int],
    *,
    key: str,
    on_pick: Callable[[Picked], None],
) -> None:
    """Draw the overview; arguments as `message`.

    Args:
        key: Of the component in the session.
        on_pick: Called with the clicked layer and head before the next run.
    """

    def picked() -> None:
        chosen = st.session_state[key].get("picked")
        if chosen is not None:
            on_pick(chosen)

    _component()(key=key, data=message(summary, num_tokens, layer, heads), on_picked_change=picked)
