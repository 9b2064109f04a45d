"""BertViz's own views in a notebook, without a network and safe for any token."""

from collections.abc import Sequence
from typing import Literal

from bertcore import Model, Trace
from bertscope.notebook.app_modules import app_module
from bertscope.notebook.notebook_view import NotebookView, check_heads, make_view, opening, typed


def show_bertviz(
    trace: Trace,
    kind: Literal["head", "model", "neuron"] = "head",
    layer: int = 0,
    heads: Sequence[int] = (),
    *,
    bert: Model | None = None,
) -> NotebookView:
    """Show BertViz's own head, model or neuron view.

    The neuron view is of any checkpoint whose queries and keys are known; BertViz's own function
    takes the model classes of 2019 that come with it.

    Args:
        trace: One text or pair; of a long one the first tokens are shown.
        layer, heads: Shown at first; no heads for all, and the first for the neuron view.
        bert: Names the checkpoint in what is shown.

    ValueError if there is no such view, layer or head, or the trace has no queries and keys.
    """
    controls = app_module("app.bertviz_views.controls")
    if kind not in controls.KINDS:
        known = ", ".join(map(repr, controls.KINDS))
        raise ValueError(f"kind is {kind!r}; expected one of {known}.")
    check_heads(trace, [layer], heads)
    view = controls.of_trace(trace, kind, layer, heads)
    part = view.part()
    picture = controls.picture_of(kind)
    values = controls.code_values(kind, layer, heads, view.shown)
    code = picture.python(None, opening(bert, trace), **values)
    title = f"BertViz, {controls.KINDS[kind].lower()}"
    return make_view(
        title, [part], bert, typed(trace), code, min(view.height, 900), how=picture.how
    )
