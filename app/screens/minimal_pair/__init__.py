"""Minimal pair: two versions of a text, and what differs in BERT."""

from ...page_info import PageInfo

PAGE = PageInfo(
    name="minimal-pair",
    title="Minimal pair",
    purpose="What does one word change? Two versions of a text, side by side.",
    icon=":material/difference:",
)
