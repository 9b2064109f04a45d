"""BertViz's own neuron view, of any checkpoint whose queries and keys the core has.

As installed, it takes only the model classes of 2019 that come with it: it runs them and reads
queries and keys from them. Here it gets those of a trace instead; what it draws, and how, is
unchanged.

Source: bertviz 1.4 (Apache-2.0), https://github.com/jessevig/bertviz, used as installed; Vig 2019,
section 3.3.
"""

from types import FunctionType
from typing import Any

from torch import Tensor

from bertcore import Trace

from .view import DECIMALS, BertvizView, page_of, stand_ins

MOST_TOKENS = 48
MOST_NUMBERS = 1_500_000
"""Queries and keys of all layers and heads are in the page, 7 characters for each number."""

# Pixels of a token, of what is above and below, and of all columns, as neuron_view.js has them.
_ROW, _AROUND, _WIDE = 26, 150, 1040


def neuron_view(trace: Trace, layer: int = 0, head: int = 0) -> BertvizView:
    """Return BertViz's neuron view of the first tokens: `MOST_TOKENS`, fewer of large checkpoints.

    Args:
        trace: One text or pair.

    ValueError if the trace has no queries and keys; the message gives the reason.
    """
    from bertviz import neuron_view as module

    total = trace.num_tokens
    second = trace.text_ids.index(1) if 1 in trace.text_ids else None
    num_layers, num_heads, _, width = trace.queries.shape
    # A pair stores everything twice: for the whole, and for each side.
    each = 2 * num_layers * num_heads * width * (1 if second is None else 3)
    shown = min(total, MOST_TOKENS, max(8, MOST_NUMBERS // each))
    if second is not None and second >= shown:
        second = None
    data = _filters(trace, shown, second)
    # BertViz's own function with our numbers instead of what it reads from its own models; a
    # copy, since a changed module would be changed for everybody in the process.
    names = {**module.show.__globals__, "get_attention": lambda *_, **__: data}
    show = FunctionType(module.show.__code__, names, argdefs=module.show.__defaults__)
    written = show(
        None,
        "bert",
        None,
        "A",
        None if second is None else "B",  # with it, the sentence filter is there
        display_mode="light",
        layer=layer,
        head=head,
        html_action="return",
    ).data
    return BertvizView(
        page_of(written, trace.tokens, min_width=_WIDE), _ROW * shown + _AROUND, shown, total
    )


def _filters(trace: Trace, shown: int, second: int | None) -> dict[str, dict[str, Any]]:
    """Return what BertViz's `get_attention` does: the numbers of each of its sentence filters."""
    sides = {"a": slice(0, shown if second is None else second)}
    if second is not None:
        sides["b"] = slice(second, shown)
    parts = {"all": (slice(0, shown), slice(0, shown))}
    if second is not None:
        parts |= {x + y: (sides[x], sides[y]) for x in sides for y in sides}
    names = stand_ins(shown)
    return {
        name: {
            "attn": _lists(trace.attentions[:, :, rows, columns]),
            "left_text": names[rows],
            "right_text": names[columns],
            "queries": _lists(trace.queries[:, :, rows]),
            "keys": _lists(trace.keys[:, :, columns]),
        }
        for name, (rows, columns) in parts.items()
    }


def _lists(numbers: Tensor) -> list[Any]:
    rounded: list[Any] = numbers.detach().double().round(decimals=DECIMALS).tolist()
    return rounded
