"""Rows of an encoded corpus in context: the word, its sentence, the surrounding words."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bertcore.corpus.encoded import EncodedCorpus
from bertcore.corpus.parts import layer_file, sentence_file

_OPEN_PARTS = 8  # parts whose columns are kept in memory, without their vectors: about 5 MB each


@dataclass(frozen=True, slots=True)
class Hit:
    """A found row in its sentence."""

    row: int
    cosine: float
    document: int
    sentence: int
    """Number in its document."""
    position: int
    """Of the token in the sentence, [CLS] 0; of the word among the words; 0 for a sentence."""
    word: str
    """As written; the whole word of a piece. "" for a sentence."""
    piece: str
    text: str
    """Of the sentence."""
    start: int
    """Characters of the piece or word in `text`."""
    end: int
    before: str
    """The word before it in the sentence, "" if there is none."""
    after: str
    tags: Mapping[str, Any] = field(default_factory=dict)
    """What the corpus's file says of the word, such as upos; {} where words have no tags."""


class WordCount(NamedTuple):
    """A word, and the number of rows that have it."""

    word: str
    num: int


class Occurrences(NamedTuple):
    """The N occurrences of a word."""

    rows: NDArray[np.int64]
    """The first row of each, [N]."""
    ends: NDArray[np.int64]
    """One past the last row of each, [N]: a word may be several pieces."""


class _Part:
    """The columns of one part, in memory."""

    def __init__(self, encoded: EncodedCorpus, number: int) -> None:
        path = layer_file(encoded.folder, encoded.layers[0], number)
        self.table = pq.ParquetFile(path).read(columns=list(encoded.columns))
        self.texts = pq.read_table(
            sentence_file(encoded.folder, number), columns=["document", "sentence", "text"]
        )
        keys = np.stack([self.table[name].to_numpy() for name in ("document", "sentence")])
        is_first = np.ones(keys.shape[1], bool)
        is_first[1:] = (keys[:, 1:] != keys[:, :-1]).any(0)
        self.starts = np.append(np.flatnonzero(is_first), keys.shape[1])
        """Where the rows of each sentence begin."""
        if len(self.starts) - 1 != self.texts.num_rows:
            raise ValueError(
                f"{str(path)!r} has rows of {len(self.starts) - 1:,} sentences; expected "
                f"{self.texts.num_rows:,}. Restore it from a copy, or encode the corpus again."
            )
        self.word_columns = encoded.manifest.word_columns
        self.word_ids = self.table["word_id"].to_numpy() if "word_id" in encoded.columns else None

    def hit(self, row: int, cosine: float, place: int) -> Hit:
        """Return a row of the corpus, the `place`-th of this part, as a hit."""
        sentence = int(np.searchsorted(self.starts, place, side="right")) - 1
        low, high = int(self.starts[sentence]), int(self.starts[sentence + 1])
        word, piece, before, after = "", "", "", ""
        if self.word_ids is not None:
            words = self.table["word"]
            ids = self.word_ids[low:high]
            others = np.flatnonzero(ids != ids[place - low]) + low
            earlier, later = others[others < place], others[others > place]
            word, piece = words[place].as_py(), self.table["piece"][place].as_py()
            before = words[int(earlier[-1])].as_py() if len(earlier) else ""
            after = words[int(later[0])].as_py() if len(later) else ""
        numbers = {
            name: self.table[name][place].as_py()
            for name in ("document", "sentence", "position", "start", "end")
        }
        return Hit(
            row,
            cosine,
            word=word,
            piece=piece,
            text=self.texts["text"][sentence].as_py(),
            before=before,
            after=after,
            tags={name: self.table[name][place].as_py() for name in self.word_columns},
            **numbers,
        )


