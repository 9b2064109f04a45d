"""The encoding of a file of text: by its mark, UTF-8, or guessed from its bytes."""

from __future__ import annotations

import codecs
import io
import os
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

import charset_normalizer

from bertcore.data import packed_files

ENCODINGS = {
    "cp1252": "Western Europe (Windows-1252)",
    "cp1250": "Central Europe (Windows-1250)",
    "cp1251": "Cyrillic (Windows-1251)",
    "koi8_r": "Cyrillic (KOI8-R)",
    "koi8_u": "Ukrainian (KOI8-U)",
    "cp1253": "Greek (Windows-1253)",
    "cp1254": "Turkish (Windows-1254)",
    "cp1255": "Hebrew (Windows-1255)",
    "cp1256": "Arabic (Windows-1256)",
    "gb18030": "Chinese (GB 18030)",
    "big5": "Chinese (Big5)",
    "cp932": "Japanese (Shift JIS)",
    "euc_jp": "Japanese (EUC-JP)",
    "cp949": "Korean (EUC-KR)",
    "mac_roman": "Western Europe (Mac)",
    "cp850": "Western Europe (DOS)",
    "cp866": "Cyrillic (DOS)",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16, the high byte first",
}
"""Encodings that a file can be read in besides those with a mark, by Python's name."""
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16's, with which it begins
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks and the encodings that they stand for."""
_ASIAN = (
    ("cp932", "cp932", "[ぁ-ヾ]", 0.2),
    ("euc_jp", "euc_jp", "[ぁ-ヾ]", 0.2),
    ("cp949", "euc_kr", "[가-힣]", 0.9),
)
"""Encodings that their letters show: name, the part that is tried, the letters, and the least share
of these among all but ASCII."""
_LATIN = ["cp1252", "cp1250", "cp1254"]
_OTHERS = ["cp1251", "koi8_r", "koi8_u", "cp866", "cp1253", "cp1255", "cp1256", "gb18030", "big5"]
_WEST, _EAST = "àçãñßåäêëïœþèÀÇÑÅ’“”£", "šžýõûº"
"""Signs of Windows-1252 in western languages, and those that central ones seem to have in it."""
_BINARY = {
    b"PK\3\4": "an Excel workbook or another Office file",
    b"\xd0\xcf\x11\xe0": "an old Office file, such as .xls",
    b"\x80": "a pickle, which could run any program",
    b"SQLite format 3": "a database",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"FEA1": "a Feather file of version 1",
    b"ORC": "an ORC file",
    b"Obj\1": "an Avro file",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"PAR1": "a Parquet table",
    b"ARROW1": "an Arrow table",
}
"""First bytes of files that are no text, and what these are."""
SAVE_AS_CSV = "Save the table as CSV (in Excel: File, Save as, CSV UTF-8), or as Parquet."
_SURROGATE = re.compile("[\ud800-\udfff]")
_LOOK_AT = 4096
_BLOCK = 1 << 16
_MOST_SCANNED = 1 << 28
"""Bytes in which something other than UTF-8 is found before the reading begins."""
_SAMPLE = 1 << 16


class NotUTF8Error(ValueError):
    """A file is neither UTF-8 nor in an encoding that is known; the message names the place."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How bytes become text."""

    name: str = "utf-8"
    """Python's name."""
    is_guessed: bool = False
    is_damaged: bool = False
    """Whether some bytes of a file in UTF-8 are not UTF-8."""

    @property
    def title(self) -> str:
        """Its name, with a remark if it is a guess."""
        name = ENCODINGS.get(self.name) or self.name.upper().replace("UTF-8-SIG", "UTF-8")
        return f"{name}, which is a guess" if self.is_guessed else name

    def damage(self, text: str) -> str:
        """Return a phrase on the first byte that it does not define; "" if there is none.

        Args:
            text: Decoded with such bytes as lone surrogates.
        """
        found = _SURROGATE.search(text)
        name = self.name.upper().replace("UTF-8-SIG", "UTF-8")
        return f"holds a byte 0x{ord(found[0]) & 0xFF:02X} that is not {name}" if found else ""


UTF8 = Encoding()


def find_encoding(path: Path, file: BinaryIO | None = None) -> Encoding:
    """Return the encoding of a file, plain or compressed.

    A byte order mark decides; else it is UTF-8 if its bytes are (or most of those beyond ASCII),
    and otherwise guessed from them.

    Args:
        path: Its name.
        file: The same file, already open, at its beginning, where it is left.

    Raises:
        NotUTF8Error: If it is in no encoding that is known.
        OSError: If it cannot be opened. Errors in an archive are those of `packed_files`.
    """
    if isinstance(file, io.BufferedReader | None) and path.is_file():
        about = os.stat(path)
        if file is None or os.path.samestat(about, os.fstat(file.fileno())):
            return _find_once(path, about.st_size, about.st_mtime_ns)
    assert file is not None
    with packed_files.open_bytes(path, file) as content:
        found = _find(content, path)
    file.seek(0)
    return found


@lru_cache(maxsize=64)
def _find_once(path: Path, size: int, time: int) -> Encoding:
    with packed_files.open_bytes(path) as content:
        return _find(content, path)


