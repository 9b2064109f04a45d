"""An attention mask drawn by hand: the visitor chooses which tokens may attend to which.

Keys: Tab reaches the plane, the arrows move in it, Space or Enter changes a cell, Shift with the
arrows chooses a rectangle. It takes the `tokens`, the `blocks`, with all bounds below their number,
and whether attention `is_causal`, when cells of later tokens stay empty; it reports the rectangles
that are blocked after a stroke as `drawn`.
"""

from ...parts.component import Component

COMPONENT = Component("bertscope_mask_drawing", __file__)
