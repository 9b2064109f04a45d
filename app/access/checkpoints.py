"""The checkpoints that a visitor may open.

On an open server a source is a path or a hub id, as everywhere in BertScope. On a closed one it is
a name: of a checkpoint that ships, of one below the server's folder, or "own:..." of one that the
visitor uploaded or trained. A name is looked up among those that are there and never becomes part
of a path, so that none leads elsewhere.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from bertcore.checkpoints.adapter import adapter_base
from bertcore.checkpoints.folder import is_adapter, is_checkpoint
from bertcore.checkpoints.source import SHIPPED

from ..shell import state
from . import visits
from .policy import policy

log = logging.getLogger("bertscope.app")

OWN = "own:"
"""Begins the names of what the visitor made or uploaded."""
MAX_FOUND = 200
"""Checkpoints below a folder that have names."""
PATTERNS = ("*", "*/checkpoints/*", "*/runs/*/checkpoints/*")
"""A checkpoint; those of a run; what `bertscope finetune --keep-epochs` keeps."""
_OWN_PATTERNS = tuple("/".join("*" * depth) for depth in range(2, 7))
"""Uploads lie as deep as in their zip files."""


class NotOfferedError(ValueError):
    """A source that visitors of this server may not open."""


def names() -> list[str]:
    """Return the names that a visitor of a closed server may open."""
    return list(_by_name())


def place(source: str) -> str:
    """Return what `bertcore.load` opens for a source: itself on an open server.

    Raises:
        NotOfferedError: If this server is closed and does not offer it to this visitor. Neither the
            file system nor the network was asked for it.
    """
    if not policy().is_closed:
        return source
    found = _always().get(source) or _by_name().get(source)
    if found is None:
        log.warning("refused: a visitor asked for a checkpoint that is not offered")
        raise NotOfferedError(
            f"this server offers no checkpoint {_short(source)!r}. It opens checkpoints by name "
            "alone, no folders and nothing from the hub: choose one in the sidebar."
        )
    _check_base(found)
    return found


def _check_base(found: str) -> None:
    """Refuse an adapter whose base is not offered: its file may be a visitor's own.

    Raises:
        NotOfferedError: If it is an adapter on another base.
        RuntimeError: If its settings are damaged.
    """
    base = None if found in SHIPPED else adapter_base(Path(found).expanduser())
    if base is not None and base not in SHIPPED and base not in _by_name().values():
        log.warning("refused: a visitor asked for an adapter on a base that is not offered")
        raise NotOfferedError(
            f"this adapter is opened on {_short(base)!r}, which this server does not offer. Merge "
            "it with peft, and upload the result."
        )


def name_of(folder: Path) -> str:
    """Return the source under which a visitor opens a folder that the app found itself.

    Raises:
        NotOfferedError: If this server is closed and the folder is not one that it offers.
    """
    if not policy().is_closed:
        return str(folder)
    for name, found in _by_name().items():
        if found == str(folder):
            return name
    raise NotOfferedError("this server does not offer that checkpoint. Choose one in the sidebar.")


def source_of(began: str) -> str | None:
    """Return the source for what a file says that a checkpoint began with; None if it is not there.

    The file may be a visitor's own, so that a closed server looks at no place that it names.
    """
    if began in SHIPPED:
        return began
    if policy().is_closed:
        return next((name for name, found in _by_name().items() if found == began), None)
    return began if Path(began).is_dir() else None


def below(root: Path, patterns: tuple[str, ...] = PATTERNS) -> list[Path]:
    """Return the folders of checkpoints below a folder, sorted, without links that lead out."""
    inside = root.resolve()
    found = {
        path
        for pattern in patterns
        for path in root.glob(pattern)
        if not any(part.startswith(".") for part in path.relative_to(root).parts)
        and path.resolve().is_relative_to(inside)
        and (is_checkpoint(path) or is_adapter(path))
    }
    return sorted(found)[:MAX_FOUND]


def _by_name() -> dict[str, str]:
    own, shared = visits.current().folder, policy().checkpoints
    found = _always()
    for path in below(own, _OWN_PATTERNS):
        found[f"{OWN}{path.relative_to(own).as_posix()}"] = str(path)
    if shared is not None:
        for path in below(shared):
            found.setdefault(path.relative_to(shared).as_posix(), str(path))
    return found


def _always() -> dict[str, str]:
    """Return those that need no look at the disk."""
    chosen = os.environ.get(state.CHECKPOINT_VARIABLE)
    return {name: name for name in SHIPPED} | ({state.default_source(): chosen} if chosen else {})


def _short(source: str) -> str:
    return source if len(source) <= 60 else f"{source[:59]}…"
