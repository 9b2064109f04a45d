"""The attention views in a notebook: overview, lines, heat map, neurons, and BertViz's own."""

from collections.abc import Sequence
from typing import Any, Literal

from bertcore import Model, Trace
from bertcore.analysis.mixing.neurons import allowed_keys
from bertscope.notebook.notebook_view import (
    NotebookView,
    app_module,
    check_heads,
    check_index,
    chosen_options,
    make_trace_view,
    make_view,
    opening,
    typed,
)

Between = Literal["all", "0>0", "0>1", "1>0", "1>1"]


def show_overview(
    trace: Trace,
    layer: int = 0,
    heads: Sequence[int] = (),
    *,
    measure: str = "",
    order: Literal["place", "layer", "all"] = "place",
    lowest: bool = False,
    limit: float | None = None,
    bert: Model | None = None,
    height: int | None = None,
) -> NotebookView:
    """Show the attention of all heads of all layers as small pictures.

    Args:
        layer, heads: Marked at first; no heads for all of the layer.
        measure: Written under each head, a field of `bertcore.analysis.heads.HeadMeasures`.
        order: Of the heads: layer by layer, or sorted by the measure in each layer or over all.
        lowest: The lowest first.
        limit: Heads below it are dimmed (above it, if the lowest come first).
        bert: Names the checkpoint in what is shown, and its special tokens.
        height: Of the frame, in pixels; as high as it needs if not given.

    ValueError if there is no such layer, head, measure or order.
    """
    check_heads(trace, [layer], heads)
    overview = app_module("app.canvas.overview.overview")
    names = ("", *overview.NAMES)
    if measure not in names:
        raise ValueError(f"measure is {measure!r}; expected one of {', '.join(names[1:])} or ''.")
    options = chosen_options(overview, measure=measure, order=order, lowest=lowest, limit=limit)
    special_tokens = app_module("app.plots.special_tokens")
    marks = special_tokens.BERT if bert is None else special_tokens.marks_of(bert.tokenizer)
    part = overview.part(trace, layer, heads, options, marks)
    picture = app_module("app.canvas.views").OVERVIEW
    code = picture.python(None, opening(bert, trace))
    how = picture.reading_of(marks)
    return make_trace_view(trace, bert, "Attention: all heads", part, code, how, height or 420)


def show_lines(
    trace: Trace,
    layer: int = 0,
    heads: Sequence[int] = (),
    *,
    words: bool = False,
    mean: bool = False,
    hide_special: bool = False,
    between: Between = "all",
    threshold: float | None = None,
    looking: Sequence[int] = (),
    looked_at: Sequence[int] = (),
    bert: Model | None = None,
    height: int | None = None,
) -> NotebookView:
    """Show attention as lines from each token to those it attends to.

    Args:
        layer, heads: Shown at first; no heads for all. The other heads, and up to five million
            weights the other layers, are a click away.
        words: Whole words in place of pieces.
        mean: One line for the mean of the heads.
        hide_special: Leave out [CLS] and [SEP].
        between: "0>1" shows the lines from text A to text B only, and so on.
        threshold: Lines below this weight are hidden; by the length of the text if not given.
        looking, looked_at: Positions of query tokens (left) and key tokens (right) that are chosen.
        bert: Names the checkpoint in what is shown.
        height: Of the frame, in pixels; as high as it needs if not given.

    ValueError if there is no such layer, head, token or choice.
    """
    check_heads(trace, [layer], heads)
    for place in (*looking, *looked_at):
        check_index("token", place, trace.num_tokens, "the text has tokens")
    lines = app_module("app.canvas.lines.lines")
    sides = (("l", looking), ("r", looked_at))
    options = chosen_options(
        lines,
        special=hide_special,
        words=words,
        mean=mean,
        filter=between,
        threshold=threshold,
        chosen="".join(name + ".".join(map(str, places)) for name, places in sides if places),
    )
    part = lines.part(trace, layer, heads, options)
    data, picture = (
        app_module("app.canvas.shared.attention_data"),
        app_module("app.canvas.views").LINES,
    )
    code = picture.python(None, opening(bert, trace), **data.weights_code([layer], heads))
    fits = 190 + min(672, 26 * trace.num_tokens + 12)
    return make_trace_view(
        trace,
        bert,
        f"Attention: lines of layer {layer}",
        part,
        code,
        picture.how,
        height or fits,
    )


