"""The token strip: the pieces of an input joined to words, of which one is chosen.

Keys: the arrows move, Home and End jump, Enter or Space chooses. Tokens reach the page as text
only, never as HTML.
"""

from collections.abc import Callable, Sequence

from bertcore import Trace
from bertcore.model.tokenizer import Encoding

from ...plots import theme
from ..component import Component

COMPONENT = Component("bertscope_token_strip", __file__)


def token_strip(
    trace: Trace,
    *,
    key: str,
    typed: Encoding | None = None,
    selected: int | None,
    on_pick: Callable[[int], None],
    marked: Sequence[int] = (),
) -> None:
    """Draw the strip.

    Args:
        key: Unique on the page.
        typed: The tokens as they are typed, to be named instead of what hides them.
        selected: Position of the chosen token, or None.
        on_pick: Called with the position of a token that the visitor chooses.
        marked: Positions to show crossed, such as masked ones.
    """

    named = trace if typed is None else typed
    num_tokens = trace.num_tokens  # the session keeps what is called, and a trace has 60 MB

    def picked(index: int) -> None:
        if isinstance(index, int) and 0 <= index < num_tokens:
            on_pick(index)

    COMPONENT(
        key=key,
        data={
            "tokens": named.tokens,
            "ids": named.input_ids,
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