def _find(content: BinaryIO, path: Path) -> Encoding:
    head = content.read(_LOOK_AT)
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(name)
    what = next((what for magic, what in _BINARY.items() if head.startswith(magic)), None)
    what = "a tar archive of files" if head[257:262] == b"ustar" else what
    if what is not None and (b"\0" in head or not head.isascii() or what == "a PDF"):
        raise ValueError(f"{str(path)!r} is {what}, not text. {SAVE_AS_CSV}")
    if b"\0" in head:
        return _without_mark(head, path)
    num_valid = num_invalid = num_scanned = 0
    decoder = codecs.getincrementaldecoder("utf-8")()
    sample, block = bytearray(), head + content.readline(_BLOCK)
    while block and num_scanned < _MOST_SCANNED:
        num_scanned += len(block)
        try:
            num_valid += len(block) - len(decoder.decode(block))
        except UnicodeDecodeError:
            decoder.reset()
            text = block.decode("utf-8", "surrogateescape")
            num_invalid += len(re.findall("[\udc80-\udcff]", text))
            num_valid += len(block) - len(text)
            for line in block.splitlines(keepends=True) if len(sample) < _SAMPLE else ():
                sample += b"" if line.isascii() else line[:_SAMPLE]
        # Whole lines, so that no letter is cut in two.
        block = content.read(_BLOCK) + content.readline(_BLOCK)
    if num_valid >= num_invalid:
        return Encoding("utf-8-sig", is_damaged=num_invalid > 0)
    name = _guess(bytes(sample[:_SAMPLE]), path)
    text = sample.decode(name, "replace")
    if sum(c < " " and c not in "\t\r\n\f" for c in text) > 0.02 * len(text):
        raise not_utf8(path)
    return Encoding(name, is_guessed=True)


def _guess(sample: bytes, path: Path) -> str:
    """Return the likely encoding of lines with letters beyond ASCII."""
    for name, part, letters, least in _ASIAN:
        others = "".join(c for c in sample.decode(part, "replace") if c > "\x7f")
        if len(re.findall(letters, others)) >= least * len(others) and "\ufffd" not in others[:-1]:
            return name
    # In words with accents most letters have none; signs such as that of a pound are rare.
    words = b"".join(re.findall(rb"[A-Za-z]*[\x80-\xff][A-Za-z\x80-\xff]*", sample))
    num_high = len(re.findall(rb"[\x80-\xff]", sample))
    has_accents = 2 * num_high < len(words) or 20 * num_high < len(sample)
    tried = _LATIN if has_accents else _OTHERS
    found = list(charset_normalizer.from_bytes(sample, cp_isolation=tried, enable_fallback=False))
    names = {
        name: match.coherence
        for match in found
        if match.chaos <= found[0].chaos + 0.01
        for name in (match.encoding, *match.could_be_from_charset)
    }
    if names and "cp1252" not in names:

        def likelihood(name: str) -> float:
            letters = [c for c in sample.decode(name, "replace") if c > "\x7f" and c.isalpha()]
            num_small = sum(c == c.lower() for c in letters)  # most are, in any language
            return num_small / max(1, len(letters)) * (0.2 + names[name])

        best = max(names, key=likelihood)
        # A few accents are at one place in many encodings, of which this is the usual one.
        return "cp1252" if _same(sample, "cp1252", best) else best
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    # Both have letters at the same places, which charset_normalizer does not weigh.
    is_central = sum(map(text.count, _EAST)) > sum(map(text.count, _WEST))
    return "cp1250" if is_central and "cp1250" in names else "cp1252"


def _same(sample: bytes, *names: str) -> bool:
    """Return whether a text is the same in several encodings."""
    return len({sample.decode(name, "replace") for name in names}) == 1


def _without_mark(head: bytes, path: Path) -> Encoding:
    """Return the kind of UTF-16 in which zeros and all else are text."""
    ways = {}
    for name in ("utf-16-le", "utf-16-be"):
        text = head[: len(head) // 2 * 2].decode(name, "replace")[:-1]
        is_odd = [unicodedata.category(c)[0] == "C" and c not in "\t\r\n" for c in text]
        if 100 * sum(is_odd) <= len(text):
            ways[name] = sum(c.isspace() or c in ",;" for c in text if c < "\x7f")
    if not any(ways.values()):
        raise NotUTF8Error(
            f"data file {str(path)!r} is not text: it has a byte 0x00 at byte "
            f"{head.index(0) + 1}, which no text has. Save it as UTF-8."
        )
    return Encoding(max(ways, key=ways.__getitem__), is_guessed=True)


def not_utf8(path: Path) -> NotUTF8Error:
    """Return the error of a file that is not UTF-8, with the first place that is not."""
    if path.is_file():
        with packed_files.open_bytes(path) as file:
            for number, line in enumerate(file, start=1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as found:
                    return NotUTF8Error(
                        f"data file {str(path)!r} is not UTF-8: it holds a byte "
                        f"0x{line[found.start]:02X} in line {number:,}, place {found.start + 1:,}. "
                        "Save it as UTF-8."
                    )
    return NotUTF8Error(f"data file {str(path)!r} is not UTF-8. Save it as UTF-8.")
