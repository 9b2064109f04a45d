"""One HTML file of what a page shows: pictures, text, settings, caption, code, table.

The file sends no request: its content security policy forbids all requests and every script but
its own, which it names by their hashes. The template escapes all text, and the data of the pictures
are base64 in blocks that no browser runs.
"""

import base64
import datetime
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markdown_it import MarkdownIt
from markupsafe import Markup

# As `legible` in browser/text.ts: control characters and those that change the direction of
# writing; line breaks and tabs stay.
_TURNING = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)
_HALVES = re.compile("[\ud800-\udfff]")

# Captions are ours, but they contain untrusted text: no HTML, and nothing to fetch.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable(["image", "link", "autolink"])


def legible(text: str) -> str:
    """Return text with control characters named, which can be written as UTF-8.

    >>> legible("a\\u202eb")
    'a‹U+202E›b'
    """
    lines = text.replace("\r\n", "\n")
    named = _TURNING.sub(lambda sign: f"\u2039U+{ord(sign[0]):04X}\u203a", lines)
    return _HALVES.sub("\ufffd", named)


def as_html(text: str) -> str:
    """Return text escaped for an HTML element or attribute.

    >>> as_html("<b>")
    '&lt;b&gt;'
    """
    return html.escape(legible(text))


def caption_html(markdown: str) -> str:
    """Return a caption's Markdown as HTML; pictures, links and HTML in it are shown as text.

    >>> caption_html("*one* ![x](http://a.b)")
    '<p><em>one</em> ![x](http://a.b)</p>\\n'
    """
    rendered: str = _MARKDOWN.render(legible(markdown))
    return rendered


Scheme = Literal["auto", "light", "dark"]

HERE = Path(__file__).parent

_CSS = Markup((HERE / "document.css").read_text(encoding="utf-8"))
_SCHEMES = {"auto": "light dark", "light": "light", "dark": "dark"}


@dataclass(frozen=True, slots=True)
class ScriptedPicture:
    """A picture in a file, drawn by a script."""

    script: str
    """A JavaScript module in which %PLACE% stands for the element to draw in and %DATA% for the
    ids of the blocks with the data."""
    data: Sequence[str]
    """Each in base64."""
    note: str = ""
    """What the file leaves out, in a sentence."""
    extra_hashes: Sequence[str] = ()
    """Of scripts that it adds to the page, as `hash_of` gives them."""

    def with_note(self, note: str) -> "ScriptedPicture":
        """Return it with another note."""
        return replace(self, note=note)


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers of a picture."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    """The written rows."""
    num_rows: int
    """Number of all rows."""


@dataclass(frozen=True, slots=True)
class File:
    """Something to download from within the file."""

    name: str
    kind: str
    """Its media type."""
    content: bytes


@dataclass(frozen=True, slots=True)
class Report:
    """What is written into a file."""

    title: str
    part: ScriptedPicture
    how_to_read: str = ""
    """Markdown."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The typed texts, by their names."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Checkpoint, fingerprint and settings, by their names."""
    code: str = ""
    """Python that makes the same numbers."""
    table: Table | None = None
    files: Sequence[File] = ()
    created: datetime.datetime | None = None
    """None for now."""
    scheme: Scheme = "auto"
    """Colours: as the reader's system has it, or those of the picture."""
    folds: bool = False
    """Whether everything below the caption is folded, as in a notebook."""


def to_html(report: Report) -> str:
    """Return the whole file; ValueError if a script contains the letters that would end it."""
    part = report.part
    blocks = {data: f"data-{k}" for k, data in enumerate(dict.fromkeys(part.data))}
    script = part.script.replace("%PLACE%", "document.getElementById('part')")
    script = script.replace("%DATA%", json.dumps([blocks[data] for data in part.data]))
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("a script of a report contains '</script' or '<!--', which would end it.")
    created = report.created or datetime.datetime.now(datetime.UTC)
    return _TEMPLATE.render(
        report=report,
        script=Markup(script),
        blocks=[(name, Markup(data)) for data, name in blocks.items()],
        policy=Markup(_policy([hash_of(script), *part.extra_hashes])),
        color_scheme=_SCHEMES[report.scheme],
        css=_CSS,
        facts={**report.facts, "Made": f"{created:%Y-%m-%d %H:%M} UTC with BertScope"},
    )


def hash_of(script: str) -> str:
    """Return a script's hash as a content security policy needs it."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _policy(hashes: Sequence[str]) -> str:
    return (
        f"default-src 'none'; script-src {' '.join(hashes)}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)


def _written(value: object) -> object:
    """Escape text and name its invisible characters; leave markup as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return Markup(as_html(value))
    return value


def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_written,
        keep_trailing_newline=True,
    )
    environment.filters["caption"] = lambda text: Markup(caption_html(text))
    environment.filters["cell"] = _cell
    environment.filters["base64"] = lambda content: Markup(base64.b64encode(content).decode())
    return environment.get_template("document.html.jinja")


_TEMPLATE = _template()
