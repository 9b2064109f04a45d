"""The attention page's views of a layer or a head: overview, lines, heat map, neurons."""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import streamlit as st
from torch import Tensor

from bertcore import BertConfig, Trace
from bertcore.analysis.mixing.neurons import allowed_keys
from bertcore.architecture.config import ModernBertConfig

from ..html_file.document import ScriptedPicture
from ..shell import Field, Picture, cache, frame, one_of
from .heat_map import heat_map
from .lines import lines
from .measured_maps import (
    MEASURE,
    MEASURES,
    MOST_ZEROED,
    WEIGHTS,
    Measure,
    code_values,
    one_head,
)
from .neurons import neurons
from .overview import overview
from .shared.attention_data import (
    layer_arrays,
    mean_weights,
    neuron_arrays,
    overview_arrays,
    weights_code,
)
from .shared.view_options import ViewOptions, last_revision, read_options, write_options

LAYER = Field("layer", 0)
HEADS: Field[list[int]] = Field("heads", [])  # open heads of the layer; none for all
LAYERS: Field[list[int]] = Field("layers", [])
"""Layers whose mean the heat map shows; none for `LAYER` alone."""
OVERVIEW_OPTIONS = Field("overview", "")
LINES_OPTIONS = Field("lines", "")
MAP_OPTIONS = Field("map", "")
NEURONS_OPTIONS = Field("neurons", "")

_WEIGHTS_CODE = """maps = {maps}  # [H, T, T]: {comment}
weights = {weights}  # [T, T]: the row's token attends to the column's
"""
OVERVIEW = Picture(
    name="attention-overview",
    table=overview_arrays,
    how=(
        "One picture per head; rows are layers, columns are heads, both counted from 0. The "
        "diagonal is attention to the token itself; a line beside it is attention to a neighbour; "
        "a vertical stripe is a token that all attend to. Click a head to open it below. *Measure* "
        "shows a number under each head, by which heads can be sorted and dimmed; the page Heads "
        "measures many sentences."
    ),
    code="""
from bertcore.analysis import measure_heads

is_causal = bert.config.family.is_causal
measures = measure_heads(trace.attentions, trace.text_ids, trace.tokens, is_causal=is_causal)
measures.to_previous, measures.entropy  # [L, H] each, as all the others
""",
)
LINES = Picture(
    name="attention-layer",
    table=lambda arguments: layer_arrays(*arguments),
    how=(
        "Each line goes from a token (left) to a token it attends to (right); its colour is the "
        "head, its strength the weight. The weights that leave a token in one head sum to 100%, "
        "hidden lines included. Shift-click adds tokens: what they attend to is averaged, what "
        "they receive is summed. Each piece's weight is accurate to 0.3 percentage points here, "
        "and exact in the heat map and the NPZ. Attention shows where a head takes information "
        "from, not why BERT decides as it does."
    ),
    code=_WEIGHTS_CODE,
)
MAP = Picture(
    name="attention-map",
    table=lambda drawn: {"attention": drawn[0], "tokens": np.array(drawn[1])},
    how=(
        "Each row's token attends to the columns' tokens; each row sums to 1. Brightness follows "
        "the square root of the weight, so that small weights are visible too; the numbers are the "
        "weights. The wheel zooms, dragging pans, and a double-click shows the whole map; a click "
        "marks a row and a column, by which the other can be sorted. A bright cell shows that "
        "information was taken from there, not that it decided anything."
    ),
    code=_WEIGHTS_CODE,
)
NEURONS = Picture(
    name="neurons",
    table=lambda arguments: neuron_arrays(*arguments),
    needs=frozenset({"queries"}),
    how=(
        "The query q of the attending token is multiplied by the key k of each token, dimension by "
        "dimension: blue products raise the weight, orange ones lower it. A row's products sum to "
        "q·k; divided by √{head_width}, this is the score, and the softmax of the scores gives the "
        "weights, which sum to 100%. {mask} The arrow keys change the tokens, Enter makes the "
        "marked key the query. A dimension has no meaning of its own: the head would do the same "
        "if all were rotated together."
    ),
    code="""
from bertcore.analysis import allowed_keys, head_neurons

allowed = allowed_keys(bert, {layer}, trace.num_tokens)  # [T, T]; None: nothing is masked
neurons = head_neurons(trace, {layer}, {head}, allowed)
products = neurons.products(1)  # [T, K]: the query of token 1 times every key
neurons.scores, neurons.weights   # [T, T]: products' sums / sqrt(K), and their softmax
""",
)
UNMASKED = "Nothing is masked: in one text every token may attend to every token."
LATER_MASKED = "Later tokens are masked: whatever their score, their weight is 0."
OUTSIDE_MASKED = (
    "Tokens more than {reach} away are masked (the window of this layer): whatever their score, "
    "their weight is 0."
)


