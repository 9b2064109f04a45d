"""Attention: what each token attends to, in every head of every layer."""

import math
from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertcore.analysis.heads.sinks import MOSTLY, SINKS, find_sinks
from bertcore.analysis.heads.texts import bundled_sentences
from bertcore.architecture.config import ModernBertConfig

from ..bertviz_views.controls import draw_bertviz
from ..canvas.shared.attention_data import shown_heads
from ..canvas.views import HEADS, LAYER, draw_lines, draw_map, draw_neurons, draw_overview
from ..plots import BERT, SpecialTokens, own_text, plain
from ..plots.sinks import sink_sentence
from ..shell import Compute, frame, one_of, open_page
from ..shell.links import ATTENTION_VIEW as VIEW
from ..shell.links import name_of, switch_off, want_question
from . import PAGE, decoder

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


VIEWS = {"lines": "Lines", "heat-map": "Heat map", "neurons": "Neurons", "bertviz": "BertViz"}
DRAWN = {
    "lines": draw_lines,
    "heat-map": draw_map,
    "neurons": draw_neurons,
    "bertviz": draw_bertviz,
}


@frame.fragment
def views(page: frame.Page) -> None:
    """Draw overview and views; a click in them reruns only this, not the page."""
    trace = page.trace
    num_layers, num_heads = trace.attentions.shape[:2]
    LAYER.key(low=0, high=num_layers - 1)
    HEADS.key(options=list(range(num_heads)))
    layer, heads = LAYER.value, shown_heads(HEADS.value, num_heads)
    with frame.guard():
        summary = draw_overview(page, layer, heads)
        measures = summary.measures.of(layer, heads)
        marks = SpecialTokens(*map(plain, summary.marks))
        row = st.container(horizontal=True, vertical_alignment="center", key="attention_open")
        sentence = head_sentence(measures, layer, heads, trace.num_tokens, marks)
        row.markdown(sentence, width="stretch")
        _offer_switch_off(row, layer, heads, num_heads)
        _note_window(page, layer)
        if len(heads) == 1 and any(measures[target] >= MOSTLY for target in SINKS):
            with frame.guard():
                _note_sinks(page, layer, heads[0])
    names = VIEWS | (decoder.VIEW if "decoder" in page.bert.capabilities else {})
    view = one_of("View", names, VIEW)
    with frame.guard():
        if view == "decoder":
            decoder.draw(page)
        else:
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
