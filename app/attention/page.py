"""Attention: what each token attends to, in every head of every layer."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.heads.attention import (
    MOST_ZEROED,
    AttentionMap,
    AttentionOverview,
    head_steps,
    layer_attention,
)
from bertcore.analysis.heads.sinks import MOSTLY, SINKS, find_sinks
from bertcore.analysis.heads.texts import bundled_sentences
from bertcore.architecture.config import ModernBertConfig

from ..bertviz_views import view as bertviz
from ..canvas.heat_map import heat_map
from ..canvas.lines import lines
from ..canvas.neurons import neurons
from ..canvas.overview import overview
from ..canvas.shared.session import keep_options, kept_options, last_revision
from ..plots import BERT, SpecialTokens, own_text, plain
from ..plots.sinks import sink_sentence
from ..shell import (
    Compute,
    Field,
    caption,
    computed,
    frame,
    is_available,
    offer,
    one_of,
    open_page,
    show,
)
from ..shell.links import ATTENTION_VIEW, HEADS, LAYER, LAYERS, name_of, switch_off, want_question
from ..view import View
from . import PAGE
from .views import (
    BERTVIZ,
    BERTVIZ_NEURONS,
    DECODER,
    LINES,
    MAP,
    MEASURED,
    NEURONS,
    OVERVIEW,
    ZEROING,
)

_KINDS = {
    "to_previous": "the token before",
    "to_next": "the token after",
    "to_self": "the same token",
    "to_first": "[CLS]",
    "to_separator": "[SEP]",
}
_MOSTLY, _OFTEN, _BROAD = 0.5, 0.25, 0.8


def head_sentence(
    measures: Mapping[str, float],
    layer: int,
    heads: Sequence[int],
    num_tokens: int,
    marks: SpecialTokens = BERT,
) -> str:
    """Return the strongest habit of a head, with its number.

    Args:
        measures: From `HeadMeasures.of`.
        layer, heads: Several heads are described by their mean; no head means all heads.
        num_tokens: T.
        marks: What the checkpoint calls [CLS] and [SEP].

    The words are ours: "mostly" from 50% on, "often" from 25% on; "broadly" if the entropy is
    above 80% of its largest value, ln T.
    """
    name = _name(layer, heads)
    kinds = {kind: own_text(target, marks) for kind, target in _KINDS.items()}
    fractions = {kind: measures[kind] for kind in _KINDS if not math.isnan(measures[kind])}
    if not fractions and num_tokens > 1:
        return f"{name} gives weights that are not numbers (NaN), so it has no habit."
    if not fractions:
        return f"{name} has only one token to attend to."
    order = sorted(fractions, key=lambda kind: fractions[kind], reverse=True)
    best, second = order[0], order[1] if len(order) > 1 else None
    rest = ""
    # Kinds overlap ([CLS] attending to itself is both), so two may exceed 1: then name one.
    if second is not None and fractions[second] >= 0.1 and fractions[best] + fractions[second] <= 1:
        rest = f", and {fractions[second]:.0%} to {kinds[second]}"
    amount = f"{fractions[best]:.0%} of its attention goes there{rest}."
    if fractions[best] >= _MOSTLY:
        return f"{name} attends mostly to {kinds[best]}: {amount}"
    if fractions[best] >= _OFTEN:
        return f"{name} often attends to {kinds[best]}: {amount}"
    # The mean of several heads' entropies says nothing about the entropy of their mean.
    if len(heads) == 1 and measures["entropy"] > _BROAD * math.log(num_tokens):
        return (
            f"{name} attends broadly: entropy {measures['entropy']:.2f} nats of at most "
            f"{math.log(num_tokens):.2f}, and only {fractions[best]:.0%} goes to {kinds[best]}."
        )
    return (
        f"{name} has no single positional habit: the largest share goes to {kinds[best]} "
        f"({fractions[best]:.0%}); hover over the tokens to see what it picks."
    )


def _name(layer: int, heads: Sequence[int]) -> str:
    if len(heads) == 1:
        return f"Layer {layer} head {heads[0]}"
    if not heads:
        return f"Layer {layer}, the mean of all heads,"
    return f"Layer {layer}, the mean of heads {', '.join(str(head) for head in heads)},"


OVERVIEW_OPTIONS = Field("overview", "")
LINES_OPTIONS = Field("lines", "")
MAP_OPTIONS = Field("map", "")
NEURONS_OPTIONS = Field("neurons", "")
WEIGHTS = "weights"
MEASURE = Field("measure", WEIGHTS, (WEIGHTS, *MEASURED))
BERTVIZ_KIND = Field("bertviz", "head", tuple(bertviz.KINDS))

SIDES = {"cross": "The text (cross-attention)", "own": "What it wrote (self-attention)"}
MEAN = "all"
DECODER_SIDE = Field("decoder_side", "cross", tuple(SIDES))
DECODER_LAYER = Field("decoder_layer", 0)
DECODER_HEAD = Field("decoder_head", MEAN)


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


def draw_overview(page: frame.Page, layer: int, heads: list[int]) -> AttentionOverview:
    """Draw all heads as small pictures; return what they are measured as."""
    shown = computed(OVERVIEW, page)
    options, marks = kept_options(OVERVIEW_OPTIONS, overview), page.marks
    overview.COMPONENT(
        overview.message(shown, layer, heads, options, marks),
        key="attention_overview",
        picked=open_heads,
        look=partial(keep_options, OVERVIEW_OPTIONS, overview),
    )
    drawn = {"layer": layer, "heads": heads, "options": options, "marks": marks}
    offer(OVERVIEW, page, shown, drawn=drawn, title="all heads")
    return shown


def draw_lines(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw the layer's attention as lines between two columns of tokens."""
    chosen = (layer, tuple(heads))
    shown = layer_attention(page.trace, *chosen)
    options, key = kept_options(LINES_OPTIONS, lines), "attention_lines"
    lines.COMPONENT(
        lines.message(shown, last_revision(key), options),
        key=key,
        selection=open_heads,
        look=partial(keep_options, LINES_OPTIONS, lines),
    )
    title, file = f"lines of layer {layer}", f"attention-layer-{layer}"
    offer(LINES, page, shown, *chosen, drawn={"options": options}, title=title, file=file)


