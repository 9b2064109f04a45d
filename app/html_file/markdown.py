"""Untrusted text as HTML: every character is text, and invisible ones are named."""

import html
import re

from markdown_it import MarkdownIt

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