def open_heads(selection: Any) -> None:
    """Open the layer and the heads that were chosen in a view; no heads for all."""
    LAYER.put(selection["layer"])
    LAYERS.put([])
    HEADS.put(selection["heads"])


def open_mean(selection: Any) -> None:
    """Open the layers and heads whose mean was chosen in the heat map."""
    layers = sorted(selection["layers"])
    LAYER.put(layers[0])
    LAYERS.put(layers if len(layers) > 1 else [])
    HEADS.put(selection["heads"])


def kept_options(field: Field[str], view: ModuleType) -> ViewOptions:
    """Return the options of a view from the session or the address."""
    field.key()
    return read_options(field.value, view.DEFAULT_OPTIONS, view.OPTION_CHOICES)


def keep_options(field: Field[str], view: ModuleType, options: ViewOptions) -> None:
    """Keep the options that the visitor chose in a view."""
    field.put(write_options(options, view.DEFAULT_OPTIONS))


def mask_sentence(config: BertConfig, layer: int, allowed: Tensor | None) -> str:
    """Return what is masked in a layer, given its mask of `allowed_keys`."""
    if allowed is None:
        return UNMASKED
    if isinstance(config, ModernBertConfig):
        return OUTSIDE_MASKED.format(reach=config.window(layer))
    return LATER_MASKED


def part_of(
    page: frame.Page, draw: Callable[[Trace], ScriptedPicture]
) -> Callable[[], ScriptedPicture]:
    """Return the function that draws a view for its HTML file; it holds the page, not the trace."""
    return lambda: draw(page.trace)


def draw_overview(page: frame.Page, layer: int, heads: list[int]) -> overview.Summary:
    """Draw all heads as small pictures; return their measures."""
    texts, is_causal = cache.Texts(page.bert_key, *page.texts), page.bert.config.family.is_causal
    summary = cache.computed(overview.summary_of, texts, page.marks, is_causal=is_causal)
    options = kept_options(OVERVIEW_OPTIONS, overview)
    overview.COMPONENT(
        overview.message(summary, page.trace.num_tokens, layer, heads, options),
        key="attention_overview",
        picked=open_heads,
        look=partial(keep_options, OVERVIEW_OPTIONS, overview),
    )
    draw = partial(
        overview.part,
        layer=layer,
        heads=heads,
        options=options,
        marks=summary.marks,
        is_causal=is_causal,
    )
    OVERVIEW.offer(page, summary.measures, title="all heads", part=part_of(page, draw))
    return summary


