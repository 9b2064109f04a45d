"""Every head as a switch: the visitor turns heads and whole layers off and on.

Keys: Tab reaches the grid, the arrows move in it, from a layer's number to its "skip"; Enter or
Space switches, with Shift "only this".
"""

from collections.abc import Callable, Collection
from typing import Any

from ...parts.component import Component

COMPONENT = Component("bertscope_head_switches", __file__)


def head_switches(
    num_layers: int,
    num_heads: int,
    off: Collection[str],
    skipped: Collection[int],
    *,
    key: str,
    on_switch: Callable[[dict[str, Any]], None],
) -> None:
    """Draw the switches.

    Args:
        num_layers, num_heads: L and H.
        off: Heads that are off, as layer.head, in order of layer and head.
        skipped: Layers that are skipped, in order.
        key: Key of the component in the session.
        on_switch: Called before the next run with all that is "off" and "skipped" then.
    """
    data = {
        "num_layers": num_layers,
        "num_heads": num_heads,
        "off": list(off),
        "skipped": list(skipped),
    }
    COMPONENT(key=key, data=data, switched=on_switch)
