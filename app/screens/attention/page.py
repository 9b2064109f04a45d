"""Attention: what each token attends to, in every head of every layer."""

import math
from collections.abc import Callable, Mapping, Sequence
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
from bertcore.model.architecture.config import ModernBertConfig

from ...parts.bertviz_views import view as bertviz
from ...parts.canvas.heat_map import heat_map
from ...parts.canvas.lines import lines
from ...parts.canvas.neurons import neurons
from ...parts.canvas.overview import overview
from ...plots import BERT, SpecialTokens, own_text, plain
from ...shell import Field, caption, computed, frame, is_available, offer, one_of, open_page, show
from ...shell.links import ATTENTION_VIEW, HEADS, LAYER, LAYERS, name_of, switch_off
from ...shell.pictures import capabilities
from ...shell.pictures.canvas_options import keep_options, kept_options, last_revision
from ...shell.words import tr
from ...view import View
from . import PAGE, views

_KINDS = {
    "to_previous": "the token before",
    "to_next": "the token after",
    "to_self": "itself",
    "to_first": "[CLS]",
    "to_separator": "[SEP]",
}
_MOSTLY, _OFTEN = 0.5, 0.25
NOT_NUMBERS = "{name} gives weights that are not numbers (NaN), so it has no habit."
ZEROED = (
    "Value zeroing is computed for at most {most} tokens; this text has {tokens}. Use a shorter "
    "text, or the norms."
)
ONE_HEAD = (
    "Queries and keys belong to one head: this is head {head}. Choose another below or in the "
    "overview."
)
WINDOW = "Layer {layer} attends within {reach} tokens to each side (a local window); {cut}"


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

    The words are ours: "mostly" from 50% on, "often" from 25% on.
    """
    name = tr("Layer {layer}, the mean of all heads,", layer=layer)
    if heads:
        one, several = "Layer {layer}, head {heads}", "Layer {layer}, the mean of heads {heads},"
        numbers = ", ".join(map(str, heads))
        name = tr(several if heads[1:] else one, layer=layer, heads=numbers)
    fractions = {kind: measures[kind] for kind in _KINDS if not math.isnan(measures[kind])}
    if not fractions and num_tokens > 1:
        return tr(NOT_NUMBERS, name=name)
    if not fractions:
        return tr("{name} has only one token to attend to.", name=name)
    best = max(fractions, key=lambda kind: fractions[kind])
    target, amount = own_text(tr(_KINDS[best]), marks), f"{fractions[best]:.0%}"
    sentence = "{name} has no single habit of place: at most {amount} goes to {target}."
    if fractions[best] >= _MOSTLY:
        sentence = "{name} attends mostly to {target}: {amount}."
    elif fractions[best] >= _OFTEN:
        sentence = "{name} often attends to {target}: {amount}."
    return tr(sentence, name=name, target=target, amount=amount)


OVERVIEW_OPTIONS = Field("overview", "")
LINES_OPTIONS = Field("lines", "")
MAP_OPTIONS = Field("map", "")
NEURONS_OPTIONS = Field("neurons", "")
WEIGHTS = "weights"
MEASURE = Field("measure", WEIGHTS, (WEIGHTS, *views.MEASURED))
BERTVIZ_KIND = Field("bertviz", "head", tuple(bertviz.KINDS))

SIDES = {"cross": "The text (cross-attention)", "own": "What it wrote (self-attention)"}
MEAN = "all"
DECODER_SIDE = Field("decoder_side", "cross", tuple(SIDES))
DECODER_LAYER = Field("decoder_layer", 0)
DECODER_HEAD = Field("decoder_head", MEAN)
OTHER_HEADS = Field("other_heads", False)


def open_heads(selection: Any) -> None:
    """Open what was chosen in a view: heads, none for all, and their layer, or those of a mean."""
    layers = sorted(selection["layers"]) if "layers" in selection else [selection["layer"]]
    LAYER.put(layers[0])
    LAYERS.put(layers if len(layers) > 1 else [])
    HEADS.put(selection["heads"])


@frame.closed(views.OVERVIEW.question, OTHER_HEADS, OVERVIEW_OPTIONS, alone=False, is_small=True)
def show_other_heads(
    page: frame.Page, shown: AttentionOverview, layer: int, heads: list[int]
) -> None:
    """Draw all heads as small pictures."""
    options, marks = kept_options(OVERVIEW_OPTIONS, overview), page.marks
    overview.COMPONENT(
        overview.message(shown, layer, heads, options, marks),
        key="attention_overview",
        picked=open_heads,
        look=partial(keep_options, OVERVIEW_OPTIONS, overview),
    )
    drawn = {"layer": layer, "heads": heads, "options": options, "marks": marks}
    offer(views.OVERVIEW, page, shown, drawn=drawn, title="all heads")


def _draw_canvas(canvas: Any, field: Field[str], key: str, shown: object) -> Callable[..., None]:
    """Draw the component of a module on its canvas; return what offers its files."""
    options = kept_options(field, canvas)
    canvas.COMPONENT(
        canvas.message(shown, last_revision(key), options),
        key=key,
        selection=open_heads,
        look=partial(keep_options, field, canvas),
    )
    return partial(offer, drawn={"options": options})


def draw_lines(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw the layer's attention as lines between two columns of tokens."""
    chosen = (layer, tuple(heads))
    shown = layer_attention(page.trace, *chosen)
    title, file = f"lines of layer {layer}", f"attention-layer-{layer}"
    _draw_canvas(lines, LINES_OPTIONS, "attention_lines", shown)(
        views.LINES, page, shown, *chosen, title=title, file=file
    )


