"""The layer map and its overview."""

import numpy as np
import pandas as pd
import streamlit as st

from ..layer_watch.layer_watch import layer_watch
from ..plots import theme
from ..plots.cell_table import cell_table
from ..shell import frame
from ..shell.links import MAP_LAYER as LAYER
from ..shell.picture import Picture
from .figures import travel
from .overview_figures import overview, overview_arrays
from .point_styles import Mapped


def coordinates_table(mapped: Mapped) -> pd.DataFrame:
    """Return one row for each point at each layer: what it is and where it is."""
    table, layer_map, _ = mapped
    axes = dict(zip("xyz", np.moveaxis(layer_map.coordinates, 2, 0), strict=False))
    points = {
        "token": table.tokens,
        "word": table.words,
        "sentence": table.sentence_ids + 1,
        "position": table.positions,
        "segment": table.segment_ids,
        "label": table.labels,
    }
    rows = cell_table({"layer": range(len(layer_map.coordinates))}, points, **axes)
    texts = [table.sentences[i].text for i in table.sentence_ids]
    return rows.assign(text=texts * len(layer_map.coordinates))


LAYER_MAP = Picture(
    name="layer-map",
    figure=travel,
    table=coordinates_table,
    how=(
        "Each point is a token (or a word, or a sentence); near points have similar vectors. Move "
        "the slider, or press Play, to follow them from the embeddings (layer 0) to the last "
        "layer. {method} Search for a word to ring it and see its path. Under *More*: with *one "
        "map for all*, a place means the same in every layer (with *Align centre and size* on, all "
        "layers first get the same centre and size); with *each by itself*, every layer has its "
        "own best view, rotated to fit the one before."
    ),
    code="""
layer_map.coordinates                       # [L+1, N, dims]
""",
)
READING = {
    "pca": (
        "PCA shows the directions in which the points differ most and hides all others; *How "
        "faithful is the map?* shows how much of the variance they carry."
    ),
    "umap": (
        "UMAP preserves neighbourhoods, not large distances: read who is near whom, not the size "
        "of a cluster or the gap between two. Change the seed and the number of neighbours under "
        "*More*: what moves with the seed is chance; what stays may come from the PCA start, so "
        "compare with the curve of shared neighbours."
    ),
    "tsne": (
        "t-SNE keeps each point's nearest neighbours; the size of a cluster, its density and the "
        "gap between two mean nothing. Change the perplexity under *More*: do not trust groups "
        "that are seen at one perplexity only."
    ),
    "pacmap": (
        "PaCMAP keeps neighbourhoods and, through pairs of fairly near points, some of the overall "
        "arrangement; distances are still not to be trusted. Change the ratios and the seed under "
        "*More*: what moves with the seed is chance; what stays may come from the PCA start, so "
        "compare with the curve of shared neighbours."
    ),
}
"""How to read a map, by its method."""
OVERVIEW = Picture(
    name="layer-map-vectors",
    figure=overview,
    table=overview_arrays,
    how=(
        "The same map, one panel for each layer, starting with the embeddings; colours as above. "
        "Of more than 600 points, 600 are drawn, evenly spaced; of a 3-D map, the first two axes."
    ),
    code="""
table.vectors, layer_map.coordinates        # [L+1, N, D], [L+1, N, dims]
""",
)


def show_map(page: frame.Page, mapped: Mapped, code: str) -> None:
    """Draw the map with its slider over the layers."""
    keep_layer(page.bert.config.num_hidden_layers)
    method = READING[mapped.layer_map.method]
    drawn = {"layer": LAYER.value, "ink": theme.INK[page.is_dark]}
    LAYER_MAP.show(page, mapped, drawn=drawn, setup=code, method=method)


@frame.fragment
def keep_layer(num_layers: int) -> None:
    """Keep the layer of the slider; the figure itself does not run again."""
    layer = layer_watch(".st-key-figure_layer-map", key="map_watch")
    if layer is not None:
        st.session_state[LAYER.name] = layer
    LAYER.key(default=num_layers, low=0, high=num_layers)


def show_overview(page: frame.Page, mapped: Mapped, code: str) -> None:
    """Draw every layer as a small map."""
    st.header("All layers at a glance", anchor=False)
    OVERVIEW.show(page, mapped, setup=code)
