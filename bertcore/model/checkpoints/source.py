"""The names of a checkpoint: a shipped one, a folder, or a repository of the hub."""

import atexit
import hashlib
import json
import logging
import shutil
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bertcore.model.checkpoints.adapter import adapter_settings
from bertcore.model.checkpoints.archive import MAX_DEPTH, other_archive, unpack_checkpoint
from bertcore.model.checkpoints.folder import (
    ADAPTER_CONFIG,
    find_checkpoint,
    has_weights,
    is_adapter,
    is_checkpoint,
)

TOYS = {
    "toy-rtd": "replaced tokens",
    "toy-plm": "words in a random order",
    "toy-unilm": "UniLM's four masks",
    "toy-t5": "T5's spans",
    "toy-bart": "BART's noise",
    "toy-mass": "MASS's fragment",
}
"""What each answers, by the name that opens it."""
TOY_FOLDER = Path(__file__).parent / "toys"


@dataclass(frozen=True, slots=True)
class Toy:
    """How a toy was trained, and how good it is."""

    objective: str
    """As for `pretrain --objective`."""
    steps: int
    """Of training."""
    accuracy: float
    """On held-out text, 0 to 1."""
    fraction_of: str
    """What that is a fraction of."""
    guessing: float
    """The accuracy of the best answer that does not look at the text."""
    guess: str
    """That answer."""

    @property
    def is_near_guessing(self) -> bool:
        """Whether it is right within two points of guessing."""
        return round(100 * (self.accuracy - self.guessing)) <= 2


def read_toy(name: str) -> Toy:
    """Return what is recorded of one of TOYS."""
    return Toy(**json.loads((TOY_FOLDER / name / "toy.json").read_text(encoding="utf-8")))


log = logging.getLogger("bertcore")
_unpacking = threading.Lock()

DEFAULT = "default"
"""The pretrained checkpoint that ships with BertScope."""
FINE_TUNED = ("sentiment", "pos", "qa")
"""Shipped checkpoints fine-tuned from it: a classifier of reviews, a tagger of words, and one that
finds answers in a text."""
CAUSAL = "causal"
"""Its twin, trained further from its weights to predict the next token from those before it."""
LANGUAGES = {"zh": "Chinese", "ru": "Russian"}
"""Shipped checkpoints pretrained on text of another language."""
SHIPPED = {
    name: Path(__file__).parent / name for name in (DEFAULT, *FINE_TUNED, CAUSAL, *LANGUAGES)
} | {name: TOY_FOLDER / name for name in TOYS}
"""The folders of the shipped checkpoints, by the name that opens them; the toys come last."""


def labelled_file(name: str) -> Path:
    """Return the labelled file that ships with one of FINE_TUNED: its dev data."""
    return next(path for path in SHIPPED[name].iterdir() if path.stem == "dev")


def resolve(source: str | Path, *, allow_pickle: bool = False) -> Path:
    """Return the folder of a source; a hub id is fetched, a zip file unpacked.

    ValueError if there is no such folder, it is another file, or a zip file without a checkpoint;
    RuntimeError if the hub cannot be reached.
    """
    folder = _local_folder(source)
    if folder is not None:
        return folder
    from bertcore.model.checkpoints.hub import download

    return download(str(source).strip(), allow_pickle=allow_pickle)


def is_remote(source: str | Path) -> bool:
    """Return whether opening a source would ask the hub for it or for an adapter's base.

    Also False for a source that cannot be opened.
    """
    try:
        return bool(hub_ids(source))
    except (ValueError, RuntimeError):
        return False


def hub_ids(source: str | Path) -> list[str]:
    """Return the hub ids for which opening a source asks the hub; none for a folder.

    An adapter's base is included once the adapter itself is on this machine. ValueError if there is
    no such folder, it is a file, or contains no checkpoint; RuntimeError if an adapter's settings
    are damaged.
    """
    folder = _local_folder(source)
    ids = [] if folder is not None else [str(source).strip()]
    if folder is None:
        from bertcore.model.checkpoints.hub import cached

        folder = cached(ids[0])
    if folder is None:
        return ids
    folder = find_checkpoint(folder)
    base = base_source(folder, adapter_settings(folder))
    return ids if base is None or _local_folder(base) is not None else [*ids, base]


