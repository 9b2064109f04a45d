"""Unpack an untrusted zip file: only checkpoint files, only into one folder, no zip bombs."""

from __future__ import annotations

import errno
import lzma
import stat
import zipfile
import zlib
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path, PurePosixPath
from typing import IO

from bertcore.base.zip_files import MOST_AT_ONCE, LongListError, open_zip
from bertcore.checkpoints.folder import WEIGHT_FILES, find_checkpoint, other_format

MAX_ENTRIES = 500
"""Files and folders in an archive; a checkpoint has about ten."""
MAX_BYTES = 8 * 2**30
"""Size of all unpacked files: BERT-large has 1.3 GB in float32."""
MAX_RATIO = 200
"""Unpacked to packed size. Weights shrink to 0.5 at best, text to 0.1, bombs to 0.001."""
MAX_DEPTH = 10
"""Folders around a file."""
_FREE_BYTES = 20 * 2**20
"""Up to this size any compression is allowed: a vocabulary of blanks is harmless."""
_SUFFIXES = frozenset({".json", ".txt", ".model", ".safetensors", ".bin", ".md"})
_MAX_NAME_BYTES = 255
"""Limit of file systems for the name of one file or folder."""
_ZIP = "Zip the folder that has config.json, model.safetensors and the tokenizer's files."
_TOO_MANY = (
    f"; a checkpoint has about ten, and at most {MAX_ENTRIES} are allowed. Zip only the folder of "
    "the checkpoint."
)
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
_OF_THE_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES})
"""Errors of the disk, not of the archive: it is full, broken or not writable."""


def unpack_checkpoint(
    archive: Path | IO[bytes], folder: Path, *, max_bytes: float = MAX_BYTES
) -> Path:
    """Unpack the checkpoint in a zip file and return the folder that contains it.

    Only files that a checkpoint can have are written (by their endings), with their names and
    folders in the archive, and nothing outside `folder`. Names and claimed sizes are checked before
    the first byte is written, true sizes while writing.

    Args:
        archive: A path or an open file.
        folder: Empty or new. Files already written stay after an error.
        max_bytes: Total size of all unpacked files; MAX_BYTES at most.

    Raises:
        ValueError: If it is not a zip file, is encrypted, contains no checkpoint or several, has
            paths that lead outside, links or too many entries, or is too large or compressed too
            much.
        RuntimeError: If it is damaged.
    """
    try:
        with _opened(archive) as file, open_zip(file) as opened:
            left = int(min(max_bytes, MAX_BYTES))
            infos = opened.infolist()
            names = [n for i in infos if "__MACOSX" not in (n := i.filename.replace("\\", "/"))]
            entries = _checked(infos, names, left)
            folder.mkdir(parents=True, exist_ok=True)
            for entry, name in entries:
                left -= _write(opened, entry, folder / name, left)
    except LongListError as error:
        raise ValueError(f"the zip file has {error} of its entries{_TOO_MANY}") from error
    except zipfile.BadZipFile as error:
        what = other_archive(archive) or f"this is not a zip file, or it is damaged ({error})."
        raise ValueError(f"{what} {_ZIP}") from error
    except (zlib.error, lzma.LZMAError, EOFError, NotImplementedError) as error:
        raise RuntimeError(f"the zip file cannot be unpacked ({error}). Zip it again.") from error
    except OSError as error:
        if error.errno in _OF_THE_DISK:
            raise
        # As bz2 reports damage. A path in its message would be one of this machine.
        reason = error.strerror or error
        raise RuntimeError(f"the zip file cannot be unpacked ({reason}). Zip it again.") from error
    try:
        return find_checkpoint(folder, depth=MAX_DEPTH)
    except ValueError as error:
        has_weights = any(PurePosixPath(name).name in WEIGHT_FILES for name in names)
        other = None if has_weights else other_format(names)
        if other is not None:
            raise ValueError(f"the zip file contains no checkpoint to open. {other}") from error
        text = str(error).replace(str(folder), "the zip file")
        raise ValueError(text.replace("Choose one", "Zip only one")) from error


