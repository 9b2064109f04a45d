"""Minimal pair: two versions of a text, and what differs in BERT."""

from ..page_info import PageInfo

PAGE = PageInfo(
    name="minimal-pair",
    title="Minimal pair",
    purpose=(
        "Two versions of a text that differ in a word: how BERT's answers, attention and vectors "
        "differ."
    ),
    icon=":material/difference:",
)
