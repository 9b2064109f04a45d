"""One HTML file of what a page shows: pictures, text, settings, caption, code, table.

The file asks nobody for anything: a content security policy forbids all requests and every script
but those of the file, by their hashes. Texts are escaped (`written`), and what the pictures draw is
base64 in blocks that no browser runs.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from app.html_file.markdown import as_html, caption_html

Scheme = Literal["auto", "light", "dark"]

_CSS = (Path(__file__).parent / "document.css").read_text(encoding="utf-8")
_SCHEMES = {"auto": "light dark", "light": "light", "dark": "dark"}


@dataclass(frozen=True, slots=True)
class Part:
    """A picture in a file, drawn by a script."""

    script: str
    """A JavaScript module in which %PLACE% stands for the element to draw in and %DATA% for the
    ids of the blocks with the data."""
    data: Sequence[str]
    """Each in base64."""
    note: str = ""
    """What the file leaves out, in a sentence."""
    title: str = ""
    """Stands above it, where a file has several."""
    caption: str = ""
    """How to read this one of several, in Markdown."""
    extra_hashes: Sequence[str] = ()
    """Of scripts that it adds to the page, as `hash_of` gives them."""

    def with_note(self, note: str) -> Part:
        """Return it with another sentence below."""
        return replace(self, note=note)

    def among_others(self, title: str, caption: str) -> Part:
        """Return it with words of its own, for a file of several parts."""
        return replace(self, title=title, caption=caption)


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers of a picture."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    """Those that are written."""
    num_rows: int
    """All that there are."""


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
    parts: Sequence[Part]
    how_to_read: str = ""
    """Markdown."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What was typed, by its name."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Checkpoint, fingerprint and settings, by their names."""
    code: str = ""
    """Python that makes the same numbers."""
    table: Table | None = None
    files: Sequence[File] = ()
    made: datetime.datetime | None = None
    """When; now, if not given."""
    scheme: Scheme = "auto"
    """Colours: as the reader's system has it, or those of the picture."""
    folds: bool = False
    """Whether everything below the caption is folded, as in a notebook."""


def to_html(report: Report) -> str:
    """Return the whole file.

    Raises:
        ValueError: If a script holds the letters that would end it.
    """
    scripts, pictures = [], []
    held: dict[str, str] = {}  # what several parts need, such as a library, is there once
    for number, part in enumerate(report.parts):
        new = [data for data in dict.fromkeys(part.data) if data not in held]
        held.update({data: f"data-{number}-{k}" for k, data in enumerate(new)})
        names = [held[data] for data in part.data]
        place = f"document.getElementById('part-{number}')"
        script = part.script.replace("%PLACE%", place).replace("%DATA%", json.dumps(names))
        if "</script" in script.lower() or "<!--" in script:
            raise ValueError("a script of a report holds '</script' or '<!--', which would end it.")
        scripts.append(script)
        blocks = "".join(
            f'<script type="text/plain" id="{held[data]}">{data}</script>\n' for data in new
        )
        heading = f"<h2>{as_html(part.title)}</h2>" if part.title else ""
        note = f'<p class="note">{as_html(part.note)}</p>' if part.note else ""
        own = f'<div class="caption">{caption_html(part.caption)}</div>' if part.caption else ""
        pictures.append(
            f'{heading}<div class="part" id="part-{number}"></div>{note}{own}\n{blocks}'
            f'<script type="module">{script}</script>\n'
        )
    extra = [one for part in report.parts for one in part.extra_hashes]
    hashes = dict.fromkeys([*map(hash_of, scripts), *extra])
    title = as_html(report.title)
    caption = caption_html(f"**How to read this.** {report.how_to_read}")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(hashes)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="color-scheme" content="{_SCHEMES[report.scheme]}">\n'
        f"<title>{title}</title>\n<style>{_CSS}</style></head>\n"
        f'<body class="{report.scheme}"><main>\n<h1>{title}</h1>\n{"".join(pictures)}'
        "<noscript><p>The picture is drawn by this file's own script, which is off here.</p>"
        f"</noscript>\n{f'<div class=caption>{caption}</div>' if report.how_to_read else ''}\n"
        f"{_below(report)}</main></body></html>\n"
    )


def hash_of(script: str) -> str:
    """Return a script's hash as a content security policy has it."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _policy(hashes: Mapping[str, None]) -> str:
    return (
        f"default-src 'none'; script-src {' '.join(hashes) or chr(39) + 'none' + chr(39)}; "
        "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _below(report: Report) -> str:
    made = report.made or datetime.datetime.now(datetime.UTC)
    facts = {**report.facts, "Made": f"{made:%Y-%m-%d %H:%M} UTC with BertScope"}
    listed = "".join(
        f"<dt>{as_html(name)}</dt><dd{kind}><bdi>{as_html(value)}</bdi></dd>\n"
        for kind, values in ((' class="text"', report.texts), ("", facts))
        for name, value in values.items()
    )
    sections = [_section("What this is", f"<dl>{listed}</dl>", not report.folds)]
    if report.code:
        code = f'<pre class="code"><code>{as_html(report.code)}</code></pre>'
        sections.append(_section("Python that makes the same numbers", code, not report.folds))
    if report.table is not None or report.files:
        sections.append(_section("The numbers", _numbers(report), is_open=False))
    return "".join(sections)


def _section(title: str, content: str, is_open: bool) -> str:
    mark = " open" if is_open else ""
    return f"<details{mark}><summary>{title}</summary>\n{content}</details>\n"


def _numbers(report: Report) -> str:
    links = "".join(
        f'<a class="file" download="{as_html(file.name)}" '
        f'href="data:{file.kind};base64,{base64.b64encode(file.content).decode()}">'
        f"{as_html(file.name)}</a> "
        for file in report.files
    )
    if report.table is None:
        return f"<p>{links}</p>"
    table = report.table
    shown = len(table.rows)
    cut = f"The first {shown:,} of {table.num_rows:,} rows." if shown < table.num_rows else ""
    head = "".join(f'<th scope="col">{as_html(name)}</th>' for name in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td><bdi>{as_html(_cell(cell))}</bdi></td>" for cell in row) + "</tr>\n"
        for row in table.rows
    )
    return (
        f'<p>{links}</p><p class="note">{cut}</p><div class="holder"><table>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>"
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else str(value)
