"""The prediction at each layer: the lens, and the ranks of chosen words."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bertcore.analysis.words.lens import Lens, Trajectories, layer_predictions, word_trajectories

from ..plots import ON_AXIS, Figure, percent, shorten, theme
from ..plots.cells import cell_text
from ..plots.charts import layer_names, lines
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


def lens_map(lens: Lens, *, is_whole: bool = False) -> Figure:
    """Draw words in cells, coloured by probability: the best few of each layer at one position.

    Args:
        is_whole: The best word of each token and layer instead.
    """
    layers = layer_names(len(lens.words))
    if is_whole:
        words, values = lens.words[..., 0].T, lens.probabilities[..., 0].T  # [N, L+1]
        columns, rows = layers, list(lens.tokens)
    else:
        words, values = lens.words[:, 0], lens.probabilities[:, 0]  # [L+1, k]
        places = {1: "best", 2: "2nd", 3: "3rd"}
        columns = [places.get(rank, f"{rank}th") for rank in range(1, words.shape[1] + 1)]
        rows = layers
    letters = max(6, 70 // len(columns))
    hover = [
        [
            f"<b>{theme.escape(word)}</b>  {percent(float(p))}<br>"
            f"{theme.escape(row)}, {theme.escape(name)}"
            for word, p, name in zip(line, numbers, columns, strict=True)
        ]
        for line, numbers, row in zip(words, values, rows, strict=True)
    ]
    fig = Figure()
    bar = theme.bar_above("probability", tickformat=".0%")
    fig.heat(values, theme.FRACTIONS, "%{customdata}", gap=2, colorbar=bar, customdata=hover)
    texts = [[theme.escape(shorten(word, letters)) for word in line] for line in words]
    fig.add_trace(cell_text(values, texts, 12 if len(columns) < 8 else 10))
    theme.plot_layout(fig, "", "", "", 30 * len(rows) + 100)
    fig.update_layout(margin={"l": 0, "r": 0, "t": 54, "b": 0})
    short = [name.replace("layer ", "") for name in columns] if len(columns) > 7 else columns
    fig.update_xaxes(
        range=[-0.5, len(columns) - 0.5],
        tickvals=list(range(len(columns))),
        ticktext=[theme.escape(name) for name in short],
        tickangle=0,
        showgrid=False,
    )
    upwards = [-0.5, len(rows) - 0.5]
    fig.update_yaxes(
        range=upwards[::-1] if is_whole else upwards,
        tickvals=list(range(len(rows))),
        ticktext=[theme.escape(shorten(name, ON_AXIS)) for name in rows],
        showgrid=False,
    )
    return fig


def rank_curves(path: Trajectories, *, accent: str | None = None) -> Figure:
    """Draw the rank of each word from layer to layer, on a logarithmic scale, 1 on top."""
    table = _ranks(path)
    hover = "<b>{name}</b>: rank %{y:,}, %{customdata:.3%}"
    columns = {"x": "layer", "y": "rank", "by": "word", "detail": "p"}
    fig = lines(table, **columns, hover=hover, accent=accent or "")
    theme.plot_layout(fig, "", "", "rank (1 = best)", 330)
    num_states, worst = len(path.ranks), table["rank"].max() if len(table) else 10
    powers = list(range(int(np.ceil(np.log10(max(worst, 2)))) + 1))
    fig.update_xaxes(tickvals=list(range(num_states)), ticktext=layer_names(num_states))
    fig.update_yaxes(
        type="log",
        range=[float(np.log10(max(worst, 10))) + 0.15, -0.15],
        tickvals=[10**e for e in powers],
        ticktext=[f"{10**e:,}" for e in powers],
    )
    fig.update_layout(hovermode="x unified", showlegend=True)
    return fig


RANKS_OPEN = Field("ranks", False)
LENS = Picture(
    name="lens",
    figure=lens_map,
    table=_lens_words,
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
    figure=rank_curves,
    table=_ranks,
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


@frame.fragment
def show_lens(page: frame.Page, masked: tuple[int, ...], position: int) -> None:
    """Draw the prediction after each layer, for one mask or along the sentence."""
    st.header("The prediction at each layer", anchor=False)
    is_whole = one_of("Lens", VIEWS, VIEW) == WHOLE_SENTENCE
    positions = choose_window(page.trace.num_tokens) if is_whole else (position,)
    values: dict[str, Any] = {"masked": masked, "positions": positions}
    values["drawn"] = {"is_whole": is_whole}
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


@frame.closed("How does each word's rank change from layer to layer?", RANKS_OPEN)
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
