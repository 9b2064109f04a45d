"""How faithful the map of a corpus is, layer by layer."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bertcore.analysis.space.corpus_map import CorpusMap

from ...plots.figure import Figure
from ..curve_figures import line, over_layers


def quality_curve(found: CorpusMap) -> Figure:
    """Draw trustworthiness, continuity, shared neighbours and, for PCA, the variance shown."""
    quality, layers = found.quality, found.layers
    shared = f"shared neighbours (of {quality.k})"
    fig = Figure(
        [
            line(quality.trustworthiness, "trustworthiness", 0, layers=layers),
            line(quality.continuity, "continuity", 2, "dashdot", layers),
            line(quality.overlap, shared, 1, "dot", layers),
        ]
    )
    if np.isfinite(found.explained).all():
        fig.add_trace(line(found.explained.sum(1), "variance shown", 3, "dash", layers))
    return over_layers(fig, "How faithful is the map?", "fraction", [-0.03, 1.05])


def quality_table(found: CorpusMap) -> pd.DataFrame:
    """Return a row for each layer."""
    return pd.DataFrame(
        {
            "layer": list(found.layers),
            "trustworthiness": found.quality.trustworthiness,
            "continuity": found.quality.continuity,
            "overlap": found.quality.overlap,
            "variance_shown": found.explained.sum(1),
        }
    )
