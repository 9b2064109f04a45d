"""The view Where else?: the tokens of other sentences that are nearest to a chosen one."""

import pandas as pd
import streamlit as st

from bertcore.analysis.space.nearest import Neighbour, nearest, token_vectors
from bertcore.probes import bundled_data

from ..plots import plain, shorten
from ..shell import Field, Picture, frame
from ..shell.links import MAP_LAYER
from ..sources import my_sentences
from .view import Chosen, sentences_code

SOURCES = {"own": "Our sentences", **my_sentences.OFFERED, "file": "Upload"}
SOURCE = Field("map_among", "own", tuple(SOURCES))
TOKEN = Field("map_token", 0)  # position of the token whose neighbours are shown
NUM_SHOWN = 20
CONTEXT = 60
"""Characters of the text that are shown on each side of a token."""
OWN_CODE = """
from bertcore.probes import bundled_data

texts = [sentence.text for sentence in bundled_data().sentences]
"""
LIST_CODE = "texts = [text for sentence in sentences for text in sentence[:2] if text]\n"


def _table(found: list[Neighbour]) -> pd.DataFrame:
    names = ("cosine", "token", "text", "start", "end")
    return pd.DataFrame({name: [getattr(each, name) for each in found] for name in names})


NEAREST = Picture(
    name="layer-map-nearest",
    table=_table,
    how=(
        "The {num} tokens, of {all:,} in the sentences, whose vectors have the highest cosine with "
        "that of *{token}* after layer {layer} (0: the embeddings). With all of them its mean "
        "cosine is {mean:.2f}: no more than that is near by chance. At layer 0 the same word comes "
        "first; later, what is used alike. Tokens of the same text are left out."
    ),
    code="""
from bertcore.analysis import nearest, token_vectors
{texts}
among = token_vectors(bert, texts, {layer})
nearest(among, trace.hidden_states[{layer}, {position}], without={own!r})
""",
)


def show_nearest(page: frame.Page, chosen: Chosen | None) -> None:
    """Draw the choice of a token and a layer, and the nearest tokens.

    Args:
        chosen: The sentences that are searched; None for those of the shipped treebank.
    """
    trace, last = page.trace, page.bert.config.num_hidden_layers
    row = st.container(horizontal=True, vertical_alignment="bottom", key="map_controls")
    positions = list(range(len(trace.tokens)))
    # A long word says more than an article.
    usual = max(positions, key=lambda place: (trace.text_ids[place] >= 0, len(trace.tokens[place])))
    position = row.selectbox(
        "Token",
        positions,
        format_func=lambda place: f"{trace.tokens[place]} {place}",
        key=TOKEN.key(default=usual, options=positions),
        width=180,
    )
    key = MAP_LAYER.key(default=last, low=0, high=last)
    layer = row.slider("Layer", 0, last, key=key, width=260)
    own = page.text_b if trace.text_ids[position] == 1 else page.text_a
    if chosen is None:
        texts = tuple(dict.fromkeys(sentence.text for sentence in bundled_data().sentences))
        code = OWN_CODE
    else:
        texts = tuple(text for sentence in chosen.sentences for text in sentence[:2] if text)
        code = sentences_code(chosen.sentences, is_list=chosen.is_list) + LIST_CODE
    with frame.guard():
        among = page.compute(token_vectors, texts, layer)
        found, mean = nearest(
            among, trace.hidden_states[layer, position], NUM_SHOWN, without=own or ""
        )
        for note in among.notes:
            st.caption(plain(note))
        if not found:
            st.info("There is no other text to search. Add sentences to the list or the file.")
            return
        _draw(found)
        NEAREST.offer(
            page,
            found,
            num=len(found),
            all=len(among.tokens),
            token=plain(trace.tokens[position]),
            layer=layer,
            mean=mean,
            position=position,
            texts=code,
            own=own,
        )


def _draw(found: list[Neighbour]) -> None:
    rows = {
        "cosine": [each.cosine for each in found],
        "token": [each.text[each.start : each.end] for each in found],
        "in its text": [_in_context(each) for each in found],
    }
    column = st.column_config
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        height=38 + 35 * len(found),
        column_config={
            "cosine": column.NumberColumn(format="%.3f", width=70),
            "token": column.TextColumn(width=110),
        },
    )


def _in_context(found: Neighbour) -> str:
    before, after = found.text[: found.start], found.text[found.end :]
    before = before if len(before) <= CONTEXT else f"…{before[1 - CONTEXT :]}"
    return f"{before}«{found.text[found.start : found.end]}»{shorten(after, CONTEXT)}"
