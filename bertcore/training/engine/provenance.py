"""Provenance of a run: its files, code and machine, and whether they changed."""

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import bertcore
from bertcore.model.network.protocol import Encoder
from bertcore.model.tokenizer import Tokenizer


def record_files(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Return path, size, time and hash of files, for `check_files`."""
    return [{**_quick(path), "sha256": hash_file(path)} for path in paths]


def check_files(recorded: Sequence[dict[str, Any]], what: str) -> None:
    """Reject files of `record_files` that changed; a missing one is accepted.

    Hashing a large corpus at each resume would take long, so a file of equal size and time counts
    as unchanged; only files with another time are hashed. `what` names them in the message:
    "training text".

    ValueError if the content of a file changed. OSError if a file cannot be read.
    """
    for old in recorded:
        path = Path(old["path"])
        if not path.is_file():
            continue
        new = _quick(path)
        if new["bytes"] != old["bytes"]:
            change = f"it had {old['bytes']:,} bytes and has {new['bytes']:,}"
        elif new["mtime_ns"] != old["mtime_ns"] and hash_file(path) != old["sha256"]:
            when = datetime.fromtimestamp(new["mtime_ns"] / 1e9, UTC)
            change = (
                f"the size is the same, but the content (of {when:%Y-%m-%d %H:%M:%S} UTC) is not"
            )
        else:
            continue
        raise ValueError(
            f"the {what} {str(path)!r} changed since the run was started: {change}. "
            "Restore that file to resume, or start a new run with the new one."
        )


def check_unchanged(before: Sequence[dict[str, Any]]) -> None:
    """Reject files of `record_times` that were written to while they were read.

    ValueError if a file has another size or time.
    """
    for old in before:
        if _quick(Path(old["path"])) != old:
            raise ValueError(
                f"the file {old['path']!r} changed while it was read. "
                "Wait until it is complete, then start again."
            )


def record_times(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Return path, size and time of files, for `check_unchanged`."""
    return [_quick(path) for path in paths]


def record_vocabulary(tokenizer: Tokenizer) -> str:
    """Return a hash of the pieces to which the packed corpus's ids refer."""
    pieces = "\n".join([*tokenizer.vocab, str(tokenizer.do_lower_case)])
    return hashlib.sha256(pieces.encode()).hexdigest()[:16]


def versions() -> dict[str, str]:
    """Return the versions and the machine; if they are equal, so are the results, bit for bit.

    The processor's instructions are included, since others add in another order.
    """
    return {
        "bertscope": bertcore.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads",
        "instructions": torch.backends.cpu.get_cpu_capability(),
    }


def describe_differences(old: dict[str, str], new: dict[str, str]) -> str | None:
    """Return a sentence on what changed since the start of a run; None if nothing did."""
    both = [name for name in new if name in old]
    other = [f"{name} {old[name]} -> {new[name]}" for name in both if old[name] != new[name]]
    if not other:
        return None
    return (
        f"the versions or the machine changed since the run was started ({'; '.join(other)}): "
        "its numbers may differ in the last digits from those of an uninterrupted run."
    )


def git_revision() -> dict[str, Any] | None:
    """Return the commit of this code and whether files were changed since; None if not from git."""
    package = Path(bertcore.__file__).parent
    described = _git(package, "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    # A package inside another project's checkout, such as its .venv, is not part of that commit.
    if described is None or _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    return {"revision": described.removesuffix("-dirty"), "dirty": described.endswith("-dirty")}


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _quick(path: Path) -> dict[str, Any]:
    """Return a file's path, size and time, without reading it."""
    stat = path.stat()
    return {
        "path": str(path.expanduser().resolve()),
        "bytes": stat.st_size,
        "mtime_ns": stat.st_mtime_ns,
    }


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_weights(module: nn.Module | Encoder) -> str:
    """Return the SHA-256 of a network's weights, with their names, as they are in memory."""
    digest = hashlib.sha256()
    for name, weight in module.named_parameters():
        digest.update(f"{name} {list(weight.shape)} {weight.dtype}\n".encode())
        stored = weight.detach().contiguous().cpu()
        digest.update(memoryview(stored.flatten().view(torch.uint8).numpy().data))
    return digest.hexdigest()
