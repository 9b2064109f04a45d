"""How far the parts of a network moved, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bertcore.analysis.compare.weight_drift import Drift

from ..on_demand import pd
from .charts import Intervals
from .tables import Frames, at, columns, named

RELATIVE_CHANGE = Intervals(
    name="part",
    value="relative_change",
    is_fraction=False,
    includes_zero=True,
    x_title="relative change",
)


def drift_table(place: str, *keys: str) -> Frames:
    """Return what makes a table of a row for each of the parts at a place of a result.

    A change of what was all zeros has no length to be a part of: NaN. ValueError without a part.

    Args:
        keys: Columns of what identifies a part.
    """

    def table(result: Any) -> pd.DataFrame:
        drifts: Mapping[Any, Drift] = at(result, place)
        if not drifts:
            raise ValueError("no weights of these checkpoints are known parts of encoder layers.")
        names = pd.DataFrame([*drifts], columns=[*keys])
        numbers = ("cosine", "norm_first", "norm_second", "num_weights", "num_changed")
        moved = columns(relative_change="*.relative", **named("*", *numbers))
        table = names.join(moved(drifts.values()))
        return table.assign(turn=1 - table["cosine"]).replace(np.inf, np.nan)

    return table
