"""The encoding of a file of text: by its mark, UTF-8, or guessed by `charset_normalizer`."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

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
_WEST, _EAST = "àçãñßåäêëïœþèÀÇÑÅ’“”£", "šžýõûº"
"""Signs of Windows-1252 in western languages, and those that central ones seem to have in it."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLOCK = 1 << 16
_MOST_SCANNED = 1 << 26
"""Bytes in which something other than ASCII is looked for before the reading begins."""
_SAMPLE = 1 << 16
"""Bytes of lines beyond ASCII that decide."""


class NotUTF8Error(ValueError):
    """A file is no text in an encoding that is known."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How bytes become text."""

    name: str = "utf-8-sig"
    """Python's name."""
    is_guessed: bool = False

    @property
    def title(self) -> str:
        """Its name, with a remark if it is a guess."""
        name = ENCODINGS.get(self.name) or self.name.upper().removesuffix("-SIG")
        return f"{name}, which is a guess" if self.is_guessed else name

    def damage(self, cells: Sequence[Any], *, is_text: bool = True) -> str:
        """Return a phrase on the first character that no text has; "" if there is none.

        Args:
            cells: Texts, or values of JSON, decoded with the bytes that the encoding does not
                define as lone surrogates.
            is_text: Whether they are bytes of a file of text. In JSON, \\u0000 is a character.
        """
        while cells:
            nested: list[Any] = []
            for cell in cells:
                if isinstance(cell, str):
                    if is_text and "\0" in cell:
                        return "holds a byte 0x00"
                    if not _is_sound(cell) and (found := _SURROGATE.search(cell)):
                        return self._phrase(ord(found[0]))
                elif isinstance(cell, (list, dict)):
                    nested += cell
                    nested += cell.values() if isinstance(cell, dict) else ()
            cells = nested
        return ""

    def _phrase(self, code: int) -> str:
        if 0xDC80 <= code <= 0xDCFF:
            return f"holds a byte 0x{code & 0xFF:02X} that is not {self.title.partition(',')[0]}"
        return "holds a lone surrogate"


UTF8 = Encoding()


def _is_sound(text: str) -> bool:
    """Return whether a text has no lone surrogate; faster than a search."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def find_encoding(path: Path, file: BinaryIO | None = None) -> Encoding:
    """Return the encoding of a file, plain or compressed.

    A byte order mark decides; else it is UTF-8 if most of the bytes beyond ASCII are, in the first
    lines that have any, and otherwise guessed from these.

    Args:
        path: Its name.
        file: The same file, already open, at its beginning, where it is left.

    Raises:
        NotUTF8Error: If it is in no encoding that is known.
        ValueError: If it is another kind of file, which is named; or as `packed_files.open_bytes`.
        OSError: If it cannot be opened.
    """
    with packed_files.open_bytes(path, file) as content:
        head = content.read(_BLOCK) + content.readline(_BLOCK)
        found = _by_head(head, path)
        num_read, sample = len(head), bytearray(_beyond_ascii(head))
        while found is None and len(sample) < _SAMPLE and num_read < _MOST_SCANNED:
            # Whole lines, so that no letter is cut in two.
            if not (block := content.read(_BLOCK) + content.readline(_BLOCK)):
                break
            num_read += len(block)
            sample += _beyond_ascii(block)
    if file is not None:
        file.seek(0)
    return found or _by_sample(bytes(sample[:_SAMPLE]), path)


def _beyond_ascii(block: bytes) -> bytes:
    """Return the lines that are not ASCII."""
    if block.isascii():
        return b""
    return b"".join(line for line in block.splitlines(keepends=True) if not line.isascii())


def _by_head(head: bytes, path: Path) -> Encoding | None:
    """Return the encoding that the first bytes show; None if they do not.

    ValueError if they are those of a file that is no text.
    """
    for mark, name in _MARKS:
        if head.startswith(mark):
            return Encoding(name)
    what = next((what for magic, what in _BINARY.items() if head.startswith(magic)), None)
    what = "a tar archive of files" if head[257:262] == b"ustar" else what
    if what is not None and (b"\0" in head or not head.isascii() or what == "a PDF"):
        raise ValueError(
            f"{str(path)!r} is {what}, not text. Save the table as CSV (in Excel: File, Save as, "
            "CSV UTF-8), or as Parquet."
        )
    if 20 * head.count(0) <= len(head):  # a few are damage of their rows
        return None
    ways = {}
    for name in ("utf-16-le", "utf-16-be"):
        text = head[: min(4096, len(head) // 2 * 2)].decode(name, "replace")[:-1]
        is_odd = [unicodedata.category(c)[0] == "C" and c not in "\t\r\n" for c in text]
        if 100 * sum(is_odd) <= len(text):
            ways[name] = sum(c.isspace() or c in ",;" for c in text if c < "\x7f")
    if not any(ways.values()):
        raise _no_text(path, f"byte {head.index(0) + 1:,} is 0x00, as are many others")
    return Encoding(max(ways, key=ways.__getitem__), is_guessed=True)


def _by_sample(sample: bytes, path: Path) -> Encoding:
    """Return the encoding of lines that are not ASCII."""
    text = sample.decode("utf-8", "surrogateescape")
    num_invalid = len(re.findall("[\udc80-\udcff]", text))
    if num_invalid <= len(sample) - len(text):
        return UTF8
    for name in ("cp932", "euc_jp"):  # kana, which charset_normalizer does not weigh
        letters = re.sub("[\0-\x7f]", "", sample.decode(name, "replace"))
        if 5 * len(re.findall("[ぁ-ヾ]", letters)) >= len(letters) and "\ufffd" not in letters[:-1]:
            return Encoding(name, is_guessed=True)
    matches = charset_normalizer.from_bytes(
        sample, cp_isolation=[*ENCODINGS][:-2], enable_fallback=False
    )
    likely = {
        name: match.coherence
        for match in matches
        if match.chaos <= matches[0].chaos + 0.01
        for name in (match.encoding, *match.could_be_from_charset)
    }
    if not likely:
        raise _no_text(path, "its bytes are in none of the encodings that are known")

    def likelihood(name: str) -> float:
        letters = [c for c in sample.decode(name, "replace") if c > "\x7f" and c.isalpha()]
        num_small = sum(c == c.lower() for c in letters)  # most are, in any language
        return (num_small + 1) / (len(letters) + 1) * (0.2 + likely[name])

    # Of equally likely ones the first in the list, which is the most usual.
    name = max(filter(likely.__contains__, ENCODINGS), key=likelihood)
    text = sample.decode(name, "replace")
    if name == "cp1252" and "cp1250" in likely:  # both have letters at the same places
        is_central = sum(map(text.count, _EAST)) > sum(map(text.count, _WEST))
        name = "cp1250" if is_central else name
    if sum(c < " " and c not in "\t\r\n\f" for c in text) > 0.02 * len(text):
        raise _no_text(path, "most of its bytes are no letters")
    return Encoding(name, is_guessed=True)


def _no_text(path: Path, why: str) -> NotUTF8Error:
    return NotUTF8Error(f"data file {str(path)!r} is not text: {why}. Save it as UTF-8.")