def check_foreign_base(folder: Path, base: str | None, origin: str) -> None:
    """Refuse an adapter from `origin`, elsewhere, whose base is a folder of this machine.

    By ValueError.
    """
    if base is not None and base not in SHIPPED and _local_folder(base) is not None:
        raise ValueError(
            f"the adapter in {folder} comes from {origin}, but its base is {base[:100]!r}, a "
            "folder of this machine. Copy the adapter to a folder of yours if you want that."
        )


def base_source(folder: Path, settings: Mapping[str, Any] | None) -> str | None:
    """Return the folder or hub id, with its revision, of an adapter's base; None: not an adapter.

    ValueError if the name cannot be a folder; RuntimeError if the revision has another form.
    """
    if settings is None:
        return None
    base: str = settings["base_model_name_or_path"]
    if folder.parent.name == "snapshots":
        check_foreign_base(folder, base, "the hub")
    if _place.cache_info().currsize and folder.resolve().is_relative_to(_place()):
        check_foreign_base(folder, base, "a zip file")
    if "@" in base or _local_folder(base) is not None:
        return base
    revision = settings.get("revision")
    if revision in (None, "", "main"):
        return base
    from bertcore.model.checkpoints.hub import is_hub_id

    if not isinstance(revision, str) or not is_hub_id(f"{base}@{revision}"):
        raise RuntimeError(
            f"{folder / ADAPTER_CONFIG} has revision {str(revision)[:50]!r}; expected the branch, "
            "tag or commit of its base. Correct it, or leave it out."
        )
    return f"{base}@{revision}"


@lru_cache
def _place() -> Path:
    """Return the folder for zip files that this process opened; it goes when the process ends."""
    folder = tempfile.mkdtemp(prefix="bertscope-zip-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder).resolve()


def _unpacked(archive: Path) -> Path:
    """Return the checkpoint in a zip file, unpacked once while the file does not change."""
    state = archive.stat()
    key = f"{archive}\0{state.st_size}\0{state.st_mtime_ns}"
    target = _place() / hashlib.sha256(key.encode()).hexdigest()[:16]
    with _unpacking:
        if not target.is_dir():
            with tempfile.TemporaryDirectory(dir=_place()) as fresh:
                unpack_checkpoint(archive, Path(fresh) / "new")
                (Path(fresh) / "new").rename(target)
    return find_checkpoint(target, depth=MAX_DEPTH)


def _local_folder(source: str | Path) -> Path | None:
    """Return the folder that a source names, or None for a hub id; a zip file is unpacked."""
    text = str(source).strip()
    if not text or "\0" in text:
        raise ValueError(f"checkpoint is {text!r}; expected 'default', a folder, or a hub id.")
    if isinstance(source, str) and source in SHIPPED:
        if not (has_weights(SHIPPED[source]) or is_adapter(SHIPPED[source])):
            raise ValueError(
                f"this installation has no {source} checkpoint (bertcore/model/checkpoints/"
                f"{source} is empty). Pass a folder or a hub id such as bert-base-uncased."
            )
        if source != DEFAULT and is_checkpoint(Path(source)):
            log.warning("%s is the shipped checkpoint; for the folder use ./%s", source, source)
        return SHIPPED[source]
    path = Path(text).expanduser()
    try:
        if path.is_dir():
            return path.resolve()
        is_file = path.exists()
    except OSError as error:  # such as a name that is too long
        raise ValueError(f"{text[:100]!r} cannot be a folder ({error.strerror}).") from error
    if is_file and path.suffix.lower() == ".zip":
        return _unpacked(path.resolve())
    if is_file:
        what = other_archive(path) if path.is_file() else None
        raise ValueError(
            f"{path} is a file. {what or f'Open the folder that it is in: {path.parent}'}"
        )
    name, _, _ = text.partition("@")  # a revision may contain slashes: refs/pr/1
    looks_like_path = text.startswith((".", "/", "~")) or "\\" in text or name.count("/") > 1
    from bertcore.model.checkpoints.hub import is_hub_id  # its library is slow to import

    if looks_like_path or isinstance(source, Path) or not is_hub_id(text):
        raise ValueError(
            f"there is no folder {path}. Check the path; it must contain model.safetensors, "
            "config.json and vocab.txt. A hub id has the form name, user/name or either with "
            "@revision."
        )
    return None
