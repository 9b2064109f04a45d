"""The pages, in the order of a first lesson: to add one, add its folder here."""

from __future__ import annotations

from . import (
    attention,
    checkpoints,
    compare,
    heads,
    inspect_checkpoint,
    layer_map,
    masked_words,
    minimal_pair,
    mixing,
    sentence_pairs,
    tokens,
    training,
    what_if,
)
from .shell.page_info import PageInfo

PAGES: dict[str, PageInfo] = {
    page.__name__.rpartition(".")[2]: page.PAGE
    for page in (
        tokens,
        attention,
        mixing,
        heads,
        masked_words,
        sentence_pairs,
        what_if,
        minimal_pair,
        compare,
        layer_map,
        checkpoints,
        inspect_checkpoint,
        training,
    )
}
"""By folder: the page is app/<folder>/page.py, its script pages/<folder>.py."""
