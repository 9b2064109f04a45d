"""Files of examples: unpacked, decoded, read line by line; and what becomes of invalid rows."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from functools import partial
from math import inf
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TextIO, TypeVar, cast
from zipfile import BadZipFile, ZipFile

# ---- packed or not ----

SUFFIXES = (".xz", ".gz", ".bz2", ".zip")
MAX_RATIO = 200
"""Unpacked bytes of a packed one; tables and texts have 3 to 50."""
FREE_BYTES = 32 * 2**20
"""Unpacked bytes that are read at any ratio."""
_BLOCK = 1 << 16
_LONGEST_LIST = 1 << 18
"""Bytes of a zip archive's list of files, which `zipfile` would read whole, however long it is."""
_DAMAGE = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error, BadZipFile)
_OPENERS: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\0": lzma.open,
    b"BZh": bz2.open,
}
"""By the first bytes."""
_on_block: ContextVar[Callable[[], object] | None] = ContextVar("on_block", default=None)


@contextmanager
def watched(on_block: Callable[[], object]) -> Iterator[None]:
    """Call a function, which may raise to stop, before each block that is read inside."""
    token = _on_block.set(on_block)
    try:
        yield
    finally:
        _on_block.reset(token)


def is_watched() -> bool:
    """Return whether this is inside of `watched`."""
    return _on_block.get() is not None


def look() -> None:
    """Call the function of `watched`, if this is inside of it."""
    watch = _on_block.get()
    if watch is not None:
        watch()


def most_unpacked(num_bytes: int) -> int:
    """Return how many bytes a packed file may hold."""
    return max(FREE_BYTES, MAX_RATIO * num_bytes)


def bomb(path: Path, most: float) -> ValueError:
    """Return the error of a file that unpacks to more than it may."""
    return ValueError(
        f"{str(path)!r} unpacks to more than {most / 2**20:,.0f} MiB, {MAX_RATIO} times its size, "
        "which no table or text does. Give the unpacked file if it is the right one."
    )


def open_bytes(path: Path, file: BinaryIO | None = None) -> BinaryIO:
    """Open a file for reading, unpacked if its first bytes are those of an archive.

    `file` is the same, already open, at its beginning; its caller closes it. ValueError, also while
    it is read, if it is a zip archive of several files, not whole, or unpacks to more than
    MAX_RATIO times its size; OSError if it cannot be opened.
    """
    plain = file or path.open("rb")
    try:
        size = plain.seek(0, io.SEEK_END)
        plain.seek(0)
        with _sentences(path):
            opened = _unpacked(path, plain)
    except BaseException:
        if file is None:
            plain.close()
        raise
    if opened is plain and file is None and not is_watched():
        return plain
    most = inf if opened is plain else most_unpacked(size)
    to_close = [each for each in (opened, plain) if each is not file]
    return io.BufferedReader(_Blocks(opened, path, most, to_close), _BLOCK)


@contextmanager
def _sentences(path: Path) -> Iterator[None]:
    """Raise the errors of a truncated or damaged archive as a sentence."""
    try:
        yield
    except (*_DAMAGE, OSError) as error:
        if getattr(error, "errno", None) is not None:  # bz2 reports damage as an OSError
            raise
        why = f"is not a whole archive ({error}). Copy it again."
        raise ValueError(f"{str(path)!r} {why}") from error


class _Blocks(io.RawIOBase):
    """A file whose reading is watched, and ends with an error beyond a number of bytes."""

    def __init__(self, file: BinaryIO, path: Path, most: float, to_close: list[BinaryIO]) -> None:
        self._file, self._path, self._most, self._to_close = file, path, most, to_close
        self._watch, self._num = _on_block.get(), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # typeshed's buffer is no public type
        if self._watch is not None:
            self._watch()
        with _sentences(self._path):
            block = self._file.read(len(buffer))
        self._num += len(block)
        if self._num > self._most:
            raise bomb(self._path, self._most)
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        for file in self._to_close:
            file.close()
        super().close()


