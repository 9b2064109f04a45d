"""A second seed beside the first: what moves between seeds is not structure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from bertcore.analysis.space.projection import METHODS
from bertcore.analysis.space.seed_agreement import seed_agreement
from bertcore.configs.maps import TsneSettings

from ..shell import frame
from ..shell.jobs import waiting
from ..shell.links import MAP_LAYER as LAYER
from ..shell.picture import Picture
from .fields import SECOND_SEED
from .maps import Mapped
from .seed_figures import TwoSeeds, agreement_curve, agreement_table, moved_table, seed_pair
from .view import Points, View, code_of, embedding_work

_CODE = """
from dataclasses import replace
from bertcore.analysis.space.seed_agreement import seed_agreement

other = map_layers(
    table.vectors, dims={dims}, method={name!r}, space={space!r}, level_layers={level},
    **{{{name!r}: replace({settings}, seed={seed})}},
)
agreement = seed_agreement(layer_map, other)
"""
_SAME_START = " Both start from the PCA map, which explains part of what they share at large scale."
_MAY_BE_RANDOM = " Under *More* the start can be made random."
SEED_PAIR = Picture(
    name="layer-map-seeds",
    figure=seed_pair,
    table=moved_table,
    how=(
        "The same points by {method} with another seed, rotated and mirrored to fit. Lines lead "
        "from a point's place in the first map to its place in the second. What moves between "
        "seeds is not structure of the vectors.{start}"
    ),
    code=_CODE + "agreement.second, agreement.moved\n",
)
SEED_CURVE = Picture(
    name="layer-map-seeds-curve",
    figure=agreement_curve,
    table=agreement_table,
    how=(
        "Shared neighbours: the fraction of a point's nearest points in one map that are also "
        "nearest in the other. Moved: the distance between its two places, in radii of the map; in "
        "unrelated maps it is about 1.4."
    ),
    code=_CODE + "agreement.kept, agreement.chance\n",
)


def show_second_seed(page: frame.Page, points: Points, view: View, mapped: Mapped) -> None:
    """Draw the switch; if it is on, the second map beside the first, when it is computed."""
    st.header("A second seed", anchor=False)
    is_on = st.toggle("Compare with the next seed", key=SECOND_SEED.key())
    if not is_on:
        return
    with frame.guard():
        seed, method = view.settings.seed, METHODS[view.method]
        other = view._replace(settings=replace(view.settings, seed=(seed + 1) % 2**32))
        second = waiting.result(
            embedding_work(page.bert_key, points, other),
            "second-seed",
            stopped=f"{method} was stopped.",
        )
        if second is None:
            return
        agreement = seed_agreement(mapped.layer_map, second)
        two = TwoSeeds(mapped.layer_map, agreement, (seed, seed + 1))
        if agreement.k:
            moved = float(np.nanmedian(agreement.moved))
            st.markdown(
                f"A point keeps **{agreement.kept.mean():.0%}** of its {agreement.k} neighbours "
                f"(chance: {agreement.chance:.0%}) and moves by **{moved:.2f}** radii of the map."
            )
        values: dict[str, Any] = {
            "setup": code_of(page.bert_key.source, points, view),
            "dims": view.dims,
            "space": view.space,
            "level": view.level_layers,
            "name": view.method,
            "method": method,
            "settings": repr(view.settings),
            "seed": seed + 1,
            "start": _start(view),
        }
        drawn = {"marks": mapped.marks, "layer": LAYER.value}
        SEED_PAIR.show(page, two, drawn=drawn, **values)
        if agreement.k:
            SEED_CURVE.show(page, two, **values)


def _start(view: View) -> str:
    """Return the sentence on the start that both maps share; UMAP and PaCMAP have no other."""
    if not isinstance(view.settings, TsneSettings):
        return _SAME_START
    return _SAME_START + _MAY_BE_RANDOM if view.settings.initialization == "pca" else ""
