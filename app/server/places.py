"""What visitors of a closed server see of its folders: nothing above those that they know."""

from pathlib import Path

import bertcore

from . import visits
from .policy import policy

SHIPS = Path(bertcore.__file__).parent  # folder of the shipped checkpoints, tables and run


def hide(text: str) -> str:
    """Return a text whose paths begin at a folder that the visitor knows; unchanged if open."""
    if not policy().is_closed:
        return text
    known = [visits.current().folder, policy().checkpoints, SHIPS]
    for folder in filter(None, known):
        text = text.replace(f"{folder}/", "").replace(str(folder), folder.name)
    return text
