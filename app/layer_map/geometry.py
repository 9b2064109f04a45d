"""Measures over the layers: of the vectors (the view Geometry), of labels, of a map."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore.analysis.compare.cka import NUM_PERMUTATIONS
from bertcore.analysis.space.geometry import cosines
from bertcore.analysis.space.map_quality import MAX_POINTS, Faithfulness, Separation
from bertcore.analysis.space.projection import LayerMap

from ..plots import Figure, plain, shorten
from ..plots.cells import similarity_map, similarity_table
from ..plots.charts import Curve, LayerCurves
from ..shell import Field, Picture, cache, columns, frame
from . import view
from .view import MeasuredGeometry, Points, View


class Quality(NamedTuple):
    """How faithful a map of some layers is."""

    layers: Sequence[int]
    faithfulness: Faithfulness
    explained: NDArray[np.floating]
    """Fraction of the variance along each axis of the map, [L, dims]; NaN if it is not by PCA."""


def _quality_table(quality: Quality) -> pd.DataFrame:
    """Return a row for each layer."""
    faithfulness = quality.faithfulness
    return pd.DataFrame(
        {
            "layer": list(quality.layers),
            "trustworthiness": faithfulness.trustworthiness,
            "continuity": faithfulness.continuity,
            "overlap": faithfulness.overlap,
            "variance_shown": quality.explained.sum(1),
        }
    )


def _separation_table(separation: Separation) -> pd.DataFrame:
    layers = np.arange(len(separation.purity))
    measures = {"silhouette": separation.silhouette, "purity": separation.purity}
    return pd.DataFrame({"layer": layers, **measures})


QUALITY = LayerCurves(
    table=_quality_table,
    curves=(
        Curve("trustworthiness", "trustworthiness", 0),
        Curve("continuity", "continuity", 2, "dashdot"),
        Curve("overlap", "shared neighbours (of {k})", 1, "dot"),
        Curve("variance_shown", "variance shown", 3, "dash", is_optional=True),
    ),
    title="How faithful is the map?",
    unit="fraction",
)
SEPARATION = Picture(
    name="layer-map-labels",
    chart=LayerCurves(
        table=_separation_table,
        curves=(
            Curve("purity", "neighbours with the same label (of {k})", 0),
            Curve("silhouette", "silhouette", 1, "dot"),
        ),
        title="Where do the labels separate?",
        unit="fraction; silhouette",
        chance_name="purity by chance",
    ),
    how=(
        "Measured on the full vectors by cosine, not on the map. The first curve is the fraction "
        "of a point's nearest neighbours in other sentences that share its label; it rises where "
        "the layers begin to separate the labels. A silhouette of 1 is far apart, 0 is mixed."
    ),
    code="""
from bertcore.analysis import separation

separation(table.vectors, table.labels, groups=table.sentence_ids)
""",
)
FAITHFULNESS = Picture(
    name="layer-map-truth",
    chart=QUALITY,
    how=(
        "Trustworthiness of 1: points that are near in the map are near in the full space. "
        "Continuity of 1: points that are near in the full space are near in the map. For both, "
        "0.5 is chance. Shared neighbours: the fraction of nearest points in the full space that "
        "are also nearest in the map. If these values are low, do not trust single neighbours in "
        "the map. The full space is that of the vectors, by {metric} distance; of more than "
        f"{MAX_POINTS} points, a random {MAX_POINTS} are measured."
    ),
    code="""
from bertcore.analysis import map_faithfulness

map_faithfulness(table.vectors, layer_map.coordinates, metric={metric!r})
""",
)


LEFT_OUT = "They are left out, since which of them are nearest is up to chance."
SEPARATION_COPIES = "They count as neighbours, but a copy is no evidence that labels separate."


def note_copies(
    measured: Faithfulness | Separation, layers: Sequence[int], meaning: str = LEFT_OUT
) -> None:
    """Draw how many points have the vector of another one, and what that means for a measure."""
    if not measured.num_copies.any():
        return
    most = int(measured.num_copies.argmax())
    number = measured.num_copies[most]
    where = f"layer {layers[most]}" if (measured.num_copies < number).any() else "every layer"
    st.caption(
        f"{number:,} of {measured.num_points:,} points have the same vector as another (equal "
        f"texts or words) at {where}. {meaning}"
    )


def show_curves(
    page: frame.Page, points: Points, chosen: View, layer_map: LayerMap, code: str
) -> None:
    """Draw how faithful the map is, beside how far its labels, if it has several, separate."""
    with frame.guard():
        separated = cache.computed(view.separation, points)
        places = iter([st.container()]) if separated is None else columns()
        if separated is not None:
            with next(places):
                drawn = {"k": separated.k, "chance": separated.chance}
                SEPARATION.show(page, separated, drawn=drawn, setup=code)
                note_copies(separated, range(len(separated.num_copies)), SEPARATION_COPIES)
        with next(places):
            metric = chosen.settings.metric
            faithful = cache.computed(view.faithfulness, points, metric, layer_map)
            quality = Quality(range(len(faithful.overlap)), faithful, layer_map.explained)
            FAITHFULNESS.show(page, quality, drawn={"k": faithful.k}, setup=code, metric=metric)
            note_copies(faithful, quality.layers)


def _table(measured: MeasuredGeometry) -> pd.DataFrame:
    """Return the cosines of each layer."""
    found = measured.geometry
    return pd.DataFrame(
        {
            "layer": list(measured.layers),
            "any_pair": found.any_pair,
            "same_word": found.same_word,
            "difference": found.corrected,
        }
    )


def _similarity_map(measured: MeasuredGeometry) -> Figure:
    """Draw the debiased CKA of every two layers."""
    assert measured.similarity is not None
    fig = similarity_map(measured.similarity.debiased, ("", ""))
    names = [str(layer) for layer in measured.layers]
    fig.traces[0] |= {"x": names, "y": names}
    fig.update_xaxes(title_text="layer", type="category")
    fig.update_yaxes(title_text="layer", type="category")
    return fig


def _similarity_table(measured: MeasuredGeometry) -> pd.DataFrame:
    assert measured.similarity is not None
    return similarity_table(measured.similarity, measured.layers)


_CODE = """
from bertcore.analysis import geometry

