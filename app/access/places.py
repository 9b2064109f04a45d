"""What visitors of a closed server are told of its folders: nothing above those that they know."""

from __future__ import annotations

from bertcore.checkpoints.source import SHIPPED

from . import visits
from .policy import policy


def hide(text: str) -> str:
    """Return a text in which paths begin at a folder that the visitor knows; unchanged if open."""
    if not policy().is_closed:
        return text
    known = [visits.current().folder, policy().checkpoints, *SHIPPED.values()]
    for folder in filter(None, known):
        text = text.replace(f"{folder}/", "").replace(str(folder), folder.name)
    return text
