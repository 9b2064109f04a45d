"""The attention views in a notebook: overview, lines, heat map, neurons, and BertViz's own."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from bertcore import Model, Trace
from bertcore.analysis.heads.attention import (
    Attention,
    check_heads,
    check_index,
    given_attention,
    head_steps,
    traced_steps,
)
from bertscope.notebook.notebook_view import NotebookView, app_module, chosen_options
from bertscope.notebook.show import GIVEN, draw

Between = Literal["all", "0>0", "0>1", "1>0", "1>1"]
Arrays = ArrayLike | Sequence[ArrayLike]


def _read(
    trace: Trace | None, attentions: Arrays | None, tokens: Sequence[str] | None, **ids: Any
) -> Trace | Attention:
    """Return the trace, or the attention that is given instead; ValueError if there is neither."""
    if trace is not None and attentions is None:
        return trace
    if trace is not None or attentions is None or tokens is None:
        raise ValueError(
            "what to show is not clear; give a trace, or attentions= [layers, heads, tokens, "
            "tokens] with tokens=, not both."
        )
    return given_attention(attentions, tokens, **ids)


def _drawn(
    name: str,
    read: Trace | Attention,
    bert: Model | None,
    options: Mapping[str, Any],
    *,
    result: Any = None,
    **shown: Any,
) -> NotebookView:
    """Return a view of the page Attention; `options` are those of its function."""
    view = app_module("app.view").named_view(name)
    texts = [] if isinstance(read, Attention) else [read.text_a, *filter(None, [read.text_b])]
    opened = GIVEN if isinstance(read, Attention) else None
    result = view.of(read, **options) if result is None else result
    return draw(view, result, bert, texts, options, opened=opened, **shown)


def show_overview(
    trace: Trace | None = None,
    layer: int = 0,
    heads: Sequence[int] = (),
    *,
    measure: str = "",
    attentions: Arrays | None = None,
    tokens: Sequence[str] | None = None,
    text_ids: Sequence[int] | None = None,
    segment_ids: Sequence[int] | None = None,
    bert: Model | None = None,
) -> NotebookView:
    """Show the attention of all heads of all layers as small pictures.

    Args:
        layer, heads: Marked at first; no heads for all of the layer.
        measure: Written under each head, a field of `bertcore.analysis.heads.HeadMeasures`.
        attentions, tokens, text_ids, segment_ids: Instead of a trace, of any model, as of
            `bertcore.analysis.given_attention`.
        bert: Names the checkpoint in what is shown, and its special tokens.

    ValueError if there is no such layer, head or measure, or arrays do not fit.
    """
    read = _read(trace, attentions, tokens, text_ids=text_ids, segment_ids=segment_ids)
    check_heads(read.attentions, [layer], heads)
    overview = app_module("app.parts.canvas.overview.overview")
    names = ("", *overview.NAMES)
    if measure not in names:
        raise ValueError(f"measure is {measure!r}; expected one of {', '.join(names[1:])} or ''.")
    options = chosen_options(overview, measure=measure)
    special = app_module("app.plots.special_tokens")
    marks = special.BERT if bert is None else special.marks_of(bert.tokenizer)
    drawn = {"layer": layer, "heads": heads, "options": options, "marks": marks}
    return _drawn("attention-overview", read, bert, {}, drawn=drawn)


def show_lines(
    trace: Trace | None = None,
    layer: int = 0,
    heads: Sequence[int] = (),
    *,
    words: bool = False,
    mean: bool = False,
    hide_special: bool = False,
    between: Between = "all",
    attentions: Arrays | None = None,
    tokens: Sequence[str] | None = None,
    text_ids: Sequence[int] | None = None,
    segment_ids: Sequence[int] | None = None,
    bert: Model | None = None,
) -> NotebookView:
    """Show attention as lines from each token to those it attends to.

    Args:
        layer, heads: Shown at first; no heads for all. The other heads, and up to five million
            weights the other layers, are a click away.
        words: Whole words in place of pieces.
        mean: One line for the mean of the heads.
        hide_special: Leave out [CLS] and [SEP].
        between: "0>1" shows the lines from text A to text B only, and so on.
        attentions, tokens, text_ids, segment_ids: Instead of a trace, of any model, as of
            `bertcore.analysis.given_attention`.
        bert: Names the checkpoint in what is shown.

    ValueError if there is no such layer, head or choice, or arrays do not fit.
    """
    read = _read(trace, attentions, tokens, text_ids=text_ids, segment_ids=segment_ids)
    check_heads(read.attentions, [layer], heads)
    lines = app_module("app.parts.canvas.lines.lines")
    options = chosen_options(lines, special=hide_special, words=words, mean=mean, filter=between)
    return _drawn(
        "attention-layer",
        read,
        bert,
        {"layer": layer, "heads": tuple(heads)},
        drawn={"options": options},
        title=f"Attention: lines of layer {layer}",
        height=190 + min(672, 26 * read.attentions.shape[-1] + 12),
    )


def show_map(
    trace: Trace | None = None,
    layers: int | Sequence[int] = 0,
    heads: int | Sequence[int] = (),
    *,
    words: bool = False,
    measure: Literal["weights", "norms", "zeroing", "rollout"] = "weights",
    attentions: Arrays | None = None,
    tokens: Sequence[str] | None = None,
    text_ids: Sequence[int] | None = None,
    segment_ids: Sequence[int] | None = None,
    bert: Model | None = None,
) -> NotebookView:
    """Show one head, or the mean of several heads and layers, as a heat map.

    Args:
        layers, heads: One or several of each; no heads for all.
        words: Whole words in place of pieces.
        measure: The weights, or what they hide, of one layer and one head or all: norms of what is
            passed on, value zeroing (always of all heads), or rollout down to the text.
        attentions, tokens, text_ids, segment_ids: Instead of a trace, of any model, as of
            `bertcore.analysis.given_attention`.
        bert: Names the checkpoint in what is shown; norms and value zeroing need it.

    ValueError if there is no such layer, head or choice, no layer at all, a measure of several
    layers, or arrays that do not fit.
    """
    read = _read(trace, attentions, tokens, text_ids=text_ids, segment_ids=segment_ids)
    layer_list = sorted({layers} if isinstance(layers, int) else {*layers})
    head_list = sorted({heads} if isinstance(heads, int) else {*heads})
    maps = app_module("app.parts.canvas.heat_map.heat_map")
    drawn = {"options": chosen_options(maps, words=words)}
    name, result = "attention-map", None
    options: dict[str, Any] = {"layers": (*layer_list,), "heads": (*head_list,)}
    if measure != "weights":
        name, measured = f"attention-{measure}", app_module("app.screens.attention.views").MEASURED
        if measure not in measured:
            known = ", ".join(("weights", *measured))
            raise ValueError(f"measure is {measure!r}; expected one of {known}.")
        if len(layer_list) != 1:
            raise ValueError(f"{measure} is of one layer; got {len(layer_list)}.")
        options = {"layer": layer_list[0]}
        if measure != "zeroing":
            options["head"] = head_list[0] if len(head_list) == 1 else None
        if measure != "rollout":
            if bert is None or isinstance(read, Attention):
                raise ValueError(f"{measure} needs the model, not its weights alone: give bert=.")
            result = measured[measure][1].of(bert, read, **options)
    view = app_module("app.view").named_view(name)
    result = view.of(read, **options) if result is None else result
    return _drawn(
        name,
        read,
        bert,
        options,
        result=result,
        drawn=drawn,
        title=f"Attention: {result.title}",
        height=300 + max(200, min(640, 30 * read.attentions.shape[-1])),
    )


def show_neurons(
    trace: Trace,
    layer: int = 0,
    head: int = 0,
    *,
    query: int | None = None,
    bert: Model | None = None,
) -> NotebookView:
    """Show how a head's weights are computed: query times key, score, softmax.

    Args:
        trace: One text or pair, run without changes.
        query: Position of the query token; the first word if not given.
        bert: Names the checkpoint in what is shown, and tells which keys are masked.

    ValueError if there is no such layer, head or token.
    """
    check_heads(trace.attentions, [layer], [head])
    if query is not None:
        check_index("query", query, trace.num_tokens, "the text has tokens")
    options = chosen_options(app_module("app.parts.canvas.neurons.neurons"), query=query)
    steps = (
        traced_steps(trace, layer, head, None)
        if bert is None
        else head_steps(bert, trace, layer, head)
    )
    return _drawn(
        "neurons",
        trace,
        bert,
        {"layer": layer, "head": head},
        result=steps,
        drawn={"options": options},
        title=f"Attention: neurons of layer {layer} head {head}",
        height=270 + 22 * min(20, trace.num_tokens),
    )


def show_bertviz(
    trace: Trace | None = None,
    kind: Literal["head", "model", "neuron"] = "head",
    layer: int = 0,
    heads: Sequence[int] = (),
    *,
    attentions: Arrays | None = None,
    tokens: Sequence[str] | None = None,
    bert: Model | None = None,
) -> NotebookView:
    """Show BertViz's own head, model or neuron view.

    The neuron view is of any checkpoint whose queries and keys are known; BertViz's own function
    takes the model classes of 2019 that come with it.

    Args:
        trace: One text or pair; of a long one the first tokens are shown.
        layer, heads: Shown at first; no heads for all, and the first for the neuron view.
        attentions, tokens: Instead of a trace, as of `given_attention`; not for the neuron view.
        bert: Names the checkpoint in what is shown.

    ValueError if there is no such view, layer or head, or there are no queries and keys.
    """
    bertviz = app_module("app.parts.bertviz_views.view")
    if kind not in bertviz.KINDS:
        known = ", ".join(map(repr, bertviz.KINDS))
        raise ValueError(f"kind is {kind!r}; expected one of {known}.")
    read = _read(trace, attentions, tokens)
    check_heads(read.attentions, [layer], heads)
    if kind == "neuron" and isinstance(read, Attention):
        raise ValueError("the neuron view needs queries and keys: give the trace of a model.")
    name = "attention-bertviz"
    options: dict[str, Any] = {"layer": layer, "heads": tuple(heads)}
    if kind == "neuron":
        name, options = f"{name}-neuron", {"layer": layer, "head": heads[0] if heads else 0}
    result = app_module("app.view").named_view(name).of(read, **options)
    return _drawn(
        name,
        read,
        bert,
        options,
        result=result,
        drawn={"kind": kind},
        title=f"BertViz, {bertviz.KINDS[kind].lower()}",
        height=min(bertviz.view_of(result, kind).height, 900),
    )
