"""BertViz's views by name."""

from collections.abc import Sequence

from bertcore import Trace

from .neurons import neuron_view
from .view import BertvizView, head_view, model_view

KINDS = {"head": "Head view", "model": "Model view", "neuron": "Neuron view"}


def of_trace(trace: Trace, kind: str, layer: int, heads: Sequence[int]) -> BertvizView:
    """Return one of BertViz's views of a trace.

    Args:
        trace: One text or pair.
        kind: Which, of `KINDS`.
        layer, heads: Shown at first in the head view; no heads for all. The neuron view shows the
            first of them, the model view all.

    ValueError if there are no queries and keys for the neuron view.
    """
    second = trace.text_ids.index(1) if 1 in trace.text_ids else None
    if kind == "neuron":
        return neuron_view(trace, layer, heads[0] if heads else 0)
    if kind == "model":
        return model_view(trace.attentions, trace.tokens, second_start=second)
    return head_view(trace.attentions, trace.tokens, second_start=second, layer=layer, heads=heads)
