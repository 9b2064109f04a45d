"""The view Geometry: what the vectors of each layer are like, before any map of them."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertcore.analysis.compare.cka import NUM_PERMUTATIONS
from bertcore.analysis.space.geometry import MIN_POINTS

from ..shell import frame
from ..shell.columns import columns
from ..shell.picture import Picture
from .geometry_figures import (
    cosine_curve,
    dimension_curve,
    geometry_table,
    layer_similarity_map,
    length_curve,
    rogue_bars,
    similarity_table,
)
from .view import Measured

_CODE = """
from bertcore.analysis.space.geometry import geometry

same = [f"{{word}} {{token}}" for word, token in zip(table.words, table.tokens)]
found = geometry(table.vectors, same)
"""
COSINES = Picture(
    name="layer-map-isotropy",
    figure=cosine_curve,
    table=geometry_table,
    how=(
        "Mean cosine of any two words: at 0 the vectors use all directions; near 1 all point the "
        "same way, and any two words look alike. The cosine of a word with itself at another place "
        "is its self-similarity (words that repeat: {words}); only the difference between the two "
        "curves is about the word: where it falls, context takes over (Ethayarajh 2019)."
    ),
    code=_CODE + "found.any_pair, found.same_word, found.corrected\n",
)
ROGUE = Picture(
    name="layer-map-rogue",
    figure=rogue_bars,
    table=geometry_table,
    how=(
        "The five dimensions with the largest share of the mean cosine of any two words, by "
        "number. A dimension that makes up most of it says little about meaning (Timkey and van "
        "Schijndel 2021): set *Rogue dimensions off* to see what remains of the curves, or of the "
        "map."
    ),
    code=_CODE + "found.rogue, found.rogue_share\n",
)
DIMENSION = Picture(
    name="layer-map-dimension",
    figure=dimension_curve,
    table=geometry_table,
    how=(
        "From each point's distances to its two nearest neighbours (TwoNN, Facco et al. 2017): the "
        "vectors have {width} numbers, but their neighbourhoods far fewer directions. With fewer "
        "than a few hundred points, the estimate is rough."
    ),
    code=_CODE + "found.intrinsic_dimension\n",
)
LENGTH = Picture(
    name="layer-map-length",
    figure=length_curve,
    table=geometry_table,
    how=(
        "Euclidean length of the vectors. In BERT a LayerNorm ends each layer and keeps the length "
        "nearly the same for all tokens; with the LayerNorm inside the layer (ModernBERT, GPT-2), "
        "the length grows. A wide band means that a few tokens are much longer than others."
    ),
    code=_CODE + "found.length\n",
)
SIMILARITY = Picture(
    name="layer-map-cka",
    figure=layer_similarity_map,
    table=similarity_table,
    how=(
        "Debiased CKA of {examples} points, in hundredths: at 1 both layers arrange them alike, "
        "up to rotation and scale; at 0 they have nothing in common. With the points of one layer "
        f"shuffled, the highest of {NUM_PERMUTATIONS} tries is {{chance}}: what is not above it "
        "may be chance. *Compare* shows the same for two checkpoints."
    ),
    code="""
import torch
from bertcore.analysis.compare.cka import layer_similarity

states = torch.from_numpy(table.vectors)                  # of more than 600 points, 600
similarity = layer_similarity(states, states)
similarity.debiased, similarity.debiased_chance
""",
)


def show_geometry(page: frame.Page, measured: Measured, code: str, width: int) -> None:
    """Draw the measures two to a row, then the CKA between the layers."""
    found, places = measured.geometry, columns()
    with next(places):
        COSINES.show(page, measured, setup=code, words=found.num_words)
    with next(places):
        ROGUE.show(page, measured, setup=code)
    if np.isfinite(found.intrinsic_dimension).any():
        with next(places):
            DIMENSION.show(page, measured, setup=code, width=width)
    with next(places):
        LENGTH.show(page, measured, setup=code)
    if not np.isfinite(found.intrinsic_dimension).any():
        st.caption(f"The intrinsic dimension needs {MIN_POINTS} different points; there are fewer.")
    similarity = measured.similarity
    if similarity is not None and np.isfinite(similarity.debiased).any():
        st.header("How alike are the layers?", anchor=False)
        apart = ~np.eye(len(measured.layers), dtype=bool)
        chance = similarity.debiased_chance[apart]
        highest = f"{np.nanmax(chance):.2f}" if np.isfinite(chance).any() else "not known"
        examples = f"{similarity.num_examples:,}"
        SIMILARITY.show(page, measured, setup=code, examples=examples, chance=highest)
