"""The checkpoints that a visitor may open.

On an open server a source is a path or a hub id, as everywhere in BertScope. On a closed one it is
a name: of a shipped checkpoint, of one below the server's folder, or, as "own:...", of one that the
visitor trained or saved there. A name is looked up among the existing checkpoints and never becomes
part of a path, so that it cannot point elsewhere.
"""

import logging
import os
from pathlib import Path

from bertcore.model.checkpoints.adapter import adapter_base
from bertcore.model.checkpoints.folder import is_adapter, is_checkpoint
from bertcore.model.checkpoints.source import SHIPPED

from . import visits
from .policy import CHECKPOINT_VARIABLE, default_source, policy

log = logging.getLogger("bertscope.app")

OWN = "own:"
"""Prefix of the names of checkpoints that the visitor made on this server."""
MAX_FOUND = 200
"""Most checkpoints that are listed below a folder."""
PATTERNS = ("*", "*/checkpoints/*", "*/runs/*/checkpoints/*")
"""A checkpoint; those of a run; those kept by a fine-tuning with `keep_epochs`."""
_OWN_PATTERNS = ("saved/*", *(f"runs/{pattern}" for pattern in PATTERNS))
"""Where the app writes a visitor's; what visitors send is in other folders."""


ON_ONES_OWN = "`pip install bertscope`, then `bertscope`"
"""Commands that open any checkpoint on a visitor's own computer."""
HOW_TO_CHOOSE = (
    "This server opens the checkpoints that the sidebar lists; your own opens on your own "
    f"computer: {ON_ONES_OWN}."
)


class NotOfferedError(ValueError):
    """A source that visitors of this server may not open."""


def names() -> list[str]:
    """Return the names that a visitor of a closed server may open."""
    return list(_by_name())


def place(source: str) -> str:
    """Return what `bertcore.load` opens for a source: the source itself on an open server.

    NotOfferedError if this server is closed and does not offer it to this visitor. It is never
    looked up in the file system or on the network.
    """
    if not policy().is_closed:
        return source
    target = _always().get(source) or _by_name().get(source)
    if target is None:
        log.warning("refused: a visitor asked for a checkpoint that is not offered")
        raise NotOfferedError(
            f"this server offers no checkpoint {_short(source)!r}. It opens by "
            "name: choose one in the sidebar. Your own opens on your own computer: "
            f"{ON_ONES_OWN}."
        )
    _check_base(target)
    return target


def _check_base(place: str) -> None:
    """Refuse an adapter whose base is not offered; RuntimeError if its settings are damaged."""
    base = None if place in SHIPPED else adapter_base(Path(place).expanduser())
    if base is not None and base not in SHIPPED and base not in _by_name().values():
        log.warning("refused: a visitor asked for an adapter on a base that is not offered")
        shown = Path(base).name if Path(base).is_absolute() else base  # visitors see no path
        raise NotOfferedError(
            f"this adapter's base is {_short(shown)!r}, which this server does not offer. Whoever "
            "runs it can put the base into the folder of --checkpoints, or merge both with peft."
        )


def name_of(folder: Path) -> str:
    """Return the source under which a visitor opens a folder that the app found itself.

    NotOfferedError if this server is closed and the folder is not one that it offers.
    """
    if not policy().is_closed:
        return str(folder)
    for name, path in _by_name().items():
        if path == str(folder):
            return name
    raise NotOfferedError("this server does not offer that checkpoint. Choose one in the sidebar.")


def source_of(began: str) -> str | None:
    """Return the source of the initial checkpoint that a file names; None if it does not exist.

    The file may come from a visitor, so a closed server opens no path that it names.
    """
    if began in SHIPPED:
        return began
    if policy().is_closed:
        return next((name for name, path in _by_name().items() if path == began), None)
    return began if Path(began).is_dir() else None


def below(root: Path, patterns: tuple[str, ...] = PATTERNS) -> list[Path]:
    """Return the checkpoint folders below a folder, sorted, without links that point outside."""
    inside = root.resolve()
    folders = {
        path
        for pattern in patterns
        for path in root.glob(pattern)
        if not any(part.startswith(".") for part in path.relative_to(root).parts)
        and path.resolve().is_relative_to(inside)
        and (is_checkpoint(path) or is_adapter(path))
    }
    return sorted(folders)[:MAX_FOUND]


def _by_name() -> dict[str, str]:
    own, shared = visits.current().folder, policy().checkpoints
    places = _always()
    for path in below(own, _OWN_PATTERNS):
        places[f"{OWN}{path.relative_to(own).as_posix()}"] = str(path)
    if shared is not None:
        for path in below(shared):
            places.setdefault(path.relative_to(shared).as_posix(), str(path))
    return places


def _always() -> dict[str, str]:
    """Return those that are known without reading the disk."""
    chosen = os.environ.get(CHECKPOINT_VARIABLE)
    return {name: name for name in SHIPPED} | ({default_source(): chosen} if chosen else {})


def _short(source: str) -> str:
    return source if len(source) <= 60 else f"{source[:59]}…"