def show_map(
    trace: Trace,
    layers: int | Sequence[int] = 0,
    heads: int | Sequence[int] = (),
    *,
    words: bool = False,
    rows: Literal["text", "chosen", "entropy"] = "text",
    columns: Literal["text", "chosen", "received"] = "text",
    measure: Literal["weights", "norms", "zeroing", "rollout"] = "weights",
    bert: Model | None = None,
    height: int | None = None,
) -> NotebookView:
    """Show one head, or the mean of several heads and layers, as a heat map.

    Args:
        layers, heads: One or several of each; no heads for all.
        words: Whole words in place of pieces.
        rows, columns: Their order.
        measure: The weights, or what they hide, of one layer and one head or all: norms of what is
            passed on, value zeroing (always of all heads), or rollout down to the text.
        bert: Names the checkpoint in what is shown; a measure other than the weights needs it.
        height: Of the frame, in pixels; as high as it needs if not given.

    ValueError if there is no such layer, head or choice, no layer at all, or a measure of several
    layers.
    """
    layer_list = sorted({layers} if isinstance(layers, int) else set(layers))
    head_list = sorted({heads} if isinstance(heads, int) else set(heads))
    if not layer_list:
        raise ValueError(
            "no layer is given. Give one, such as layers=0, or several: layers=[0, 1]."
        )
    check_heads(trace, layer_list, head_list)
    maps, data = (
        app_module("app.canvas.heat_map.heat_map"),
        app_module("app.canvas.shared.attention_data"),
    )
    options = chosen_options(maps, rows=rows, columns=columns, words=words)
    measured_maps = app_module("app.canvas.measured_maps")
    if measure == measured_maps.WEIGHTS:
        mapped = maps.Mapped(*data.mean_weights(trace, layer_list, head_list))
        picture = app_module("app.canvas.views").MAP
        values = data.weights_code(layer_list, head_list)
    else:
        mapped, head, picture = _measured(
            measured_maps, measure, bert, trace, layer_list, head_list
        )
        values = measured_maps.code_values(layer_list[0], head)
        head_list = [] if head is None else [head]
    part = maps.part(trace, layer_list, head_list, options, mapped)
    title = f"Attention: {mapped.title}"
    code = picture.python(None, opening(bert, trace), **values)
    fits = 300 + max(200, min(640, 30 * trace.num_tokens))
    return make_trace_view(
        trace,
        bert,
        title,
        part,
        code,
        picture.how,
        height or fits,
    )


def _measured(
    measured_maps: Any,
    name: str,
    bert: Model | None,
    trace: Trace,
    layers: list[int],
    heads: list[int],
) -> tuple[Any, int | None, Any]:
    """Return the map of a measure, the head that it is of (None: all), and its picture."""
    if name not in measured_maps.MEASURES:
        known = ", ".join((measured_maps.WEIGHTS, *measured_maps.MEASURES))
        raise ValueError(f"measure is {name!r}; expected one of {known}.")
    if bert is None:
        raise ValueError(f"{name} needs the model, not its weights alone: give bert=.")
    if len(layers) > 1:
        raise ValueError(f"{name} is of one layer; got {len(layers)}.")
    measure = measured_maps.MEASURES[name]
    head = measured_maps.one_head(measure, heads)
    fractions = measure.of(bert, trace, layers[0], *([head] if measure.by_head else []))
    return measure.mapped(fractions, layers[0], head), head, measure.picture


def show_neurons(
    trace: Trace,
    layer: int = 0,
    head: int = 0,
    *,
    query: int | None = None,
    order: Literal["weight", "text"] = "weight",
    bert: Model | None = None,
    height: int | None = None,
) -> NotebookView:
    """Show how a head's weights are computed: query times key, score, softmax.

    Args:
        trace: One text or pair, run without changes.
        query: Position of the query token; the first word if not given.
        bert: Names the checkpoint in what is shown, and tells which keys are masked.
        height: Of the frame, in pixels; as high as it needs if not given.

    ValueError if there is no such layer, head, token or order.
    """
    check_heads(trace, [layer], [head])
    if query is not None:
        check_index("query", query, trace.num_tokens, "the text has tokens")
    neurons = app_module("app.canvas.neurons.neurons")
    options = chosen_options(neurons, order=order, query=query)
    allowed = None if bert is None else allowed_keys(bert, layer, trace.num_tokens)
    part = neurons.part(trace, layer, head, options, allowed)
    views = app_module("app.canvas.views")
    picture = views.NEURONS
    code = picture.python(None, opening(bert, trace), layer=layer, head=head)
    title, fits = (
        f"Attention: neurons of layer {layer} head {head}",
        270 + 22 * min(20, trace.num_tokens),
    )
    mask = "" if bert is None else views.mask_sentence(bert.config, layer, allowed)
    how = picture.how.format(head_width=trace.queries.shape[-1], mask=mask)
    return make_trace_view(trace, bert, title, part, code, how, height or fits)


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