def draw_lines(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw the layer's attention as lines between two columns of tokens."""
    trace, options = page.trace, kept_options(LINES_OPTIONS, lines)
    key = "attention_lines"
    lines.COMPONENT(
        lines.message(trace, layer, heads, last_revision(key), options),
        key=key,
        selection=open_heads,
        look=partial(keep_options, LINES_OPTIONS, lines),
    )
    draw = partial(lines.part, layer=layer, heads=heads, options=options)
    LINES.offer(
        page,
        (trace, layer),
        title=f"lines of layer {layer}",
        part=part_of(page, draw),
        file=f"attention-layer-{layer}",
        **weights_code([layer], heads),
    )


def draw_map(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw a head, or the mean of the chosen heads and layers, as a heat map."""
    trace = page.trace
    LAYERS.key(options=list(range(trace.attentions.shape[0])))
    measure = one_of(
        "Map of",
        {WEIGHTS: "Attention weights"} | {name: of.label for name, of in MEASURES.items()},
        MEASURE,
        with_label=True,
    )
    if measure != WEIGHTS:
        _draw_measured(page, MEASURES[measure], layer, heads)
        return
    layers = sorted(set(LAYERS.value)) or [layer]
    mapped = heat_map.Mapped(*mean_weights(trace, layers, heads))
    options = _map_component(trace, mapped, layers, heads)
    draw = partial(heat_map.part, layers=layers, heads=heads, options=options)
    shown, code = (mapped.weights, trace.tokens), weights_code(layers, heads)
    MAP.offer(page, shown, title=mapped.title, part=part_of(page, draw), **code)


def _draw_measured(page: frame.Page, measure: Measure, layer: int, heads: list[int]) -> None:
    """Draw the map of a measure beside the weights; of several heads, of all together."""
    trace, picture = page.trace, measure.picture
    if not picture.is_available(page):
        return
    if not measure.by_head and trace.num_tokens > MOST_ZEROED:
        st.info(
            f"{measure.label} is computed for at most {MOST_ZEROED} tokens; this text has "
            f"{trace.num_tokens}. Use a shorter text, or the norms."
        )
        return
    head = one_head(measure, heads)
    texts = cache.Texts(page.bert_key, *page.texts)
    fractions = page.compute(measure.of, texts, layer, *([head] if measure.by_head else []))
    mapped = measure.mapped(fractions, layer, head)
    layers, heads = [layer], [] if head is None else [head]
    options = _map_component(trace, mapped, layers, heads)
    draw = partial(heat_map.part, layers=layers, heads=heads, options=options, mapped=mapped)
    picture.offer(
        page,
        (fractions, trace.tokens),
        title=mapped.title,
        part=part_of(page, draw),
        **code_values(layer, head),
    )


def _map_component(
    trace: Trace, mapped: heat_map.Mapped, layers: list[int], heads: list[int]
) -> ViewOptions:
    """Draw a map; return how it opens."""
    options, key = kept_options(MAP_OPTIONS, heat_map), "attention_map"
    heat_map.COMPONENT(
        heat_map.message(trace, mapped, layers, heads, last_revision(key), options),
        key=key,
        selection=open_mean,
        look=partial(keep_options, MAP_OPTIONS, heat_map),
    )
    return options


def draw_neurons(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw how one weight of a head is computed: query times key, score, softmax."""
    if not NEURONS.is_available(page):
        return
    trace, head = page.trace, heads[0] if heads else 0
    if len(heads) != 1:
        st.caption(
            f"Queries and keys belong to one head: this is head {head}. Choose another below or in "
            "the overview."
        )
    options = kept_options(NEURONS_OPTIONS, neurons)
    allowed = allowed_keys(page.bert, layer, trace.num_tokens)
    key = "attention_neurons"
    neurons.COMPONENT(
        neurons.message(trace, layer, head, last_revision(key), options, allowed),
        key=key,
        selection=open_heads,
        look=partial(keep_options, NEURONS_OPTIONS, neurons),
    )

    def draw(trace: Trace) -> ScriptedPicture:
        mask = allowed_keys(page.bert, layer, trace.num_tokens)
        return neurons.part(trace, layer, head, options, mask)

    NEURONS.offer(
        page,
        (trace, layer, head, allowed),
        title=f"neurons of layer {layer} head {head}",
        part=part_of(page, draw),
        file=f"neurons-layer-{layer}-head-{head}",
        layer=layer,
        head=head,
        head_width=trace.queries.shape[-1],
        mask=mask_sentence(page.bert.config, layer, allowed),
    )
