"""What a page offers as a file: its picture with the text, checkpoint and choices it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import plotly.graph_objects as go

from ..html_file import chart
from ..html_file.document import File, Part, Report, Scheme, to_html
from ..plots import theme
from . import cache, state

MOST_BYTES = 6_000_000
"""Of a data file up to which it is put into the file too."""

_TEXTS = {
    "text_a": "Text A",
    "text_b": "Text B",
    "other_a": "Second version, text A",
    "other_b": "Second version, text B",
}


class Origin(NamedTuple):
    """What a picture belongs to: enough to write it down later, when the file is asked for."""

    page: str
    """Title of the page."""
    key: cache.BertKey | None
    """None where the page opened no checkpoint."""
    texts: dict[str, str]
    choices: dict[str, str]
    """As the address has them, where they are not as by default."""


def origin(page: str, key: cache.BertKey | None) -> Origin:
    """Return what the visitor looks at now."""
    found = {name: state.value(name) for name in state.used() if name in _TEXTS}
    typed = {_TEXTS[name]: text for name, text in found.items() if (text or "").strip()}
    return Origin(page, key, typed, state.choices())


def view_file(
    of: Origin, title: str, part: Callable[[], Part], code: str, how_to_read: str
) -> bytes:
    """Return one of our views as an HTML file; `part` makes it."""
    return _written(
        Report(
            title=f"{of.page}: {title}",
            parts=[part()],
            how_to_read=how_to_read,
            texts=of.texts,
            facts=facts(of),
            code=code,
        )
    )


def figure_file(
    of: Origin,
    fig: go.Figure,
    data: chart.Data,
    file: Callable[[], File],
    code: str,
    how_to_read: str,
    scheme: Scheme,
) -> bytes:
    """Return a Plotly figure as an HTML file, with its numbers as a table and as a data file."""
    held = file()
    is_small = len(held.content) <= MOST_BYTES
    part = chart.chart(fig)
    title = (fig.layout.title.text or "").strip()
    note = f"{held.name} is {theme.megabytes(len(held.content))} and not in this file."
    return _written(
        Report(
            title=f"{of.page}: {title}" if title else of.page,
            parts=[part if is_small else part.with_note(note)],
            how_to_read=how_to_read,
            texts=of.texts,
            facts=facts(of),
            code=code,
            table=chart.table_of(data),
            files=[held] if is_small else [],
            scheme=scheme,
        )
    )


def facts(of: Origin) -> dict[str, str]:
    """Return checkpoint, fingerprint and choices by their names."""
    found = {}
    if of.key is not None:
        bert = cache.opened(of.key)
        found["Checkpoint"] = of.key.source
        if bert.report is not None:
            found["Fingerprint of the weights"] = bert.report.fingerprint
        found["Device, precision"] = f"{bert.device}, {str(bert.dtype).removeprefix('torch.')}"
    if of.choices:
        found["Choices"] = "\n".join(f"{name} = {chosen}" for name, chosen in of.choices.items())
    return found


def _written(report: Report) -> bytes:
    return to_html(report).encode()