def draw_map(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw a head, or the mean of the chosen heads and layers, or another measure of a layer.

    A measure is of one head, or of all together.
    """
    LAYERS.key(options=list(range(page.trace.attentions.shape[0])))
    names = {WEIGHTS: "Attention weights"} | {
        name: label for name, (label, _) in views.MEASURED.items()
    }
    measure = one_of("Map of", names, MEASURE, with_label=True)
    view: View[AttentionMap]
    chosen: tuple[Any, ...]
    if measure == WEIGHTS:
        view, chosen = views.MAP, (tuple(sorted({*LAYERS.value})) or (layer,), tuple(heads))
    else:
        view, chosen = views.MEASURED[measure][1], (layer, heads[0] if len(heads) == 1 else None)
        if view is views.ZEROING:
            chosen = chosen[:1]
        if not is_available(view, page):
            return
        if view is views.ZEROING and page.trace.num_tokens > MOST_ZEROED:
            st.info(tr(ZEROED, most=MOST_ZEROED, tokens=page.trace.num_tokens))
            return
    shown = computed(view, page, *chosen)
    offer_it = _draw_canvas(heat_map, MAP_OPTIONS, "attention_map", shown)
    offer_it(view, page, shown, *chosen, title=shown.title)


def draw_neurons(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw how one weight of a head is computed: query times key, score, softmax."""
    if not is_available(views.NEURONS, page):
        return
    head = heads[0] if heads else 0
    if len(heads) != 1:
        st.caption(tr(ONE_HEAD, head=head))
    steps = head_steps(page.bert, page.trace, layer, head)
    title, file = f"neurons of layer {layer} head {head}", f"neurons-layer-{layer}-head-{head}"
    _draw_canvas(neurons, NEURONS_OPTIONS, "attention_neurons", steps)(
        views.NEURONS, page, steps, layer, head, title=title, file=file
    )


CUT = (
    "BertViz draws every weight by itself, so only the first {shown} of {total} tokens are shown "
    "here. Their attention to the others is left out: rows do not sum to 1. The other views show "
    "all tokens."
)


def draw_bertviz(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw the chosen one of BertViz's views."""
    kind = one_of("BertViz's view", bertviz.KINDS, BERTVIZ_KIND)
    view: View[Any] = views.BERTVIZ_NEURONS if kind == "neuron" else views.BERTVIZ
    if not is_available(view, page):
        return
    chosen = (layer, (heads or [0])[0] if kind == "neuron" else tuple(heads))
    result = view.of(page.trace, *chosen)
    drawn = bertviz.view_of(result, kind)
    if drawn.shown < drawn.total:
        st.warning(tr(CUT, shown=drawn.shown, total=drawn.total))
    title, file = f"BertViz, {bertviz.KINDS[kind].lower()}", f"attention-bertviz-{kind}"
    st.iframe(drawn.html, height=min(drawn.height, 900), alt=title)
    offer(view, page, result, *chosen, drawn={"kind": kind}, title=title, file=file)


def draw_decoder(page: frame.Page, layer: int, heads: list[int]) -> None:
    """Draw one head of the decoder, or the mean of a layer; the encoder's are not asked for."""
    picture, row = st.container(), st.container(horizontal=True, vertical_alignment="bottom")
    num_layers, num_heads = computed(views.DECODER, page, *page.texts).attentions.shape[:2]
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
        tr("Head"),
        names,
        format_func=lambda name: tr("mean of all") if name == MEAN else name,
        key=DECODER_HEAD.key(options=names),
        width=150,
    )
    head = None if DECODER_HEAD.value == MEAN else int(DECODER_HEAD.value)
    drawn = {"side": side, "layer": of, "head": head}
    with picture:
        decoder = show(views.DECODER, page, *page.texts, drawn=drawn, with_caption=False)
    if decoder is not None:
        caption(views.DECODER, decoder)


VIEWS = {"lines": "Lines", "heat-map": "Heat map", "neurons": "Neurons", "bertviz": "BertViz"}
DRAWN = {
    "lines": draw_lines,
    "heat-map": draw_map,
    "neurons": draw_neurons,
    "bertviz": draw_bertviz,
    "decoder": draw_decoder,
}


@frame.fragment
def show_views(page: frame.Page) -> None:
    """Draw overview and views; a click in them reruns only this, not the page."""
    trace = page.trace
    num_layers, num_heads = trace.attentions.shape[:2]
    LAYER.key(low=-1, high=num_layers - 1)
    HEADS.key(options=list(range(num_heads)))
    with frame.guard():
        summary = computed(views.OVERVIEW, page)
        # With one head in the checkpoint, that head, not a mean.
        layer, heads = LAYER.value, [0] if num_heads == 1 else sorted({*HEADS.value})
        if layer < 0:
            layer = 0
            if not HEADS.value and not LAYERS.value:
                layer, head = summary.measures.clearest
                heads = [head]
        measures = summary.measures.of(layer, heads)
        marks = SpecialTokens(*map(plain, page.marks))
        row = st.container(horizontal=True, vertical_alignment="center", key="attention_open")
        sentence = head_sentence(measures, layer, heads, trace.num_tokens, marks)
        row.markdown(f"**{sentence}**", width="content")
        _offer_switch_off(row, layer, heads, num_heads)
        _note_window(page, layer)
    show_other_heads(page, summary, layer, heads)
    names = VIEWS | ({"decoder": "Decoder"} if "decoder" in page.bert.capabilities else {})
    view = one_of("View", names, ATTENTION_VIEW)
    with frame.guard():
        DRAWN[view](page, layer, heads)


def _offer_switch_off(
    row: DeltaGenerator, layer: int, heads: Sequence[int], num_heads: int
) -> None:
    """Draw a button that opens What if with the open heads off too; none open: the layer's."""
    if row.button(
        tr("Switch off in What if?"),
        key="switch_off",
        type="tertiary",
        icon=":material/toggle_off:",
        help=tr("BERT's answer with and without this change, side by side, on another page."),
    ):
        switch_off([name_of(layer, head) for head in list(heads) or range(num_heads)])
        open_page("what_if")


def _note_window(page: frame.Page, layer: int) -> None:
    """Write how far a layer attends, if not to every token."""
    config = page.bert.config
    reach = config.window(layer) if isinstance(config, ModernBertConfig) else None
    if reach is None:
        return
    num_tokens = page.trace.num_tokens
    cut = tr("the cells beyond it are masked, not small.")
    if num_tokens <= reach + 1:
        cut = tr("this text of {tokens} tokens fits within it.", tokens=num_tokens)
    st.caption(tr(WINDOW, layer=layer, reach=reach, cut=cut))


def draw() -> None:
    """Draw the page."""
    page = frame.begin(PAGE)
    capabilities.note_attention(page)
    show_views(page)