class _ShortReads:
    """A file of which at most _LONGEST_LIST bytes are read at once."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(_LONGEST_LIST + 1 if size < 0 else min(size, _LONGEST_LIST + 1))
        if len(block) > _LONGEST_LIST:
            raise ValueError(
                f"{str(self._path)!r} is a zip archive of thousands of files; one can be read. "
                "Unzip it and give that."
            )
        return block


def _unpacked(path: Path, file: BinaryIO) -> BinaryIO:
    head = file.read(10)
    file.seek(0)
    for magic, opener in _OPENERS.items():
        if head.startswith(magic) and (magic != b"BZh" or b"1AY&SY" in head):
            return cast(BinaryIO, opener(file))
    if not head.startswith(b"PK\3\4"):
        return file
    with ZipFile(cast(BinaryIO, _ShortReads(file, path))) as archive:
        members = [
            member
            for member in archive.infolist()
            if not (member.is_dir() or re.search(r"(^|/)(\.|__MACOSX/)", member.filename))
        ]
        names = [member.filename for member in members]
        if "[Content_Types].xml" in names or "mimetype" in names:  # of an office
            file.seek(0)
            return file
        if len(members) != 1:
            listed = ", ".join(repr(name[:40]) for name in names[:5])
            raise ValueError(
                f"{str(path)!r} is a zip archive of {len(names)} files ({listed}"
                f"{', ...' if len(names) > 5 else ''}); one can be read. Unzip it and give that."
            )
        try:
            return cast(BinaryIO, archive.open(members[0]))
        except (RuntimeError, NotImplementedError) as error:
            raise ValueError(f"{str(path)!r} cannot be unpacked ({error}). Unzip it.") from error


# ---- the encoding of text ----

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
            phrase = ""
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
                phrase = self.damage([*cell, *cell.values()], is_text=is_text)
            elif isinstance(cell, list):
                phrase = self.damage(cell, is_text=is_text)
            if phrase:
                return phrase
        return ""


UTF8 = Encoding()


def find_encoding(path: Path, file: BinaryIO | None = None) -> Encoding:
    """Return the encoding of a file, plain or compressed.

    A byte order mark decides; else it is UTF-8 if most of the bytes beyond ASCII are, in the first
    lines that have any, and otherwise guessed from these. `file` is the same, already open, at its
    beginning, where it is left.

    ValueError if it is another kind of file, which is named, or in no encoding that is known; or as
    `open_bytes`. OSError if it cannot be opened.
    """
    with open_bytes(path, file) as content:
        block = head = _lines(content)
        encoding, num_read, sample = _by_head(head, path), 0, bytearray()
        while encoding is None and block and len(sample) < _SAMPLE and num_read < _MOST_SCANNED:
            num_read += len(block)
            if not block.isascii():
                lines = block.splitlines(keepends=True)
                sample += b"".join(line for line in lines if not line.isascii())
            block = _lines(content)
    if file is not None:
        file.seek(0)
    return encoding or _by_sample(bytes(sample[:_SAMPLE]), path)


def _lines(content: BinaryIO) -> bytes:
    """Return the next whole lines, in which no letter is cut in two."""
    return content.read(_BLOCK) + content.readline(_BLOCK)


def _by_head(head: bytes, path: Path) -> Encoding | None:
    """Return the encoding that the first bytes show; None if they do not."""
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
    guessed = _guess(sample, path, _UTF16)
    if not re.search("[ \t\r\n,;]", sample.decode(guessed.name, "replace")):
        raise ValueError(f"data file {str(path)!r} is not text: it has many bytes 0x00.")
    return guessed


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
    import charset_normalizer  # which the commands on a text do without

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


# ---- lines, columns and bad rows ----

LONGEST_LINE = 10_000_000
"""Characters of a line or cell; a longer one is no example but a broken file."""
MAX_COLUMNS = 2000
"""Of a table: twice as many as the labels that can be learned."""
MAX_WORDS = 20_000
"""Of a sentence; one with more lacks its blank line, and would fill the memory."""
T = TypeVar("T")


class Limits(NamedTuple):
    """How many rows or lines, and characters, of a file are looked at to see what it is."""

    num: int
    size: int


@contextmanager
def open_text(
    path: Path, file: BinaryIO | None = None, encoding: Encoding | None = None
) -> Iterator[TextIO]:
    """Open text, plain or compressed (`open_bytes`), with unchanged line endings.

    Bytes that the encoding does not define become lone surrogates, which `Encoding.damage` finds
    and `lines_of` refuses. `file` is the same, already open, at its beginning; its position shows
    how far it has been read.

    ValueError as `find_encoding`, or if there is no such file, or UTF-16 or UTF-32 is damaged.
    OSError if it cannot be opened.
    """
    if file is None:
        check_file(path)
    encoding = encoding or find_encoding(path, file)
    opened = open_bytes(path, file)
    try:
        with io.TextIOWrapper(opened, encoding.name, "surrogateescape", newline="") as text:
            yield text
    except UnicodeDecodeError as error:
        raise ValueError(
            f"data file {str(path)!r} was read as {encoding.title}, but is damaged "
            f"({error.reason}). Save it as UTF-8."
        ) from error


def check_file(path: Path) -> None:
    """Raise ValueError if a path is no file."""
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise ValueError(f"data file {str(path)!r} {what}. Check the path.")


def kind_of(path: Path) -> str:
    """Return the extension of a file's content, without that of its compression: ".tsv"."""
    name = path.name.lower()
    for packed in SUFFIXES:
        name = name.removesuffix(packed)
    return Path(name).suffix


