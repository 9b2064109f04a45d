"""A picture as one HTML file, with what the visitor sees it with."""

from collections.abc import Callable
from typing import Any, NamedTuple

from ...parts.html_file import chart
from ...parts.html_file.document import File, Report, Scheme, ScriptedPicture, to_html
from ...plots import Figure, theme
from .. import cache, state

MOST_BYTES = 6_000_000  # bytes of a data file up to which it is embedded in the HTML file

_TEXTS = {
    "text_a": "Text A",
    "text_b": "Text B",
    "other_a": "Second version, text A",
    "other_b": "Second version, text B",
    **{name: f"Choice {number}" for number, name in enumerate(state.CHOICE_TEXTS, start=1)},
}


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
        part=part,
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
