"""Unpack a zip file of a checkpoint: only its files, only into one folder, no links."""

import lzma
import shutil
import stat
import zipfile
import zlib
from contextlib import nullcontext
from pathlib import Path, PurePosixPath
from typing import IO

from bertcore.model.checkpoints.folder import WEIGHT_FILES, find_checkpoint, other_format

MAX_DEPTH = 10
"""Folders around a checkpoint in its zip file, in which it is looked for."""
_SUFFIXES = frozenset({".json", ".txt", ".model", ".safetensors", ".bin", ".md"})
_ZIP = "Zip the folder that has config.json, model.safetensors and the tokenizer's files."
_START = 300
_OTHER = (
    ("gzip (.tar.gz)", 0, b"\x1f\x8b"),
    ("tar", 257, b"ustar"),
    ("RAR", 0, b"Rar!"),
    ("7-Zip", 0, b"7z\xbc\xaf\x27\x1c"),
    ("bzip2", 0, b"BZh"),
    ("xz", 0, b"\xfd7zXZ"),
    ("Zstandard", 0, b"\x28\xb5\x2f\xfd"),
)
"""Other archives: name, and the mark at a place of the file."""


def unpack_checkpoint(archive: Path | IO[bytes], folder: Path) -> Path:
    """Unpack the checkpoint in a zip file and return the folder that contains it.

    Only files that a checkpoint can have are written (by their endings), with their names and
    folders in the archive, and nothing outside `folder`, which is empty or new. Files already
    written stay after an error.

    ValueError if it is not a zip file, is encrypted, contains no checkpoint or several, or has
    links or paths that lead outside; RuntimeError if it is damaged; OSError if the disk is full.
    """
    try:
        with zipfile.ZipFile(archive) as opened:
            infos = opened.infolist()
            entries = _checked(infos)
            folder.mkdir(parents=True, exist_ok=True)
            for entry, name in entries:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with opened.open(entry) as source, (folder / name).open("xb") as target:
                    shutil.copyfileobj(source, target)
    except zipfile.BadZipFile as error:
        what = other_archive(archive) or f"this is not a zip file, or it is damaged ({error})."
        raise ValueError(f"{what} {_ZIP}") from error
    except (FileExistsError, NotADirectoryError) as error:
        twice = Path(error.filename).name
        raise ValueError(f"the zip file contains {twice!r} twice. Zip the folder again.") from error
    except (zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError) as error:
        if getattr(error, "errno", None) is not None:  # of the disk; bz2 reports damage without one
            raise
        raise RuntimeError(f"the zip file cannot be unpacked ({error}). Zip it again.") from error
    try:
        return find_checkpoint(folder, depth=MAX_DEPTH)
    except ValueError as error:
        has_weights = any(entry.name in WEIGHT_FILES for _, entry in entries)
        if not has_weights and (other := _other(infos)) is not None:
            raise ValueError(f"the zip file contains no checkpoint to open. {other}") from error
        text = str(error).replace(str(folder), "the zip file")
        raise ValueError(text.replace("Choose one", "Zip only one")) from error


def other_archive(archive: Path | IO[bytes]) -> str | None:
    """Return a sentence on an archive that is not a zip file, or None."""
    with archive.open("rb") if isinstance(archive, Path) else nullcontext(archive) as file:
        file.seek(0)
        start = file.read(_START)
    kind = next((name for name, place, mark in _OTHER if start[place:].startswith(mark)), None)
    return f"this is a {kind} archive, and only zip files are unpacked." if kind else None


def _checked(infos: list[zipfile.ZipInfo]) -> list[tuple[zipfile.ZipInfo, PurePosixPath]]:
    """Return the entries to unpack with their names; ValueError as `unpack_checkpoint`."""
    names = [info.filename.replace("\\", "/") for info in infos]  # as some of Windows' have
    entries = []
    for info, name in zip(infos, map(PurePosixPath, names), strict=True):
        outside = name.is_absolute() or ".." in name.parts or "\0" in info.orig_filename
        if outside or ":" in "".join(name.parts[:1]):
            raise ValueError(
                f"the zip file contains {info.filename!r}, a path that leads out of its folder. It "
                "is not opened."
            )
        if stat.S_ISLNK(info.external_attr >> 16):
            raise ValueError(f"the zip file contains a link, {info.filename!r}. It is not opened.")
        if info.is_dir() or name.suffix.lower() not in _SUFFIXES or "__MACOSX" in name.parts:
            continue
        if info.flag_bits & 1:
            raise ValueError(f"{info.filename!r} in the zip file is encrypted. Zip it unencrypted.")
        entries.append((info, name))
    if not entries:
        raise ValueError(f"the zip file contains no checkpoint to open. {_other(infos) or _ZIP}")
    return entries


def _other(infos: list[zipfile.ZipInfo]) -> str | None:
    """Return a sentence on checkpoints of other programs in a zip file, or None."""
    names = [info.filename.replace("\\", "/") for info in infos]
    return other_format([name for name in names if "__MACOSX" not in name])
