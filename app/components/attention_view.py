"""The lines view: one layer's attention between two columns of tokens, on a canvas.

How one looks (pinning, threshold, filters) stays in the browser. The layer and the heads are
reported back, so that they get into the address and the other views follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

import streamlit as st

from app import theme
from app.components import transport
from bertcore import Trace
from bertcore.analysis.inputs import sentence_numbers

_HERE = Path(__file__).parent
_SCRIPTS = ("lines", "paint", "words", "view")
"""Each builds on the one before; the browser gets them as one."""

_Component = Callable[..., Any]


class Selection(TypedDict):
    """What the visitor chose in the view."""

    layer: int
    heads: list[int]
    """Empty for all heads."""
    revision: int
    """Counts the visitor's choices; sent back, so that the view ignores an older echo."""


@cache
def _component() -> _Component:
    return st.components.v2.component(
        "bertscope_attention_view",
        css=(_HERE / "attention_view.css").read_text(encoding="utf-8"),
        js=transport.SHARED_JS
        + "".join((_HERE / f"attention_{name}.js").read_text("utf-8") for name in _SCRIPTS),
    )


def head_colours(num_heads: int) -> list[str]:
    """Return one colour for each head, none twice: our twelve, then evenly spaced hues.

    >>> len(set(head_colours(64)))
    64
    """
    colours = list(theme.CATEGORICAL[:num_heads])
    step = 0
    while len(colours) < num_heads:
        # The golden angle keeps neighbours apart; lightness changes where hues come close again.
        hue, lightness = (step * 137.508) % 360, (0.42, 0.62, 0.32)[step % 3]
        colour = _hex(hue, 0.6, lightness)
        if colour not in colours:
            colours.append(colour)
        step += 1
    return colours


def message(trace: Trace, layer: int, heads: Sequence[int], revision: int = 0) -> bytes:
    """Return what the view draws: H x T x T bytes of one layer, and the tokens.

    Args:
        trace: One text or pair.
        layer: 0 to L-1.
        heads: Shown at first; empty for all.
        revision: Of the last selection that the view reported.
    """
    attentions = trace.attentions
    header = {
        "tokens": list(trace.tokens),
        "text_ids": list(trace.text_ids),
        "segment_ids": sentence_numbers(trace.segment_ids, trace.text_ids),
        "is_pair": 1 in trace.text_ids,
        "layer": layer,
        "num_layers": len(attentions),
        "heads": list(heads),
        "revision": revision,
        "colours": head_colours(attentions.shape[1]),
        "mean_colour": theme.ACCENT,
        "kinds": {"a": theme.SEGMENT_A, "b": theme.SEGMENT_B, "special": theme.SPECIAL},
    }
    return transport.pack(header, transport.quantize(attentions[layer]), transport.decoding_table())


def attention_view(
    trace: Trace,
    layer: int,
    heads: Sequence[int],
    *,
    key: str,
    on_selection: Callable[[Selection], None],
) -> None:
    """Draw the view.

    Args:
        trace: One text or pair.
        layer: 0 to L-1.
        heads: Shown heads; empty for all.
        key: Of the component in the session.
        on_selection: Called with the visitor's new layer and heads before the next run.
    """

    def selection_changed() -> None:
        chosen = st.session_state[key].get("selection")
        if chosen is not None:
            on_selection(chosen)

    last = (st.session_state.get(key) or {}).get("selection") or {}
    _component()(
        key=key,
        data=message(trace, layer, heads, last.get("revision", 0)),
        on_selection_change=selection_changed,
    )


def _hex(hue: float, saturation: float, lightness: float) -> str:
    """Return #rrggbb of a colour in HSL; hue in degrees, the others 0 to 1."""
    reach = saturation * min(lightness, 1 - lightness)

    def channel(offset: int) -> int:
        k = (offset + hue / 30) % 12
        return round(255 * (lightness - reach * max(-1.0, min(k - 3, 9 - k, 1.0))))

    return "#" + "".join(f"{channel(offset):02X}" for offset in (0, 8, 4))
