"""What the app says: page titles, purposes, and how to read each picture.

A file for each page; keys are "page.picture".
"""

from __future__ import annotations

from app.texts import (
    attention,
    checkpoints,
    compare,
    frame,
    heads,
    inspect,
    layer_map,
    masked_words,
    minimal_pair,
    mixing,
    sentence_pairs,
    tokens,
    training,
    what_if,
)
from app.texts.checkpoints import CONFIG_MEANINGS
from app.texts.pages import PAGES
from app.texts.strangers import label_name, plain, safe_card, shorten
from app.texts.tokens import mark_of

__all__ = [
    "CODE",
    "CONFIG_MEANINGS",
    "PAGES",
    "TEXTS",
    "label_name",
    "mark_of",
    "plain",
    "safe_card",
    "shorten",
]

_PARTS = (
    frame,
    tokens,
    attention,
    checkpoints,
    layer_map,
    masked_words,
    sentence_pairs,
    minimal_pair,
    compare,
    what_if,
    training,
    mixing,
    heads,
    inspect,
)
TEXTS = {key: text for part in _PARTS for key, text in part.TEXTS.items()}
"""How to read each picture, as Markdown."""
CODE = {key: code for part in _PARTS for key, code in part.CODE.items()}
"""Python that makes a picture's numbers, to follow `Page.setup_code`."""
