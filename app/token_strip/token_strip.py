"""The token strip: the pieces of an input joined to words, of which one is chosen.

Keys: the arrows move, Home and End jump, Enter or Space chooses. Tokens reach the page as text
only, never as HTML.
"""

from collections.abc import Callable, Sequence

from bertcore import Trace

from ..component import Component
from ..plots import theme

COMPONENT = Component("bertscope_token_strip", __file__)


def token_strip(
    trace: Trace,
    *,
    key: str,
    selected: int | None,
    on_pick: Callable[[int], None],
    marked: Sequence[int] = (),
) -> None:
    """Draw the strip.

    Args:
        key: Unique on the page.
        selected: Position of the chosen token, or None.
        on_pick: Called with the position of a token that the visitor chooses.
        marked: Positions to show crossed, such as masked ones.
    """

    num_tokens = trace.num_tokens  # the session keeps what is called, and a trace has 60 MB

    def picked(index: int) -> None:
        if isinstance(index, int) and 0 <= index < num_tokens:
            on_pick(index)

    COMPONENT(
        key=key,
        data={
            "tokens": trace.tokens,
            "ids": trace.input_ids,
            "segments": trace.segment_ids,
            "positions": trace.position_ids,
            "texts": trace.text_ids,
            "words": trace.word_ids,
            "starts": [start for start, _ in trace.offsets],
            "ends": [end for _, end in trace.offsets],
            "selected": -1 if selected is None else selected,
            "marked": list(marked),
            "colors": [theme.SEGMENT_A, theme.SEGMENT_B, theme.SPECIAL],
        },
        picked=picked,
    )


def usual_token(trace: Trace, mask_id: int) -> int:
    """Return the token to start from: the first [MASK], or else the last word of text A."""
    if mask_id in trace.input_ids:
        return trace.input_ids.index(mask_id)
    words = [
        i
        for i, token in enumerate(trace.tokens)
        if trace.text_ids[i] == 0 and token.lstrip("#").isalnum()
    ]
    return words[-1] if words else 0
