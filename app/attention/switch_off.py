"""From the attention page to What if: the open head, or the open heads, switched off."""

from __future__ import annotations

from collections.abc import Sequence

from streamlit.delta_generator import DeltaGenerator

from ..shell.links import name_of, open_page, switch_off, want_question


def offer(row: DeltaGenerator, layer: int, heads: Sequence[int], num_heads: int) -> None:
    """Draw a button in `row` that opens What if with the open heads off, besides those already off.

    Args:
        row: To draw in.
        layer: The open layer.
        heads: Its open heads, none for all of them.
        num_heads: H.
    """
    chosen = list(heads) or list(range(num_heads))
    names = [name_of(layer, head) for head in chosen]
    label = f"Switch head {names[0]} off" if len(names) == 1 else "Switch these heads off"
    if len(chosen) == num_heads > 1:
        label = f"Switch layer {layer}'s heads off"
    if row.button(
        label,
        key="switch_off",
        icon=":material/toggle_off:",
        help=(
            "Opens What if?, which shows BERT's answer with and without this change, side by side."
        ),
    ):
        switch_off(names)
        want_question()
        open_page("what_if")
