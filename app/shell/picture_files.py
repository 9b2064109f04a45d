"""The files of a picture: its numbers as CSV or NPZ; all of it as one HTML file."""

import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..html_file import chart
from ..html_file.document import File, Report, Scheme, ScriptedPicture, to_html
from ..plots import Figure, theme
from . import cache, state

MOST_BYTES = 6_000_000  # bytes of a data file up to which it is embedded in the HTML file

_RULE = Path(__file__).parents[1] / "canvas" / "saving" / "formula.json"
_BEFORE_SIGN = re.compile(json.loads(_RULE.read_text(encoding="utf-8"))["before_sign"])
"""Before a sign by which a spreadsheet, in whatever country, would take a part of a text for a
formula."""

_TEXTS = {
    "text_a": "Text A",
    "text_b": "Text B",
    "other_a": "Second version, text A",
    "other_b": "Second version, text B",
    **{name: f"Choice {number}" for number, name in enumerate(state.CHOICE_TEXTS, start=1)},
}


def data_file(name: str, data: chart.Data) -> File:
    """Return a picture's numbers as a file: CSV of a table, NPZ of arrays."""
    if isinstance(data, pd.DataFrame):
        return File(f"bertscope-{name}.csv", "text/csv", to_csv(data))
    return File(f"bertscope-{name}.npz", "application/octet-stream", to_npz(data))


def to_csv(data: pd.DataFrame) -> bytes:
    """Return a table as CSV in UTF-8, with the byte order mark that spreadsheets need.

    All texts are quoted, and no part of one is a formula, also where a spreadsheet splits at
    semicolons: an apostrophe makes text of it, as in the files that the browser makes
    (app/canvas/saving/csv.ts).
    """
    columns = [column.to_numpy() for _, column in data.items()]
    rows = [[str(name) for name in data.columns], *zip(*columns, strict=True)]
    lines = "".join(",".join(map(_cell, row)) + "\r\n" for row in rows)
    return lines.encode("utf-8-sig")


def _cell(value: object) -> str:
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, int | float | np.number | np.bool_):
        return str(value) if value == value else ""  # not NaN
    text: str = _BEFORE_SIGN.sub(lambda before: f"{before[0]}'", str(value))
    return '"' + text.replace('"', '""') + '"'


def to_npz(data: Mapping[str, NDArray[Any]]) -> bytes:
    """Return named arrays as a compressed NPZ file."""
    out = io.BytesIO()
    arrays: dict[str, Any] = {name: np.asarray(array) for name, array in data.items()}
    np.savez_compressed(out, **arrays)
    return out.getvalue()


class Origin(NamedTuple):
    """The page, checkpoint and choices of a picture, from which its file is written on demand."""

    page: str
    """Title of the page."""
    key: cache.BertKey | None
    """None if the page opened no checkpoint."""
    texts: dict[str, str]
    choices: dict[str, str]
    """Those that differ from the defaults, as in the address."""


def origin(page: str, key: cache.BertKey | None) -> Origin:
    """Return what the visitor sees now."""
    texts = {_TEXTS[name]: text for name, text in state.texts().items()}
    return Origin(page, key, texts, state.choices())


def view_file(
    of: Origin, *, title: str, part: Callable[[], ScriptedPicture], code: str, how_to_read: str
) -> bytes:
    """Return one of our views as an HTML file; `part` makes it."""
    return _written(of, title, part(), code, how_to_read)


def figure_file(
    of: Origin,
    *,
    fig: Figure,
    data: chart.Data,
    file: Callable[[], File],
    code: str,
    how_to_read: str,
    scheme: Scheme,
) -> bytes:
    """Return a Plotly figure as an HTML file, with its numbers as a table and as a data file."""
    numbers, part = file(), chart.chart(fig)
    files, num_bytes = [numbers], len(numbers.content)
    if num_bytes > MOST_BYTES:
        note = f"{numbers.name} is {theme.megabytes(num_bytes)} and is not in this file."
        files, part = [], part.with_note(note)
    table, title = chart.table_of(data), fig.title.strip()
    return _written(of, title, part, code, how_to_read, table=table, files=files, scheme=scheme)


def _written(
    of: Origin, title: str, part: ScriptedPicture, code: str, how_to_read: str, **more: Any
) -> bytes:
    report = Report(
        title=f"{of.page}: {title}" if title else of.page,
        parts=[part],
        how_to_read=how_to_read,
        texts=of.texts,
        facts=facts(of),
        code=code,
        **more,
    )
    return to_html(report).encode()


def facts(of: Origin) -> dict[str, str]:
    """Return checkpoint, fingerprint and choices by their names."""
    values = {}
    if of.key is not None:
        bert = cache.opened(of.key)
        values["Checkpoint"] = of.key.source
        if bert.report is not None:
            values["Fingerprint of the weights"] = bert.report.fingerprint
        values["Device, precision"] = f"{bert.device}, {str(bert.dtype).removeprefix('torch.')}"
    if of.choices:
        values["Choices"] = "\n".join(f"{name} = {chosen}" for name, chosen in of.choices.items())
    return values