class Places:
    """Looks up rows in an encoded corpus, part by part; the last few parts stay in memory."""

    def __init__(self, encoded: EncodedCorpus) -> None:
        self.encoded = encoded
        self._firsts = np.cumsum([0, *(part.rows for part in encoded.manifest.parts)])
        self._parts: OrderedDict[int, _Part] = OrderedDict()
        self._lock = threading.Lock()

    def hits(self, rows: Sequence[int] | NDArray[np.int64], cosines: Iterable[float]) -> list[Hit]:
        """Return rows in their sentences.

        ValueError if a row does not exist, or a file is damaged.
        """
        found = []
        for row, cosine in zip(map(int, rows), map(float, cosines), strict=True):
            if not 0 <= row < len(self.encoded):
                raise ValueError(
                    f"row {row} does not exist; expected 0 to {len(self.encoded) - 1}."
                )
            number = int(np.searchsorted(self._firsts, row, side="right")) - 1
            found.append(self._part(number).hit(row, cosine, row - int(self._firsts[number])))
        return found

    def occurrences(self, word: str) -> Occurrences:
        """Return the occurrences of a word, ignoring case; ValueError if the rows are sentences."""
        if "word" not in self.encoded.columns:
            raise ValueError(
                f"{str(self.encoded.folder)!r} has one row per sentence, so words cannot be found "
                "in it. Encode the corpus with --unit token or word."
            )
        wanted = word.strip().lower()
        layer = self.encoded.layers[0]
        rows, ends = [], []
        for number in range(len(self.encoded.manifest.parts)):
            file = pq.ParquetFile(layer_file(self.encoded.folder, layer, number))
            table = file.read(columns=["document", "sentence", "word_id", "word"])
            lower = pc.utf8_lower(table["word"].combine_chunks())
            is_it = pc.equal(lower, pa.scalar(wanted, lower.type)).to_numpy(zero_copy_only=False)
            places = np.flatnonzero(is_it)
            if not len(places):
                continue
            names = ("document", "sentence", "word_id")
            keys = np.stack([table[name].to_numpy()[places] for name in names])
            is_first = np.ones(len(places), bool)
            is_first[1:] = (keys[:, 1:] != keys[:, :-1]).any(0)
            starts = np.flatnonzero(is_first)
            lasts = np.append(starts[1:], len(places)) - 1
            rows.append(places[starts] + self._firsts[number])
            ends.append(places[lasts] + 1 + self._firsts[number])
        none = np.empty(0, np.int64)
        return Occurrences(np.concatenate([none, *rows]), np.concatenate([none, *ends]))

    def covering(self, spans: Sequence[tuple[int, int, int]]) -> Occurrences:
        """Return the rows that have a character in each of some stretches of text.

        Args:
            spans: For each stretch the document, whose first sentence is meant, the first
                character, and the one after the last; a stretch without a row is left out.
        """
        encoded, layer = self.encoded, self.encoded.layers[0]
        rows, ends = [], []
        for number in range(len(encoded.manifest.parts)):
            file = pq.ParquetFile(layer_file(encoded.folder, layer, number))
            table = file.read(columns=["document", "sentence", "start", "end"])
            document, sentence, start, end = (column.to_numpy() for column in table.columns)
            for wanted, low, high in spans:
                first, last = np.searchsorted(
                    document, [wanted, wanted + 1]
                )  # in order of document
                rows_of = slice(first, last)
                is_it = (sentence[rows_of] == 0) & (start[rows_of] < high) & (end[rows_of] > low)
                places = first + np.flatnonzero(is_it & (start[rows_of] < end[rows_of]))
                if len(places):
                    rows.append(int(places[0] + self._firsts[number]))
                    ends.append(int(places[-1] + 1 + self._firsts[number]))
        return Occurrences(np.array(rows, np.int64), np.array(ends, np.int64))

    def _part(self, number: int) -> _Part:
        with self._lock:
            part = self._parts.pop(number, None) or _Part(self.encoded, number)
            self._parts[number] = part
            while len(self._parts) > _OPEN_PARTS:
                self._parts.popitem(last=False)
            return part


def tag_shares(hits: Sequence[Hit]) -> dict[str, list[WordCount]]:
    """Return for each word tag (upos, deprel, ner ...) its values, the most frequent first.

    Words without the tag are counted as "none". Numbers such as head_distance and tags that no word
    has are left out.
    """
    found = {}
    for name in hits[0].tags if hits else ():
        values = [hit.tags[name] for hit in hits]
        if any(isinstance(value, str) for value in values):
            counts = Counter("none" if value is None else str(value) for value in values)
            found[name] = [WordCount(value, num) for value, num in counts.most_common()]
    return found


def shares(words: Iterable[str]) -> list[WordCount]:
    """Return the words, ignoring case, the most frequent first; "" is not a word and is left out.

    A word is shown in lower case unless it always has the same other spelling.
    """
    written: dict[str, set[str]] = {}
    counts: Counter[str] = Counter()
    for word in words:
        if word:
            counts[word.casefold()] += 1
            written.setdefault(word.casefold(), set()).add(word)
    return [
        WordCount(next(iter(written[key])) if len(written[key]) == 1 else key, count)
        for key, count in counts.most_common()
    ]
