"""A Plotly figure and its numbers as parts of a file."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...on_demand import pd
from ...plots import Figure
from ..bundle import read_bundle
from .document import ScriptedPicture, Table, hash_of

Data: TypeAlias = "pd.DataFrame | Mapping[str, NDArray[Any]]"
"""The numbers of a picture: a table, or arrays by name."""

MOST_ROWS = 500  # most rows of a table that are written into the file; the CSV has all


def chart(fig: Figure) -> ScriptedPicture:
    """Return a figure, as interactive as in the app: numbers on hover, zoom, legend."""
    figure = json.loads(fig.to_json())
    # Streamlit's template stands for colours that only Streamlit's page knows.
    figure["layout"].pop("template", None)
    packed = base64.b64encode(json.dumps(figure).encode()).decode()
    library = _library()
    script = read_bundle(__file__).script
    return ScriptedPicture(
        script=f"{script}await bundle.default(%PLACE%, %DATA%);\n",
        data=[library.deflated, packed],
        extra_hashes=[library.hash],
    )


class _Library:
    """Plotly's JavaScript as installed: 4.8 MB, of which the file has 2 MB."""

    def __init__(self, text: str) -> None:
        self.hash = hash_of(text)
        self.deflated = base64.b64encode(zlib.compress(text.encode(), 9)).decode()


@cache
def _library() -> _Library:
    spec = find_spec("plotly")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder) / "package_data" / "plotly.min.js"
        if path.is_file():
            return _Library(path.read_text(encoding="utf-8"))
    raise RuntimeError(
        "the package plotly has no package_data/plotly.min.js, which a file with a figure needs. "
        "Run: pip install --force-reinstall plotly"
    )


def table_of(data: Data) -> Table:
    """Return a figure's table; for arrays, their names, shapes and dtypes."""
    if isinstance(data, pd.DataFrame):
        rows = data.head(MOST_ROWS).itertuples(index=False)
        return Table([str(name) for name in data.columns], [list(row) for row in rows], len(data))
    arrays = {name: np.asarray(array) for name, array in data.items()}
    rows_of = [
        (name, " x ".join(map(str, array.shape)) or "1", str(array.dtype))
        for name, array in arrays.items()
    ]
    return Table(("array in the NPZ file", "shape", "kind"), rows_of, len(rows_of))
