"""What the app says: page titles, purposes, and how to read each picture.

A file for each page; keys are "page.picture".
"""

from __future__ import annotations

from app.checkpoints import texts as checkpoints
from app.checkpoints.texts import CONFIG_MEANINGS
from app.compare import texts as compare
from app.training import texts as training

__all__ = [
    "CODE",
    "CONFIG_MEANINGS",
    "TEXTS",
]

_PARTS = (
    checkpoints,
    compare,
    training,
)
TEXTS: dict[str, str] = {key: text for part in _PARTS for key, text in part.TEXTS.items()}
"""How to read each picture, as Markdown."""
CODE: dict[str, str] = {key: code for part in _PARTS for key, code in part.CODE.items()}
"""Python that makes a picture's numbers, to follow `Page.setup_code`."""
