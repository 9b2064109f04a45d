"""The prediction at each layer: the lens, and the ranks of chosen words."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from bertcore import Model
from bertcore.analysis.tuned_lens import (
    LensGain,
    fit_tuned_lens,
    place_to_save,
    save_tuned_lens,
)
from bertcore.analysis.words.lens import Lens, Trajectories, layer_predictions, word_trajectories
from bertcore.data.sentences import split_sentences
from bertcore.pretraining import read_sentences
from bertcore.pretraining.data.bundled import NOVEL

from ..access import visits
from ..access.room import check_room
from ..plots import plain, theme
from ..plots.charts import Line, Lines, TokenMap, layer_names
from ..shell import Compute, Field, Picture, Progress, frame, one_of
from ..sources.tuned_lens import opened, shown, usable, visit_place

SHIPPED_TEXT, OWN_TEXT = "The shipped novel", "Your own text"
TEXTS = (SHIPPED_TEXT, OWN_TEXT)
TEXT = Field("lens_text", SHIPPED_TEXT, TEXTS)
FIT = Field("lens_fit", False)
OWN = Field("lens_own_text", "")
SETUP = """
from pathlib import Path
from bertcore.analysis.tuned_lens import read_tuned_lens

tuned = read_tuned_lens(Path({path!r}), bert)
"""


def _gain_rows(gain: LensGain) -> pd.DataFrame:
    """Return a row for each layer (0: embeddings)."""
    columns: dict[str, object] = {"layer": range(len(gain.saved_bits.mean))}
    for name, quality in (("plain", gain.plain), ("tuned", gain.tuned)):
        for kind, interval in (("bits", quality.bits), ("agreement", quality.agreement)):
            columns[f"{name}_{kind}"] = interval.mean
            columns[f"{name}_{kind}_low"], columns[f"{name}_{kind}_high"] = interval[1:]
    saved = gain.saved_bits
    columns |= {"saved_bits": saved.mean, "saved_low": saved.low, "saved_high": saved.high}
    return pd.DataFrame(columns)


GAIN = Picture(
    name="tuned-lens-gain",
    chart=Lines(
        table=_gain_rows,
        lines=[
            Line(f"{lens} lens", f"{lens}_{measure}", colour, panel)
            for lens, colour in (("plain", theme.SPECIAL), ("tuned", theme.ACCENT))
            for panel, measure in enumerate(("bits", "agreement"))
        ],
        panels=("KL to the last layer, bits", "same best word"),
        hover=("{name}, layer %{x}: %{y:.2f}", "{name}, layer %{x}: %{y:.1%}"),
        x_title="layer (0: embeddings)",
    ),
    needs=frozenset({"lens", "mlm"}),
    how=(
        "Both lenses on {tokens} hidden tokens of {sentences} sentences that the tuned lens was "
        "not fitted on: how far the words of each layer are from the last layer's (KL, in bits; 0 "
        "is the same), and at how many tokens the best word is the same. Error bars are 95% "
        "bootstrap intervals over sentences."
    ),
    code=SETUP + "tuned.gain.plain.bits, tuned.gain.tuned.bits   # means and intervals, [L]\n",
)


def show_gain(page: frame.Page, path: Path) -> None:
    """Draw what the lens gains, and what it was fitted on."""
    lens = opened(page, path)
    gain = lens.gain
    numbers: dict[str, Any] = {
        "tokens": f"{gain.num_tokens:,}",
        "sentences": f"{gain.num_sentences:,}",
    }
    with st.expander("What the tuned lens gains"):
        GAIN.show(page, gain, path=shown(path), **numbers)
        st.caption(
            f"Fitted on {lens.num_tokens:,} hidden tokens of {plain(lens.text)}, "
            f"{lens.num_steps:,} steps of Adam per layer."
        )


def offer_fit(page: frame.Page) -> None:
    """Draw the choice of a text and the button that fits a lens; then its progress."""
    FIT.key()
    row = st.container(horizontal=True, vertical_alignment="bottom")
    source = one_of("Fit a tuned lens on", TEXTS, TEXT, where=row, with_label=True)
    own = ""
    if source == OWN_TEXT:
        own = st.text_area(
            "Text to fit on",
            key=OWN.key(),
            height=160,
            placeholder="Some pages of text in the checkpoint's language",
        )
    icon = ":material/tune:"
    is_empty = source == OWN_TEXT and not own.strip()
    about = "About a minute for a small checkpoint, several for one as large as BERT base."
    if row.button("Fit the lens", icon=icon, disabled=is_empty, help=about):
        FIT.put(True)
    if not FIT.value or is_empty:
        return
    with frame.guard():
        compute = Compute(name="tuned-lens", stopped="The fit was stopped.")
        compute(fit, page.bert_key, own if source == OWN_TEXT else None, _place(page.bert))
        FIT.put(False)
        st.rerun()


def fit(model: Model, own: str | None, place: Path, *, on_fraction: Progress) -> Path:
    """Fit a lens and write it to a file; return that.

    Args:
        model: The checkpoint.
        own: The visitor's text; None for the shipped one.
        on_fraction: Called with the fraction done and the stage.
    """
    if own is None:
        documents = read_sentences([NOVEL.train])
        sentences, text = [s for document in documents for s in document], NOVEL.title
    else:
        sentences = [s for line in own.splitlines() for s in split_sentences(line)]
        text = "a typed text"
    lens = fit_tuned_lens(model, sentences, text=text, on_fraction=on_fraction)
    return save_tuned_lens(lens, place)


def _place(model: Model) -> Path:
    """Return the file to write: on a closed server the visitor's own.

    ValueError if the visitor has no room for it.
    """
    own = visit_place(model)
    if own is None:
        return place_to_save(model)
    visits.current().place(own.parent.name)
    config = model.config
    check_room(4 * config.num_hidden_layers * config.hidden_size * (config.hidden_size + 1))
    return own


LENS_ROWS = 24  # tokens of the lens that are drawn at a time
TOP_K = 5
TITLES = {"lens": "Plain lens", "tuned-lens": "Tuned lens"}
"""Titles of pictures that stand side by side."""

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
TUNED_LENS = replace(
    LENS,
    name="tuned-lens",
    needs=frozenset({"lens", "mlm"}),
    how=(
        "The same through a **tuned lens**: before the masked-word head reads a layer, an affine "
        "map for that layer, fitted on hidden words of a text, moves its vectors towards the last "
        "layer's answers (Belrose et al. 2023). It shows what a layer knows in directions other "
        "than the head's. At a token that is not hidden it is only a guess, since it was fitted at "
        "hidden ones."
    ),
    code=SETUP + LENS.code.replace(" 5)", " 5, tuned)"),
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
TUNED_RANKS = replace(
    RANKS,
    name="tuned-ranks",
    needs=frozenset({"lens", "mlm"}),
    how="The ranks of the same words through the tuned lens; the last layer is the same.",
    code=SETUP
    + """
