"""An attention mask drawn by hand: the visitor chooses which tokens may attend to which.

Keys: Tab reaches the plane, the arrows move in it, Space or Enter changes a cell, Shift with the
arrows chooses a rectangle.
"""

from collections.abc import Callable, Sequence

from bertcore.model.interventions import Block

from ...parts.component import Component

COMPONENT = Component("bertscope_mask_drawing", __file__)


def mask_drawing(
    tokens: Sequence[str],
    blocks: Sequence[tuple[int, int, int, int]],
    *,
    is_causal: bool = False,
    key: str,
    on_draw: Callable[[tuple[Block, ...]], None],
) -> None:
    """Draw the plane of T x T cells.

    Args:
        tokens: Their names, [T].
        blocks: What is blocked, all bounds below T.
        is_causal: Whether later tokens are masked whatever is drawn; their cells stay empty.
        key: Key of the component in the session.
        on_draw: Called with what is blocked after a stroke, before the next run.
    """

    def drawn(rectangles: Sequence[Sequence[int]]) -> None:
        on_draw(tuple(Block(*map(int, block)) for block in rectangles))

    COMPONENT(
        key=key,
        data={
            "tokens": list(tokens),
            "blocks": [list(block) for block in blocks],
            "is_causal": is_causal,
        },
        drawn=drawn,
    )