def draw_map(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw a head, or the mean of the chosen heads and layers, or another measure of a layer.

    A measure is of one head, or of all together.
    """
    LAYERS.key(options=list(range(page.trace.attentions.shape[0])))
    names = {WEIGHTS: "Attention weights"} | {name: label for name, (label, _) in MEASURED.items()}
    measure = one_of("Map of", names, MEASURE, with_label=True)
    view: View[AttentionMap]
    chosen: tuple[Any, ...]
    if measure == WEIGHTS:
        view, chosen = MAP, (tuple(sorted({*LAYERS.value})) or (layer,), tuple(heads))
    else:
        view, chosen = MEASURED[measure][1], (layer, heads[0] if len(heads) == 1 else None)
        if view is ZEROING:
            chosen = chosen[:1]
        if not is_available(view, page):
            return
        if view is ZEROING and page.trace.num_tokens > MOST_ZEROED:
            st.info(
                f"Value zeroing is computed for at most {MOST_ZEROED} tokens; this text has "
                f"{page.trace.num_tokens}. Use a shorter text, or the norms."
            )
            return
    shown = computed(view, page, *chosen)
    options, key = kept_options(MAP_OPTIONS, heat_map), "attention_map"
    heat_map.COMPONENT(
        heat_map.message(shown, last_revision(key), options),
        key=key,
        selection=open_mean,
        look=partial(keep_options, MAP_OPTIONS, heat_map),
    )
    offer(view, page, shown, *chosen, drawn={"options": options}, title=shown.title)


def draw_neurons(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw how one weight of a head is computed: query times key, score, softmax."""
    if not is_available(NEURONS, page):
        return
    head = heads[0] if heads else 0
    if len(heads) != 1:
        st.caption(
            f"Queries and keys belong to one head: this is head {head}. Choose another below or in "
            "the overview."
        )
    steps = head_steps(page.bert, page.trace, layer, head)
    options, key = kept_options(NEURONS_OPTIONS, neurons), "attention_neurons"
    neurons.COMPONENT(
        neurons.message(steps, last_revision(key), options),
        key=key,
        selection=open_heads,
        look=partial(keep_options, NEURONS_OPTIONS, neurons),
    )
    title, file = f"neurons of layer {layer} head {head}", f"neurons-layer-{layer}-head-{head}"
    drawn = {"options": options}
    offer(NEURONS, page, steps, layer, head, drawn=drawn, title=title, file=file)


CUT_VIEW = (
    "BertViz draws every weight as a separate line, so only the first {shown} of {total} tokens "
    "are shown here. Their attention to the others is left out: rows do not sum to 1. The lines "
    "and the heat map show all tokens."
)
CUT_NEURONS = (
    "BertViz gets every number of every head's queries and keys at once, so only the first {shown} "
    "of {total} tokens are shown here. Their attention to the others is left out: rows do not sum "
    "to 1. *Neurons* shows all tokens."
)


def draw_bertviz(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw the chosen one of BertViz's views."""
    kind = one_of("BertViz's view", bertviz.KINDS, BERTVIZ_KIND)
    is_neurons = kind == "neuron"
    chosen: tuple[Any, ...] = (
        (layer, heads[0] if heads else 0) if is_neurons else (layer, tuple(heads))
    )
    view: View[Any] = BERTVIZ_NEURONS if is_neurons else BERTVIZ
    if not is_available(view, page):
        return
    result = view.of(page.trace, *chosen)
    drawn = bertviz.view_of(result, kind)
    if drawn.shown < drawn.total:
        cut = CUT_NEURONS if is_neurons else CUT_VIEW
        st.warning(cut.format(shown=drawn.shown, total=drawn.total))
    title = f"BertViz, {bertviz.KINDS[kind].lower()}"
    st.iframe(drawn.html, height=min(drawn.height, 900), alt=title)
    file = f"attention-bertviz-{kind}"
    offer(view, page, result, *chosen, drawn={"kind": kind}, title=title, file=file)


def draw_decoder(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw one head of the decoder, or the mean of a layer; the encoder's are not asked for."""
    picture, row = st.container(), st.container(horizontal=True, vertical_alignment="bottom")
    num_layers, num_heads = computed(DECODER, page, *page.texts).attentions.shape[:2]
    side = one_of("Attends to", SIDES, DECODER_SIDE, where=row, with_label=True)
    of = one_of(
        "Layer of the decoder",
        range(num_layers),
        DECODER_LAYER,
        default=num_layers - 1,
        where=row,
        with_label=True,
    )
    names = [MEAN, *map(str, range(num_heads))]
    row.selectbox(
        "Head",
        names,
        format_func=lambda name: "mean of all" if name == MEAN else f"head {name}",
        key=DECODER_HEAD.key(options=names),
        width=150,
    )
    head = None if DECODER_HEAD.value == MEAN else int(DECODER_HEAD.value)
    drawn = {"side": side, "layer": of, "head": head}
    with picture:
        decoder = show(DECODER, page, *page.texts, drawn=drawn, with_caption=False)
    if decoder is not None:
        caption(DECODER, decoder)


VIEWS = {"lines": "Lines", "heat-map": "Heat map", "neurons": "Neurons", "bertviz": "BertViz"}
DRAWN = {
    "lines": draw_lines,
    "heat-map": draw_map,
    "neurons": draw_neurons,
    "bertviz": draw_bertviz,
    "decoder": draw_decoder,
}


@frame.fragment
def views(page: frame.Page) -> None:
    """Draw overview and views; a click in them reruns only this, not the page."""
    trace = page.trace
    num_layers, num_heads = trace.attentions.shape[:2]
    LAYER.key(low=0, high=num_layers - 1)
    HEADS.key(options=list(range(num_heads)))
    # With one head in the checkpoint, that head, not a mean.
    layer, heads = LAYER.value, [0] if num_heads == 1 else sorted({*HEADS.value})
    with frame.guard():
        summary = draw_overview(page, layer, heads)
        measures = summary.measures.of(layer, heads)
        marks = SpecialTokens(*map(plain, page.marks))
        row = st.container(horizontal=True, vertical_alignment="center", key="attention_open")
        sentence = head_sentence(measures, layer, heads, trace.num_tokens, marks)
        row.markdown(sentence, width="stretch")
        _offer_switch_off(row, layer, heads, num_heads)
        _note_window(page, layer)
        if len(heads) == 1 and any(measures[target] >= MOSTLY for target in SINKS):
            with frame.guard():
                _note_sinks(page, layer, heads[0])
    names = VIEWS | ({"decoder": "Decoder"} if "decoder" in page.bert.capabilities else {})
    view = one_of("View", names, ATTENTION_VIEW)
    with frame.guard():
        DRAWN[view](page, layer, heads)


def _offer_switch_off(
    row: DeltaGenerator, layer: int, heads: Sequence[int], num_heads: int
) -> None:
    """Draw a button in `row` that opens What if with the open heads off, besides those already off.

    No open heads mean all of the layer's.
    """
    opened = list(heads) or list(range(num_heads))
    names = [name_of(layer, head) for head in opened]
    label = f"Switch head {names[0]} off" if len(names) == 1 else "Switch these heads off"
    if len(opened) == num_heads > 1:
        label = f"Switch layer {layer}'s heads off"
    if row.button(
        label,
        key="switch_off",
        icon=":material/toggle_off:",
        help=(
            "Opens What if?, which shows BERT's answer with and without this change, side by side."
        ),
    ):
        switch_off(names)
        want_question()
        open_page("what_if")


def _note_sinks(page: frame.Page, layer: int, head: int) -> None:
    """Write what kind of sink a head has over our sentences, if it has one there."""
    if "parts" not in page.bert.capabilities:
        return
    texts = bundled_sentences().sentences
    # A caption: the views below do not wait for it.
    compute = Compute(name="sinks", stage="Zeroing values", patience=0.0)
    sinks = compute(find_sinks, page.bert_key, texts)
    for sink in sinks:
        if (sink.layer, sink.head) == (layer, head):
            said = frame.own_tokens(
                sink_sentence(sink, f"the {len(texts)} texts of the page Heads")
            )
            st.caption(f"{said} The kinds are explained there.")


def _note_window(page: frame.Page, layer: int) -> None:
    """Write how far a layer attends, if not to every token."""
    config = page.bert.config
    reach = config.window(layer) if isinstance(config, ModernBertConfig) else None
    if reach is None:
        return
    num_tokens = page.trace.num_tokens
    cut = (
        "the cells beyond it are masked, not small."
        if num_tokens > reach + 1
        else f"this text of {num_tokens} tokens fits within it."
    )
    st.caption(f"Layer {layer} attends within {reach} tokens to each side (a local window); {cut}")


def draw() -> None:
    """Draw the page."""
    views(frame.begin(PAGE))