same = [f"{{word}} {{token}}" for word, token in zip(table.words, table.tokens)]
found = geometry(table.vectors, same)
"""
COSINES = Picture(
    name="layer-map-isotropy",
    chart=LayerCurves(
        table=_table,
        curves=(
            Curve("any_pair", "any two words", 0),
            Curve("same_word", "the same word twice", 1, "dot", is_optional=True),
            Curve("difference", "the difference", 2, "dash", is_optional=True),
        ),
        title="How alike are the vectors?",
        unit="mean cosine",
    ),
    how=(
        "Mean cosine of any two words: at 0 the vectors use all directions; near 1 all point the "
        "same way, and any two words look alike. The cosine of a word with itself at another place "
        "is its self-similarity (words that repeat: {words}); only the difference between the two "
        "curves is about the word: where it falls, context takes over (Ethayarajh 2019)."
    ),
    code=_CODE + "found.any_pair, found.same_word, found.corrected\n",
)
PAIR: Field[list[int]] = Field("map_two", [])
"""Numbers of the two points that are compared, at most two."""
MOST_OFFERED = 200
TWO_POINTS = Picture(
    name="layer-map-two",
    chart=LayerCurves(
        table=lambda pair: pair,
        curves=(
            Curve("cosine", "these two", 0),
            Curve("any_pair", "any two", 1, "dot", is_optional=True),
        ),
        title="How alike are these two?",
        unit="cosine",
    ),
    how=(
        "The cosine of the vectors of {names} after each layer.{shared}{beside} One pair is one "
        "case."
    ),
    code=_CODE
    + """
from bertcore.analysis import cosines

cosines(table.vectors[:, {first}], table.vectors[:, {second}]), found.any_pair
""",
)
SHARED = " Both are in one text, so what they share of it makes them alike too."
BESIDE = " Compare with the dotted line, the mean of any two."
SIMILARITY = Picture(
    name="layer-map-cka",
    figure=_similarity_map,
    table=_similarity_table,
    how=(
        "Debiased CKA of {examples} points, in hundredths: at 1 both layers arrange them alike, "
        "up to rotation and scale; at 0 they have nothing in common. With the points of one layer "
        f"shuffled, the highest of {NUM_PERMUTATIONS} tries is {{chance}}: what is not above it "
        "may be chance. *Compare* shows the same for two checkpoints."
    ),
    code="""
import torch
from bertcore.analysis import layer_similarity

states = torch.from_numpy(table.vectors)                  # of more than 600 points, 600
similarity = layer_similarity(states, states)
similarity.debiased, similarity.debiased_chance
""",
)


def show_two(page: frame.Page, points: Points, measured: MeasuredGeometry, code: str) -> None:
    """Draw the choice of two points, and their cosine by layer once there are two."""
    table = points.table
    if not 2 <= len(table) <= MOST_OFFERED:
        return
    of_sentences = points.unit in ("mean", "cls")
    several = len(set(table.sentence_ids.tolist())) > 1

    def label(number: int) -> str:  # Streamlit takes the first of two equal ones
        sentence = table.sentence_ids[number] + 1
        if of_sentences:
            return f"{sentence}: {shorten(table.tokens[number], 60)}"
        place = f"{table.tokens[number]} {table.positions[number]}"
        return f"{place}, sentence {sentence}" if several else place

    numbers = list(range(len(table)))
    key = PAIR.key(options=numbers)
    if len(PAIR.value) > 2:  # a link may have any number, and the widget takes two
        PAIR.put(PAIR.value[:2])
    chosen = st.multiselect(
        "Two of them",
        numbers,
        format_func=label,
        max_selections=2,
        key=key,
        placeholder="The first and the second" if of_sentences else "he, John",
        help="The cosine of their vectors, by layer."
        + ("" if of_sentences else " The number after a token is its place."),
    )
    if len(chosen) < 2:
        return
    first, second = chosen
    any_pair = measured.geometry.any_pair
    pair = pd.DataFrame(
        {
            "layer": list(measured.layers),
            "cosine": cosines(table.vectors[:, first], table.vectors[:, second]),
            "any_pair": any_pair,
        }
    )
    is_one = table.sentence_ids[first] == table.sentence_ids[second]
    TWO_POINTS.show(
        page,
        pair,
        setup=code,
        names=" and ".join(f"*{plain(shorten(table.tokens[number], 60))}*" for number in chosen),
        shared=SHARED if is_one else "",
        beside=BESIDE if np.isfinite(any_pair).any() else "",
        first=first,
        second=second,
    )


def show_geometry(page: frame.Page, measured: MeasuredGeometry, code: str) -> None:
    """Draw the cosines and the CKA between the layers."""
    COSINES.show(page, measured, setup=code, words=measured.geometry.num_words)
    similarity = measured.similarity
    if similarity is not None and np.isfinite(similarity.debiased).any():
        st.header("How alike are the layers?", anchor=False)
        apart = ~np.eye(len(measured.layers), dtype=bool)
        chance = similarity.debiased_chance[apart]
        highest = f"{np.nanmax(chance):.2f}" if np.isfinite(chance).any() else "not known"
        examples = f"{similarity.num_examples:,}"
        SIMILARITY.show(page, measured, setup=code, examples=examples, chance=highest)
