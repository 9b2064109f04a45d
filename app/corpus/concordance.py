"""Hits as a concordance: one under the other, their tokens in one column at any width."""

import html
from collections.abc import Sequence
from typing import NamedTuple

from ..plots import theme


class Row(NamedTuple):
    """A hit in its sentence; all of it untrusted text."""

    before: str
    token: str
    """Empty if whole sentences are compared."""
    after: str
    cosine: float
    link: str | None
    """Address of a page with the sentence; None for one too long for a link."""


_TABLE = "width:100%;table-layout:fixed;border-collapse:collapse;font-size:14px;line-height:1.3;"
_CELL = f"border-bottom:1px solid {theme.GRID};padding:7px 6px;"
_CUT = f"{_CELL}overflow:hidden;text-overflow:ellipsis;white-space:nowrap;"
_NAME = "font-weight:400;opacity:0.8;padding:2px 6px;text-align:right;"
_HIDDEN = '<span style="position:absolute;clip-path:inset(50%)">{name}</span>'
"""A name for screen readers; others see what the columns are."""
_LINK = "color:light-dark(#2a48b8,#a5b6ff)"


def table(rows: Sequence[Row]) -> str:
    """Return a table as HTML, every text escaped; contexts are cut on their outer side."""
    with_tokens = any(row.token for row in rows)
    widths = ("", "5.8rem", "") if with_tokens else ("",)
    names = ("before", "token", "after") if with_tokens else ("sentence",)
    cols = "".join(f'<col style="width:{width}">' for width in (*widths, "3.6rem", "3.2rem"))
    heard = [_HIDDEN.format(name=name) for name in names]
    head = "".join(
        f'<th scope="col" style="{_NAME}">{name}</th>'
        for name in (*heard, "cosine", _HIDDEN.format(name="open"))
    )
    body = "".join(_row(row, with_tokens) for row in rows)
    return (
        '<div role="region" tabindex="0" aria-label="The nearest hits in the corpus" '
        'style="max-height:440px;overflow-y:auto;position:relative">'
        f'<table style="{_TABLE}"><colgroup>{cols}</colgroup>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: Row, with_tokens: bool) -> str:
    before, token, after = (html.escape(text) for text in row[:3])
    if with_tokens:
        # Written from right to left, a cell is cut on the left; the text itself is not.
        cells = (
            f'<td dir="rtl" style="{_CUT}text-align:right"><bdi dir="ltr">{before}</bdi></td>'
            f'<td style="{_CUT}text-align:center;font-weight:600"><bdi>{token}</bdi></td>'
            f'<td style="{_CUT}text-align:left"><bdi>{after}</bdi></td>'
        )
    else:
        cells = f'<td style="{_CUT}text-align:left"><bdi>{before}{after}</bdi></td>'
    opened = ""
    if row.link is not None:
        address = html.escape(row.link)
        opened = f'<a href="{address}" target="_blank" rel="noopener" style="{_LINK}">open</a>'
    return (
        f'<tr>{cells}<td style="{_CELL}text-align:right">{row.cosine:.3f}</td>'
        f'<td style="{_CELL}text-align:right">{opened}</td></tr>'
    )
