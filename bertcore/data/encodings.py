"""The encoding of a file of text: by its mark, UTF-8, or guessed by `charset_normalizer`."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import charset_normalizer

from bertcore.data import packed_files

_GUESSED = tuple(
    (
        "cp1252 cp1250 cp1251 koi8_r koi8_u cp1253 cp1254 cp1255 cp1256 gb18030 big5 cp932 euc_jp "
        "cp949 mac_roman cp850 cp866"
    ).split()
)
"""Encodings that are guessed, by Python's name; of equally likely ones the first."""
_UTF16 = ("utf_16_le", "utf_16_be")
_BINARY = {
    b"PK\3\4": "an Excel workbook or another Office file",
    b"\xd0\xcf\x11\xe0": "an old Office file, such as .xls",
    b"\x80": "a pickle, which could run any program",
    b"SQLite format 3": "a database",
    b"\x93NUMPY": "a NumPy array",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
    b"7z\xbc\xaf": "a 7z archive",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"PAR1": "a Parquet table",
}
"""First bytes of files that are no text, and what these are."""
_WEST, _EAST = "àçãñßåäêëïœþèÀÇÑÅ’“”£", "šžýõûº"
"""Signs of Windows-1252 in western languages, and those that central ones seem to have in it."""
_BLOCK = 1 << 16
_MOST_SCANNED = 1 << 26
"""Bytes in which something other than ASCII is looked for before the reading begins."""
_SAMPLE = 1 << 16
"""Bytes of lines beyond ASCII that decide."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How bytes become text."""

    name: str = "utf-8-sig"
    """Python's name."""
    is_guessed: bool = False

    @property
    def title(self) -> str:
        """Its name, with a remark if it is a guess."""
        name = (
            self.name.removesuffix("-sig").replace("_", "-").upper().replace("CP12", "Windows-12")
        )
        return f"{name}, which is a guess" if self.is_guessed else name

    def damage(self, cells: Iterable[Any], *, is_text: bool = True) -> str:
        """Return a phrase on the first character that no text has; "" if there is none.

        Args:
            cells: Texts, or values of JSON, decoded with the bytes that the encoding does not
                define as lone surrogates.
            is_text: Whether they are bytes of a file of text. In JSON, \\u0000 is a character.
        """
        for cell in cells:
            found = ""
            if isinstance(cell, str):
                if is_text and "\0" in cell:
                    return "holds a byte 0x00"
                try:
                    cell.encode()
                except UnicodeEncodeError as error:
                    code, name = ord(cell[error.start]), self.title.partition(",")[0]
                    is_byte = 0xDC80 <= code <= 0xDCFF
                    byte = f"holds a byte 0x{code & 0xFF:02X} that is not {name}"
                    return byte if is_byte else "holds a lone surrogate"
            elif isinstance(cell, dict):
                found = self.damage([*cell, *cell.values()], is_text=is_text)
            elif isinstance(cell, list):
                found = self.damage(cell, is_text=is_text)
            if found:
                return found
        return ""


UTF8 = Encoding()


def find_encoding(path: Path, file: BinaryIO | None = None) -> Encoding:
    """Return the encoding of a file, plain or compressed.

    A byte order mark decides; else it is UTF-8 if most of the bytes beyond ASCII are, in the first
    lines that have any, and otherwise guessed from these.

    Args:
        path: Its name.
        file: The same file, already open, at its beginning, where it is left.

    Raises:
        ValueError: If it is another kind of file, which is named, or in no encoding that is known;
            or as `packed_files.open_bytes`.
        OSError: If it cannot be opened.
    """
    with packed_files.open_bytes(path, file) as content:
        block = head = _lines(content)
        found, num_read, sample = _by_head(head, path), 0, bytearray()
        while found is None and block and len(sample) < _SAMPLE and num_read < _MOST_SCANNED:
            num_read += len(block)
            if not block.isascii():
                lines = block.splitlines(keepends=True)
                sample += b"".join(line for line in lines if not line.isascii())
            block = _lines(content)
    if file is not None:
        file.seek(0)
    return found or _by_sample(bytes(sample[:_SAMPLE]), path)


def _lines(content: BinaryIO) -> bytes:
    """Return the next whole lines, in which no letter is cut in two."""
    return content.read(_BLOCK) + content.readline(_BLOCK)


def _by_head(head: bytes, path: Path) -> Encoding | None:
    """Return the encoding that the first bytes show; None if they do not.

    ValueError if they are those of a file that is no text.
    """
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):  # UTF-16's begins alike
        return Encoding("utf-32")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Encoding("utf-16")
    what = next((what for magic, what in _BINARY.items() if head.startswith(magic)), None)
    what = "a tar archive of files" if head[257:262] == b"ustar" else what
    if what is not None and (b"\0" in head or not head.isascii() or what == "a PDF"):
        raise ValueError(
            f"{str(path)!r} is {what}, not text. Save the table as CSV (in Excel: File, Save as, "
            "CSV UTF-8), or as Parquet."
        )
    if 20 * head.count(0) <= len(head):  # a few are damage of their rows
        return None
    sample = head[: _BLOCK // 16]
    found = _guess(sample, path, _UTF16)
    if not re.search("[ \t\r\n,;]", sample.decode(found.name, "replace")):
        raise ValueError(f"data file {str(path)!r} is not text: it has many bytes 0x00.")
    return found


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
    return _guess(sample, path, _GUESSED)


def _guess(sample: bytes, path: Path, names: Sequence[str]) -> Encoding:
    """Return the likeliest encoding; ValueError if the text would not be one in any."""
    matches = charset_normalizer.from_bytes(sample, cp_isolation=[*names], enable_fallback=False)
    likely = {
        name: match.coherence
        for match in matches
        if match.chaos <= matches[0].chaos + 0.01
        for name in (match.encoding, *match.could_be_from_charset)
    }

    def likelihood(name: str) -> float:
        letters = [c for c in sample.decode(name, "replace") if c > "\x7f" and c.isalpha()]
        num_small = sum(c == c.lower() for c in letters)  # most are, in any language
        return (num_small + 1) / (len(letters) + 1) * (0.2 + likely[name])

    name = max(filter(likely.__contains__, names), key=likelihood, default="")
    text = sample.decode(name or "latin-1", "replace")
    if name == "cp1252" and "cp1250" in likely:  # both have letters at the same places
        is_central = sum(map(text.count, _EAST)) > sum(map(text.count, _WEST))
        name = "cp1250" if is_central else name
    if not name or sum(c < " " and c not in "\t\r\n\f" for c in text) > 0.02 * len(text):
        raise ValueError(
            f"data file {str(path)!r} is not text: its bytes are in none of the encodings that are "
            "known. Save it as UTF-8."
        )
    return Encoding(name, is_guessed=True)
