"""The prediction at each layer: the lens, and the ranks of chosen words."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.words.lens import Lens, Trajectories, layer_predictions, word_trajectories

from ..plots.charts import Lines, TokenMap, layer_names
from ..shell import Field, Picture, frame, one_of

LENS_ROWS = 24  # tokens of the lens that are drawn at a time
TOP_K = 5

AT_THE_MASK, WHOLE_SENTENCE = "At the mask", "Whole sentence"
VIEWS = (AT_THE_MASK, WHOLE_SENTENCE)
VIEW = Field("lens", AT_THE_MASK, VIEWS)
FIRST_TOKEN = Field("lens_start", 0)


def _lens_words(lens: Lens) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings), position and rank."""
    layer, place, rank = (at.ravel() for at in np.indices(lens.words.shape))
    return pd.DataFrame(
        {
            "layer": layer,
            "position": np.array(lens.positions)[place],
            "token": [lens.tokens[n] for n in place],
            "entropy_bits": lens.entropy[layer, place].astype(float),
            "rank": rank + 1,
            "piece": lens.words.ravel(),
            "p": lens.probabilities.ravel().astype(float),
        }
    )


def _ranks(path: Trajectories) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings) and word."""
    layer, word = (at.ravel() for at in np.indices(path.ranks.shape))
    return pd.DataFrame(
        {
            "layer": layer,
            "word": [path.words[i] for i in word],
            "rank": path.ranks.ravel(),
            "p": path.probabilities.ravel().astype(float),
        }
    )


def _layers(words: pd.DataFrame) -> list[str]:
    names = layer_names(int(words.layer.max()) + 1)
    return [names[layer] for layer in words.layer]


def _places(words: pd.DataFrame) -> list[str]:
    names = {1: "best", 2: "2nd", 3: "3rd"}
    return [names.get(rank, f"{rank}th") for rank in words["rank"]]


SENTENCE: dict[str, Any] = {
    "x": "layer",
    "x_name": _layers,
    "y": "position",
    "y_name": "token",
    "is_upwards": False,
}
"""How the lens of a whole sentence is drawn: the best word of each token and layer."""
LENS = Picture(
    name="lens",
    chart=TokenMap(
        table=_lens_words,
        text="piece",
        value="p",
        x="rank",
        x_name=_places,
        y="layer",
        y_name=_layers,
        is_upwards=True,
    ),
    needs=frozenset({"lens"}),
    how=(
        "The word that BERT would predict if it stopped after this layer, from the embeddings to "
        "the last layer; brighter is more probable. The masked-word head was trained on the last "
        "layer only: on earlier layers it shows how close a vector is to the head's input space, "
        "not what that layer knows. Layer 1 is the output of the encoder layer with the heads of "
        "layer 0. At a token that is not hidden, BERT sees the token itself and mostly repeats it."
    ),
    code="""
from bertcore.analysis.words.lens import layer_predictions

lens = layer_predictions(bert, trace.text_a, trace.text_b, {masked}, {positions}, 5)
lens.words, lens.probabilities              # [L+1, N, k]
""",
)
RANKS = Picture(
    name="ranks",
    chart=Lines(
        table=_ranks,
        y="rank",
        by="word",
        hover=["<b>{name}</b>: rank %{y:,}, %{customdata:.3%}"],
        detail="p",
        is_rank=True,
        y_title="rank (1 = best)",
    ),
    needs=frozenset({"lens"}),
    how=(
        "Rank 1 is the most probable word of the vocabulary. The curves follow the hidden word, "
        "the three best words of the last layer, and those of your own words that are one piece."
    ),
    code="""
from bertcore.analysis.words.lens import word_trajectories

path = word_trajectories(bert, trace.text_a, trace.text_b, {masked}, {position}, {words})
path.ranks                                  # [L+1, W]
""",
)


@frame.section("The prediction at each layer")
def show_lens(page: frame.Page, masked: tuple[int, ...], position: int) -> None:
    """Draw the prediction after each layer, for one mask or along the sentence."""
    is_whole = one_of("Lens", VIEWS, VIEW) == WHOLE_SENTENCE
    positions = choose_window(page.trace.num_tokens) if is_whole else (position,)
    values: dict[str, Any] = {"masked": masked, "positions": positions}
    values["drawn"] = SENTENCE if is_whole else {}
    LENS.show(
        page, page.compute(layer_predictions, *page.texts, masked, positions, TOP_K), **values
    )


def choose_window(num_tokens: int) -> tuple[int, ...]:
    """Return the positions of the lens: all, or as many as fit from the chosen one on."""
    last = num_tokens - LENS_ROWS
    if last <= 0:
        return tuple(range(num_tokens))
    start = st.slider("First token", 0, last, key=FIRST_TOKEN.key(low=0, high=last))
    return tuple(range(start, start + LENS_ROWS))


@frame.section()
def show_ranks(
    page: frame.Page,
    masked: tuple[int, ...],
    position: int,
    words: tuple[str, ...],
    original: str | None,
) -> None:
    """Draw the rank of each of `words` from layer to layer."""
    values: dict[str, Any] = {"masked": masked, "position": position, "words": words}
    values["drawn"] = {"accent": original}
    RANKS.show(
        page, page.compute(word_trajectories, *page.texts, masked, position, words), **values
    )
