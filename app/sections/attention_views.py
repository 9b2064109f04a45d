"""The attention page's views of a layer or a head: lines, heat map, neurons."""

from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import streamlit as st

from app import cache, frame, state, texts
from app.components import attention_map, attention_neurons, attention_view
from app.components.looks import Look, read_look, write_look
from app.figures.attention_data import (
    attention_code,
    layer_arrays,
    mean_weights,
    neuron_arrays,
    neuron_code,
)
from bertcore import Trace


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


def kept_look(name: str, view: ModuleType) -> Look:
    """Return how a view is looked at, from the session or the address."""
    return read_look(state.value(state.keep(name, "")), view.LOOK, view.LOOK_OPTIONS)


def keep_look(name: str, view: ModuleType, look: Look) -> None:
    """Keep how the visitor looks at a view."""
    state.put(name, write_look(look, view.LOOK))


def draw_lines(key: cache.BertKey, trace: Trace, layer: int, heads: list[int]) -> None:
    """Draw the layer's attention as lines between two columns of tokens."""
    attention_view.attention_view(
        trace,
        layer,
        heads,
        look=kept_look("lines", attention_view),
        key="attention_lines",
        on_selection=open_heads,
        on_look=partial(keep_look, "lines", attention_view),
    )
    code = attention_code(key.source, trace, [layer], heads)
    frame.downloads(f"attention-layer-{layer}", layer_arrays(trace, layer), code)
    frame.how_to_read("attention.lines")


def draw_map(key: cache.BertKey, trace: Trace, layer: int, heads: list[int]) -> None:
    """Draw a head, or the mean of the chosen heads and layers, as a heat map."""
    num_layers = trace.attentions.shape[0]
    layers = state.value(state.keep("layers", [], options=list(range(num_layers))))
    layers = sorted(set(layers)) or [layer]
    weights, title = mean_weights(trace, layers, heads)
    attention_map.attention_map(
        trace,
        weights,
        title,
        layers,
        heads,
        look=kept_look("map", attention_map),
        key="attention_map",
        on_selection=open_mean,
        on_look=partial(keep_look, "map", attention_map),
    )
    code = attention_code(key.source, trace, layers, heads)
    arrays = {"attention": weights, "tokens": np.array(trace.tokens)}
    frame.downloads("attention-map", arrays, code)
    frame.how_to_read("attention.map")


def draw_neurons(key: cache.BertKey, trace: Trace, layer: int, heads: list[int]) -> None:
    """Draw what one weight of a head is made of: query times key, score, softmax."""
    reason = cache.opened(key).config.family.lacks.get("queries")
    if reason is not None:
        st.info(texts.plain(reason))
        return
    head = heads[0] if heads else 0
    if len(heads) != 1:
        st.caption(texts.TEXTS["attention.neurons_one"].format(head=head))
    attention_neurons.attention_neurons(
        trace,
        layer,
        head,
        look=kept_look("neurons", attention_neurons),
        key="attention_neurons",
        on_selection=open_heads,
        on_look=partial(keep_look, "neurons", attention_neurons),
    )
    name = f"neurons-layer-{layer}-head-{head}"
    code = neuron_code(key.source, trace, layer, head)
    frame.downloads(name, neuron_arrays(trace, layer, head), code)
    frame.how_to_read("attention.neurons", width=trace.queries.shape[-1])
