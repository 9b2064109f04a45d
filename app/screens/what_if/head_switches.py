"""Every head as a switch: the visitor turns heads and whole layers off and on.

Keys: Tab reaches the grid, the arrows move in it, from a layer's number to its "skip"; Enter or
Space switches, with Shift "only this". It takes `num_layers`, `num_heads`, which heads are `off`
(as layer.head) and which layers `skipped`, and reports `switched` with both as they are then.
"""

from ...parts.component import Component

COMPONENT = Component("bertscope_head_switches", __file__)
