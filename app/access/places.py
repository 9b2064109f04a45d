"""What visitors of a closed server are told of its folders: nothing above those that they know."""

from __future__ import annotations

from pathlib import Path

import bertcore

from . import visits
from .policy import policy

SHIPS = Path(bertcore.__file__).parent
"""Where the checkpoints, tables and the run lie that ship."""


def hide(text: str) -> str:
    """Return a text in which paths begin at a folder that the visitor knows; unchanged if open."""
    if not policy().is_closed:
        return text
    known = [visits.current().folder, policy().checkpoints, SHIPS]
    for folder in filter(None, known):
        text = text.replace(f"{folder}/", "").replace(str(folder), folder.name)
    return text
