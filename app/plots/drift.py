"""How far the parts of a network moved, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bertcore.analysis.compare.weight_drift import Drift

from ..on_demand import pd
from .cell_table import records


def drift_table(drifts: Mapping[Any, Drift], *keys: str) -> pd.DataFrame:
    """Return a row for each part; `keys` are the columns of what identifies it.

    A change of what was all zeros has no length to be a part of: NaN. ValueError without a part.
    """
    if not drifts:
        raise ValueError("no weights of these checkpoints are known as parts of encoder layers.")
    names = pd.DataFrame([*drifts], columns=[*keys])
    numbers = ("cosine", "norm_first", "norm_second", "num_weights", "num_changed")
    table = names.join(records(drifts.values(), "relative_change=relative", *numbers))
    return table.assign(turn=1 - table["cosine"]).replace(np.inf, np.nan)