def whole_lines(
    file: TextIO, path: Path, *, start: int = 1, longest: int = LONGEST_LINE
) -> Iterator[str]:
    """Yield lines with their ends, the next one of which has the number `start`.

    ValueError if one is longer: an endless line would fill the memory.
    """
    lines = iter(partial(file.readline, longest + 1), "")
    for number, line in enumerate(lines, start):
        if len(line) > longest:
            raise ValueError(
                f"line {number} of {str(path)!r} has more than {longest:,} characters. "
                "Is it the right file?"
            )
        yield line


def lines_of(
    file: TextIO, path: Path, *, bad_rows: BadRows | None = None, longest: int = LONGEST_LINE
) -> Iterator[str]:
    """Yield lines without their ends.

    `bad_rows` collects lines with a byte that no text has; without it, ValueError; else as
    `whole_lines`.
    """
    encoding = Encoding(file.encoding)
    for number, line in enumerate(whole_lines(file, path, longest=longest), start=1):
        if not (damage := encoding.damage([line])):
            yield line.rstrip("\r\n")
        elif bad_rows is None:
            raise ValueError(f"line {number} of {str(path)!r} {damage}. Correct it.")
        else:
            bad_rows.add(f"line {number} of {str(path)!r} {damage}.")


def first_items(items: Iterable[T], size: Callable[[T], int], limits: Limits) -> list[T]:
    """Return the first items, at least one, until one of the limits is reached."""
    first: list[T] = []
    total = 0
    for item in items:
        first.append(item)
        total += size(item)
        if len(first) >= limits.num or total >= limits.size:
            break
    return first


def check_width(num_columns: int, table: str) -> None:
    """Refuse a table, called so in the message, of more than MAX_COLUMNS columns by ValueError."""
    if num_columns > MAX_COLUMNS:
        raise ValueError(
            f"{table} has {num_columns:,} columns; expected at most {MAX_COLUMNS:,}. Check "
            "that rows end with line breaks, or keep only the columns to use."
        )


def listed_columns(names: Sequence[str]) -> str:
    """Return the first names, quoted and shortened, for a message."""
    quoted = ", ".join(repr(name[:40]) for name in names[:20])
    return quoted + (f" and {len(names) - 20} more" if len(names) > 20 else "")


@dataclass(slots=True, kw_only=True, eq=False)
class BadRows:
    """What to do with an invalid example: reject the file, or count the example and continue.

    Readers also put there what is to be known of how they read the file.
    """

    skip: bool = False
    """Count and continue."""
    num: int = 0
    first: str = ""
    unlabelled: Counter[str] = field(default_factory=Counter)
    """Examples that were left out because they have no label, by what stands there."""
    _notes: dict[str, None] = field(default_factory=dict)

    def become(self, other: BadRows) -> None:
        """Take over all that another one has collected."""
        for each in fields(self):
            setattr(self, each.name, getattr(other, each.name))

    def add(self, sentence: str) -> None:
        """Record an invalid row by a sentence with its place; ValueError unless it is skipped."""
        if not self.skip:
            raise ValueError(f"{sentence} Correct it, or leave out such rows (--skip-bad-rows).")
        self.num += 1
        self.first = self.first or sentence

    def add_unlabelled(self, mark: str) -> None:
        """Record an example without a label, which is left out; "" if nothing stands there."""
        self.unlabelled[mark] += 1

    def note(self, sentence: str) -> None:
        """Record how the file was read, once."""
        self._notes[sentence] = None

    def sentence(self) -> str | None:
        """Return a sentence on the rows left out; None if there are none."""
        rows = "row was" if self.num == 1 else "rows were"
        said = f"{self.num:,} bad {rows} left out; the first: {self.first}"
        return said if self.num else None

    def notes(self) -> list[str]:
        """Return all that is to be said of the file, a sentence each."""
        num = self.unlabelled.total()
        marks = [f"{count:,} {mark or 'empty'}" for mark, count in self.unlabelled.most_common(4)]
        left = "1 example has no label and was" if num == 1 else f"{num:,} examples have no label"
        left += "" if num == 1 else " and were"
        said = [self.sentence(), f"{left} left out ({', '.join(marks)})." if num else None]
        return [*filter(None, said), *self._notes]

    def why_empty(self) -> str:
        """Return why no example is left, to follow a sentence that says so."""
        num = self.unlabelled.total()
        if not num:
            return self.first or "Check the file."
        return (
            f"{num:,} have no label ({', '.join(mark or 'empty' for mark in self.unlabelled)}), as "
            "in test splits whose labels are kept secret. Use another split, or check the column."
        )
