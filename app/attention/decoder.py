"""The decoder of T5 and BART on the attention page: what it attends to as it writes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore import Model
from bertcore.others.model import DecoderTrace, OtherModel

from ..plots import Figure, shorten, theme
from ..shell import Field, Picture, frame, one_of

VIEW = {"decoder": "Decoder"}
SIDES = {"cross": "The text (cross-attention)", "own": "What it wrote (self-attention)"}
MEAN = "all"

SIDE = Field("decoder_side", "cross", tuple(SIDES))
LAYER = Field("decoder_layer", 0)
HEAD = Field("decoder_head", MEAN)


class DecoderMap(NamedTuple):
    """One map of a decoder."""

    weights: NDArray[np.float32]
    """[Td, N], a row for each token of the decoder; rows sum to 1."""
    tokens: Sequence[str]
    """What the decoder reads, [Td]."""
    columns: Sequence[str]
    """The tokens attended to, [N]."""
    written: Sequence[str]
    """The most probable next token after each, [Td]."""


def _decoder_map(attention_map: DecoderMap) -> Figure:
    """Draw one map of a decoder."""
    weights, tokens, columns, written = attention_map
    fig = Figure(
        {
            "type": "heatmap",
            # By the square root, as in the other maps, so that small weights are seen too.
            "z": np.sqrt(weights),
            "text": weights,
            "customdata": [[theme.escape(shorten(word))] * len(columns) for word in written],
            "zmin": 0,
            "zmax": 1,
            "colorscale": theme.SEQUENTIAL,
            "colorbar": {
                "title": {"text": "weight"},
                "thickness": 10,
                "tickvals": [0, 0.1**0.5, 0.5, 0.5**0.5, 1],
                "ticktext": ["0", "0.1", "0.25", "0.5", "1"],
            },
            "hovertemplate": "row %{y}, column %{x}<br>weight %{text:.3f}"
            "<br>writes next: %{customdata}<extra></extra>",
        }
    )
    height = 110 + 22 * max(6, len(tokens))
    theme.plot_layout(fig, "", "token attended to", "decoder", height)
    for axis, names in (("xaxis", columns), ("yaxis", tokens)):
        fig.settings[axis].update(
            tickmode="array",
            tickvals=list(range(len(names))),
            ticktext=[theme.escape(shorten(name)) for name in names],
        )
    fig.update_yaxes(autorange="reversed")
    return fig


def _decoder_table(attention_map: DecoderMap) -> pd.DataFrame:
    """Return a row for each token of the decoder, a column for each token attended to."""
    table = pd.DataFrame(attention_map.weights)
    table.columns = [f"{number} {token}" for number, token in enumerate(attention_map.columns)]
    table.insert(0, "token", list(attention_map.tokens))
    table.insert(1, "most probable next", list(attention_map.written))
    return table


DECODER = Picture(
    name="decoder-attention",
    figure=_decoder_map,
    table=_decoder_table,
    how=(
        "Each row is a token that the decoder reads; from its state the decoder writes the next "
        "one (point at a cell to see which). BART's decoder reads the text itself, shifted by one, "
        "as in its training; T5's reads what it has written so far, greedily decoded. "
        "Cross-attention goes to the encoder's tokens; self-attention goes to the decoder's own "
        "tokens, never to later ones. Each row sums to 1; brightness follows the square root of "
        "the weight."
    ),
    code="""
decoder = bert.decoder(trace.text_a, trace.text_b)
{weights}     # [Td, N], rows are decoder.tokens
""",
)


def decoder_trace(bert: Model, text_a: str, text_b: str | None) -> DecoderTrace:
    """Return the decoder's run; ValueError if the checkpoint has no decoder."""
    bert.require("decoder")
    assert isinstance(bert, OtherModel)  # ours have none
    return bert.decoder(text_a, text_b)


def draw(page: frame.Page) -> None:
    """Draw one head of the decoder, or the mean of a layer, as a heat map."""
    decoder = page.compute(decoder_trace, *page.texts)
    picture = st.container()
    side, layer, head = choose(*decoder.attentions.shape[:2])
    is_cross = side == "cross"
    maps = (decoder.cross_attentions if is_cross else decoder.attentions)[layer].float()
    weights = maps.mean(0) if head == MEAN else maps[int(head)]
    columns = decoder.source_tokens if is_cross else decoder.tokens
    which = "cross_attentions" if is_cross else "attentions"
    part = "mean(0)" if head == MEAN else f"select(0, {head})"
    with picture:
        DECODER.show(
            page,
            DecoderMap(weights.numpy(), decoder.tokens, columns, decoder.written),
            with_caption=False,
            weights=f"decoder.{which}[{layer}].{part}",
        )
    DECODER.caption()


def choose(num_layers: int, num_heads: int) -> tuple[str, int, str]:
    """Draw the choice of a side, a layer and a head, and return it."""
    row = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    side = one_of("Attends to", SIDES, SIDE, where=row, with_label=True)
    layers = range(num_layers)
    layer = one_of(
        "Layer of the decoder", layers, LAYER, default=layers[-1], where=row, with_label=True
    )
    names = [MEAN, *map(str, range(num_heads))]
    row.selectbox(
        "Head",
        names,
        format_func=lambda name: "mean of all" if name == MEAN else f"head {name}",
        key=HEAD.key(options=names),
        width=150,
    )
    return side, layer, HEAD.value