from bertcore.analysis.words.lens import word_trajectories

path = word_trajectories(
    bert, trace.text_a, trace.text_b, {masked}, {position}, {words}, tuned
)
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
    path = usable(page, tells=True)
    where = (masked, positions, TOP_K)
    _show_lenses(page, (LENS, TUNED_LENS), layer_predictions, where, path, values)
    if path is None:
        offer_fit(page)
    else:
        show_gain(page, path)


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
    path, where = usable(page), (masked, position, words)
    _show_lenses(page, (RANKS, TUNED_RANKS), word_trajectories, where, path, values)


def _show_lenses(
    page: frame.Page,
    pictures: tuple[Picture, Picture],
    function: Callable[..., Any],
    where: tuple[Any, ...],
    path: Path | None,
    values: dict[str, Any],
) -> None:
    """Draw a picture of the plain lens and, if there is a file, that of the tuned one beside it."""
    plain = page.compute(function, *page.texts, *where)
    if path is None:
        pictures[0].show(page, plain, **values)
        return
    tuned = page.compute(function, *page.texts, *where, opened(page, path))
    columns = st.container(key=f"{pictures[0].name}_pair").columns(2, gap="medium")
    for column, picture, result in zip(columns, pictures, (plain, tuned), strict=True):
        with column:
            if picture.name in TITLES:
                st.markdown(f"**{TITLES[picture.name]}**")
            picture.show(page, result, path=shown(path), **values)