def other_archive(archive: Path | IO[bytes]) -> str | None:
    """Return a sentence on an archive that is not a zip file, or None."""
    with _opened(archive) as file:
        file.seek(0)
        start = file.read(_START)
    found = next((name for name, place, mark in _OTHER if start[place:].startswith(mark)), None)
    return f"this is a {found} archive, and only zip files are unpacked." if found else None


def _opened(archive: Path | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    return archive.open("rb") if isinstance(archive, Path) else nullcontext(archive)


def _checked(
    infos: list[zipfile.ZipInfo], names: list[str], max_bytes: int
) -> list[tuple[zipfile.ZipInfo, PurePosixPath]]:
    """Return the entries to unpack with their names; reject malicious archives."""
    if len(infos) > MAX_ENTRIES:
        raise ValueError(f"the zip file has {len(infos):,} entries{_TOO_MANY}")
    chosen = []
    for info in infos:
        name = _checked_name(info)
        if info.is_dir() or name.suffix.lower() not in _SUFFIXES or "__MACOSX" in name.parts:
            continue
        if info.flag_bits & 1:
            raise ValueError(f"{info.filename!r} in the zip file is encrypted. Zip it unencrypted.")
        chosen.append((info, name))
    total = sum(info.file_size for info, _ in chosen)
    if total > max_bytes:
        raise ValueError(
            f"the zip file unpacks to {total / 1e9:.1f} GB; at most {max_bytes / 1e9:.1f} GB are "
            "allowed. Copy the folder to this machine and open it there."
        )
    packed = sum(info.compress_size for info, _ in chosen)
    if total > max(_FREE_BYTES, MAX_RATIO * packed):
        raise ValueError(_too_tight(total, packed))
    lower = [str(name).lower() for _, name in chosen]
    twice = sorted({name for name in lower if lower.count(name) > 1})
    if twice:
        raise ValueError(
            f"the zip file contains {twice[0]!r} more than once. Zip the folder again."
        )
    parents = {parent for name in lower for parent in PurePosixPath(name).parents}
    both = sorted(name for name in lower if PurePosixPath(name) in parents)
    if both:
        raise ValueError(
            f"the zip file contains {both[0]!r} as a file and as a folder. Zip the folder again."
        )
    if not chosen:
        raise ValueError(
            f"the zip file contains no file of a checkpoint. {other_format(names) or _ZIP}"
        )
    return chosen


def _checked_name(info: zipfile.ZipInfo) -> PurePosixPath:
    # Some programs of Windows write backslashes; a drive would be a path there.
    name = PurePosixPath(info.filename.replace("\\", "/"))
    outside = name.is_absolute() or ".." in name.parts
    if outside or (name.parts and ":" in name.parts[0]) or "\0" in info.orig_filename:
        raise ValueError(
            f"the zip file contains {info.filename!r}, a path that leads out of its folder. It is "
            "not opened."
        )
    if stat.S_ISLNK(info.external_attr >> 16):
        raise ValueError(f"the zip file contains a link, {info.filename!r}. It is not opened.")
    if len(name.parts) > MAX_DEPTH + 1 or len(info.filename) > 500:
        raise ValueError("the zip file has folders nested too deeply. Zip only the checkpoint.")
    longest = max(name.parts, key=_num_bytes, default="")
    if _num_bytes(longest) > _MAX_NAME_BYTES:
        raise ValueError(
            f"the zip file contains a name of {_num_bytes(longest)} bytes, {longest[:40]!r}...; at "
            f"most {_MAX_NAME_BYTES} are allowed. Zip only the checkpoint."
        )
    return name


def _num_bytes(name: str) -> int:
    return len(name.encode("utf-8", "surrogatepass"))


def _write(archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, left: int) -> int:
    """Write one entry and return its size; stop if it is larger than its header claims."""
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with archive.open(info) as source, target.open("xb") as out:
        while chunk := source.read(MOST_AT_ONCE):
            size += len(chunk)
            if size > min(info.file_size, left):
                raise RuntimeError(
                    f"{info.filename!r} in the zip file is larger than it claims "
                    f"({info.file_size:,} bytes). It is not opened."
                )
            out.write(chunk)
    return size


def _too_tight(total: int, packed: int) -> str:
    return (
        f"the zip file packs {total:,} bytes into {packed:,}, a ratio that weights and "
        "vocabularies never reach: it looks like a zip bomb and is not opened."
    )
