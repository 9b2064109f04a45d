"""The attention page's views of a layer or a head: lines, heat map, neurons."""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import streamlit as st

from app.canvas import html_part
from app.canvas.heat_map import heat_map
from app.canvas.lines import lines
from app.canvas.neurons import neurons
from app.canvas.overview import overview
from app.canvas.shared.attention_data import (
    attention_code,
    layer_arrays,
    mean_weights,
    neuron_arrays,
    neuron_code,
    overview_arrays,
    overview_code,
)
from app.canvas.shared.view_options import ViewOptions, read_options, write_options
from app.html_file.document import Part
from app.plots.untrusted_text import plain
from app.shell import cache, frame, html_offer, state, texts_lookup
from bertcore import Trace

Draw = Callable[[Trace], Part]


def open_heads(chosen: Any) -> None:
    """Open the layer and the heads that were chosen in a view; no heads for all."""
    state.put("layer", chosen["layer"])
    state.put("layers", [])
    state.put("heads", chosen["heads"])


def open_mean(chosen: Any) -> None:
    """Open the layers and heads whose mean was chosen in the heat map."""
    layers = sorted(chosen["layers"])
    state.put("layer", layers[0])
    state.put("layers", layers if len(layers) > 1 else [])
    state.put("heads", chosen["heads"])


def kept_options(name: str, view: ModuleType) -> ViewOptions:
    """Return the options of a view from the session or the address."""
    return read_options(
        state.value(state.keep(name, "")), view.DEFAULT_OPTIONS, view.OPTION_CHOICES
    )


def keep_options(name: str, view: ModuleType, options: ViewOptions) -> None:
    """Keep the options that the visitor chose in a view."""
    state.put(name, write_options(options, view.DEFAULT_OPTIONS))


def html_file(
    key: cache.BertKey, trace: Trace, title: str, draw: Draw, code: str, how: str
) -> Callable[[], bytes]:
    """Return what makes the HTML file of a view when it is asked for.

    Args:
        key, trace: What is shown; only the names of it are kept, not the trace.
        title: Of the view.
        draw: Makes the view of a trace.
        code: Python that makes its numbers.
        how: How to read it.
    """
    part = partial(_drawn, key, trace.text_a, trace.text_b, draw)
    return partial(html_offer.view_file, frame.origin(), title, part, code, how)


def _drawn(key: cache.BertKey, text_a: str, text_b: str | None, draw: Draw) -> Part:
    return draw(cache.trace(key, text_a, text_b))


def draw_overview(
    key: cache.BertKey, trace: Trace, layer: int, heads: list[int]
) -> overview.Summary:
    """Draw all heads as small pictures; return their measures."""
    summary: overview.Summary = cache.call(overview.summarize, key, key, trace.text_a, trace.text_b)
    options = kept_options("overview", overview)
    overview.draw(
        summary,
        trace.num_tokens,
        layer,
        heads,
        options=options,
        key="attention_overview",
        on_pick=open_heads,
        on_options=partial(keep_options, "overview", overview),
    )
    code, how = overview_code(key.source, trace), frame.reading("attention.overview")
    draw = partial(
        html_part.overview_part, layer=layer, heads=heads, options=options, marks=summary.marks
    )
    report = html_file(key, trace, "all heads", draw, code, how)
    frame.downloads("attention-overview", overview_arrays(summary.measures), code, report=report)
    frame.how_to_read("attention.overview")
    return summary


def draw_lines(key: cache.BertKey, trace: Trace, layer: int, heads: list[int]) -> None:
    """Draw the layer's attention as lines between two columns of tokens."""
    options = kept_options("lines", lines)
    lines.draw(
        trace,
        layer,
        heads,
        options=options,
        key="attention_lines",
        on_selection=open_heads,
        on_options=partial(keep_options, "lines", lines),
    )
    code = attention_code(key.source, trace, [layer], heads)
    draw = partial(html_part.lines_part, layer=layer, heads=heads, options=options)
    title, how = f"lines of layer {layer}", frame.reading("attention.lines")
    report = html_file(key, trace, title, draw, code, how)
    frame.downloads(f"attention-layer-{layer}", layer_arrays(trace, layer), code, report=report)
    frame.how_to_read("attention.lines")


def draw_map(key: cache.BertKey, trace: Trace, layer: int, heads: list[int]) -> None:
    """Draw a head, or the mean of the chosen heads and layers, as a heat map."""
    num_layers = trace.attentions.shape[0]
    layers = state.value(state.keep("layers", [], options=list(range(num_layers))))
    layers = sorted(set(layers)) or [layer]
    weights, title = mean_weights(trace, layers, heads)
    options = kept_options("map", heat_map)
    heat_map.draw(
        trace,
        weights,
        title,
        layers,
        heads,
        options=options,
        key="attention_map",
        on_selection=open_mean,
        on_options=partial(keep_options, "map", heat_map),
    )
    code = attention_code(key.source, trace, layers, heads)
    arrays = {"attention": weights, "tokens": np.array(trace.tokens)}
    draw = partial(html_part.heat_map_part, layers=layers, heads=heads, options=options)
    report = html_file(key, trace, title, draw, code, frame.reading("attention.map"))
    frame.downloads("attention-map", arrays, code, report=report)
    frame.how_to_read("attention.map")


def draw_neurons(key: cache.BertKey, trace: Trace, layer: int, heads: list[int]) -> None:
    """Draw what one weight of a head is made of: query times key, score, softmax."""
    reason = cache.opened(key).config.family.lacks.get("queries")
    if reason is not None:
        st.info(plain(reason))
        return
    head = heads[0] if heads else 0
    if len(heads) != 1:
        st.caption(texts_lookup.TEXTS["attention.neurons_one"].format(head=head))
    options = kept_options("neurons", neurons)
    neurons.draw(
        trace,
        layer,
        head,
        options=options,
        key="attention_neurons",
        on_selection=open_heads,
        on_options=partial(keep_options, "neurons", neurons),
    )
    name = f"neurons-layer-{layer}-head-{head}"
    code = neuron_code(key.source, trace, layer, head)
    how = frame.reading("attention.neurons", width=trace.queries.shape[-1])
    draw = partial(html_part.neurons_part, layer=layer, head=head, options=options)
    report = html_file(key, trace, f"neurons of layer {layer} head {head}", draw, code, how)
    frame.downloads(name, neuron_arrays(trace, layer, head), code, report=report)
    frame.how_to_read("attention.neurons", width=trace.queries.shape[-1])
