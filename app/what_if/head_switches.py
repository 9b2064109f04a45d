"""Every head as a switch: the visitor turns heads and whole layers off and on.

Keys: Tab reaches the grid, the arrows move in it, from a layer's number to its "skip"; Enter or
Space switches, with Shift "only this".
"""

from collections.abc import Callable, Collection
from typing import TypedDict

from ..component import Component

COMPONENT = Component("bertscope_head_switches", __file__)


class Switched(TypedDict):
    """The whole state after a click."""

    off: list[str]
    """Heads that are off, as layer.head, in order."""
    skipped: list[int]
    """Layers that are skipped whole, in order."""


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
        key: Key of the component in the session.
        on_switch: Called with the new state before the next run.
    """
    COMPONENT(
        key=key,
        data={
            "num_layers": num_layers,
            "num_heads": num_heads,
            "off": list(off),
            "skipped": list(skipped),
        },
        switched=on_switch,
    )
