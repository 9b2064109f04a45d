"""The decoder of T5 and BART on the attention page: where it looks while it writes."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.attention import decoder_figures as figures
from app.shell import cache, frame, state, texts_lookup
from bertcore import Bert
from bertcore.others.bert import OtherBert
from bertcore.others.decoder import DecoderTrace

VIEW = {"decoder": "Decoder"}
SIDES = {"cross": "At the text (cross-attention)", "own": "At what it wrote (self-attention)"}
MEAN = "all"


def has_decoder(bert: Bert) -> bool:
    """Tell whether a checkpoint has a decoder that can be traced."""
    return isinstance(bert, OtherBert) and bert.has_decoder


def decoder_trace(bert: Bert, text_a: str, text_b: str | None) -> DecoderTrace:
    """Return the decoder's run; for `cache.call`."""
    if not isinstance(bert, OtherBert):
        raise ValueError("this checkpoint has no decoder.")
    return bert.decoder(text_a, text_b)


def draw(key: cache.BertKey, text_a: str, text_b: str | None) -> None:
    """Draw one head of the decoder, or the mean of a layer, as a heat map."""
    found = cache.call(decoder_trace, key, text_a, text_b)
    num_layers, num_heads = found.attentions.shape[:2]
    picture = st.container()
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    side = row.segmented_control(
        "Where it looks",
        list(SIDES),
        format_func=SIDES.get,
        key=state.keep("decoder_side", "cross", options=list(SIDES)),
        required=True,
    )
    layers = list(range(num_layers))
    layer = row.segmented_control(
        "Layer of the decoder",
        layers,
        key=state.keep("decoder_layer", layers[-1], options=layers),
        required=True,
    )
    names = [MEAN, *map(str, range(num_heads))]
    head = row.selectbox(
        "Head",
        names,
        format_func=lambda name: "mean of all" if name == MEAN else f"head {name}",
        key=state.keep("decoder_head", MEAN, options=names),
        width=150,
    )
    maps = (found.cross_attentions if side == "cross" else found.attentions)[layer].float()
    weights = maps.mean(0) if head == MEAN else maps[int(head)]
    columns = found.source_tokens if side == "cross" else found.tokens
    part = "mean(0)" if head == MEAN else f"select(0, {head})"
    which = "cross_attentions" if side == "cross" else "attentions"
    code = texts_lookup.CODE["attention.decoder"].format(
        source=key.source, a=text_a, b=text_b, which=which, layer=layer, part=part
    )
    table = pd.DataFrame(weights.numpy())
    table.columns = [f"{number} {token}" for number, token in enumerate(columns)]
    table.insert(0, "token", found.tokens)
    table.insert(1, "most probable next", found.written)
    with picture:
        fig = figures.decoder_map(weights.numpy(), found.tokens, columns, found.written)
        frame.figure(fig, "decoder-attention", table, code)
    frame.how_to_read("attention.decoder")
