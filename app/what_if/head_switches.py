"""Every head as a switch: the visitor turns heads and whole layers off and on.

Keys: Tab reaches the grid, the arrows move in it, Enter or Space switches, with Shift "only this".
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict

import streamlit as st

from app.canvas.shared import events as reports
from app.canvas.shared import transport

_HERE = Path(__file__).parent


class Switched(TypedDict):
    """The whole state after a click."""

    off: list[str]
    """Heads that are off, as layer.head, in order."""
    skipped: list[int]
    """Layers that are skipped whole, in order."""


def read(*names: str) -> str:
    """Return files of this folder, or of the attention views' shared one, one after another."""
    folders = (_HERE, transport.HERE)
    paths = [next(f / name for f in folders if (f / name).is_file()) for name in names]
    return "".join(path.read_text(encoding="utf-8") for path in paths)


@lru_cache(maxsize=1)
def _component() -> Callable[..., Any]:
    return st.components.v2.component(
        "bertscope_head_switches",
        js=read("elements.js", "head_switches.js"),
        css=read("shared.css", "head_switches.css"),
    )


def head_switches(
    num_layers: int,
    num_heads: int,
    off: Collection[str],
    skipped: Collection[int],
    *,
    key: str,
    on_switch: Callable[[Switched], None],
) -> None:
    """Draw the switches.

    Args:
        num_layers, num_heads: L and H.
        off: Heads that are off, as layer.head, in order of layer and head.
        skipped: Layers that are skipped, in order.
        key: Of the component in the session.
        on_switch: Called with the new state before the next run.
    """
    _component()(
        key=key,
        data={
            "num_layers": num_layers,
            "num_heads": num_heads,
            "off": list(off),
            "skipped": list(skipped),
        },
        on_switched_change=reports.hear(key, "switched", on_switch),
    )
