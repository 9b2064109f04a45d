"""The names of a checkpoint: one that ships, a folder, or a repository of the hub."""

from __future__ import annotations

import logging
from pathlib import Path

from bertcore.checkpoints.adapter import adapter_base
from bertcore.checkpoints.folder import find_checkpoint, has_weights, is_checkpoint
from bertcore.checkpoints.hub import download, is_hub_id

log = logging.getLogger("bertcore")

DEFAULT = "default"
"""The pretrained checkpoint that ships with BertScope."""
FINE_TUNED = ("sentiment", "pos")
"""What was fine-tuned from it and ships too: a classifier of reviews, a tagger of words."""
SHIPPED = {name: Path(__file__).parent / name for name in (DEFAULT, *FINE_TUNED)}
"""The folders of the checkpoints that ship, by the name that opens them."""


def labelled_file(name: str) -> Path:
    """Return the labelled file that ships with a fine-tuned checkpoint: its dev data.

    Args:
        name: Of FINE_TUNED.
    """
    return next(path for path in SHIPPED[name].iterdir() if path.stem == "dev")


def resolve(source: str | Path, *, allow_pickle: bool = False) -> Path:
    """Return the folder that a source stands for; a hub id is fetched.

    Raises:
        ValueError: If there is no such folder, or it is a file.
        RuntimeError: If the hub cannot be reached.
    """
    folder = _local_folder(source)
    return download(str(source).strip(), allow_pickle=allow_pickle) if folder is None else folder


def is_remote(source: str | Path) -> bool:
    """Tell whether opening a source would ask the hub, itself or for the base of an adapter.

    False too for what cannot be opened.
    """
    try:
        folder = _local_folder(source)
        base = None if folder is None else adapter_base(find_checkpoint(folder))
        return folder is None or (base is not None and _local_folder(base) is None)
    except (ValueError, RuntimeError):
        return False


def _local_folder(source: str | Path) -> Path | None:
    """Return the folder of this machine that a source names, or None if it is a hub id."""
    text = str(source).strip()
    if not text or "\0" in text:
        raise ValueError(f"checkpoint is {text!r}; expected 'default', a folder, or a hub id.")
    if isinstance(source, str) and source in SHIPPED:
        if not has_weights(SHIPPED[source]):
            raise ValueError(
                f"this installation has no {source} checkpoint (bertcore/checkpoints/{source} is "
                "empty). Pass a folder or a hub id such as bert-base-uncased."
            )
        if source != DEFAULT and is_checkpoint(Path(source)):
            log.warning("%s is the checkpoint that ships; the folder is ./%s", source, source)
        return SHIPPED[source]
    path = Path(text).expanduser()
    try:
        if path.is_dir():
            return path.resolve()
        is_file = path.exists()
    except OSError as error:  # such as a name that is too long
        raise ValueError(f"{text[:100]!r} cannot be a folder ({error.strerror}).") from error
    if is_file:
        raise ValueError(f"{path} is a file. Open the folder that it is in: {path.parent}")
    looks_like_path = text.startswith((".", "/", "~")) or "\\" in text or text.count("/") > 1
    if looks_like_path or isinstance(source, Path) or not is_hub_id(text):
        raise ValueError(
            f"there is no folder {path}. Check the path; it must hold model.safetensors, "
            "config.json and vocab.txt."
        )
    return None
