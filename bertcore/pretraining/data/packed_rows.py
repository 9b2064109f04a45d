"""Rows packed full of running text, for masked words without next sentences."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.pretraining.data.corpus import PackedCorpus


@dataclass(frozen=True, slots=True)
class PackedRows:
    """Rows as spans of the packed corpus; nothing is copied.

    The tokens of row i are [CLS] ids[start:end] [SEP], with one more [SEP] wherever a document
    ends inside the span.
    """

    spans: NDArray[np.int64]
    """start, end, document of the first token, number of documents that end inside; [N, 4]."""

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def num_text_tokens(self) -> NDArray[np.int64]:
        """Number of text tokens of each row, which may be hidden, [N]."""
        return self.spans[:, 1] - self.spans[:, 0]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each row with its special tokens, [N]."""
        return self.num_text_tokens + self.spans[:, 3] + 2

    def share_padding(self, max_seq_length: int) -> float:
        """Return the fraction of padding in rows of `max_seq_length` tokens."""
        return 1.0 - float(self.lengths.mean()) / max_seq_length

    def take(self, rows: NDArray[np.int64] | slice) -> "PackedRows":
        return PackedRows(self.spans[rows])

    @classmethod
    def join(cls, parts: "Sequence[PackedRows]") -> "PackedRows":
        """Return the rows of all parts, in order."""
        return cls(np.concatenate([part.spans for part in parts]))


def create_packed_rows(
    corpus: PackedCorpus, *, max_seq_length: int, documents: range | None = None
) -> PackedRows:
    """Cut documents into full rows.

    A row begins where the one before ended, across sentences and documents; every token is in
    exactly one row. Padding occurs only in the last row, and in a row whose last document ends one
    position before its end.

    Args:
        corpus: Packed documents. Only the borders of the documents cut are read into memory.
        max_seq_length: T, including special tokens; at least 3.
        documents: The documents to cut, without gaps; default: all.

    Returns:
        Rows in the order of the text; shuffle them before training.

    ValueError if `max_seq_length` is below 3 (one token).

    Source: Liu et al. 2019 (RoBERTa), section 4.2, FULL-SENTENCES: across documents, with a
        separator between them. Differs: a sentence that does not fit continues in the next row; in
        theirs, it begins there and leaves the rest of the row empty: about half a sentence, a tenth
        of a row of 128.
    """
    if max_seq_length < 3:
        raise ValueError(f"max_seq_length is {max_seq_length}; expected at least 3: [CLS] a [SEP].")
    first = 0 if documents is None else documents.start
    end = corpus.num_documents if documents is None else documents.stop
    # The start of each document in corpus.ids, and the end of the last.
    borders: list[int] = document_places(corpus, np.arange(first, end + 1)).tolist()
    spans = array("q")
    document, last = 0, len(borders) - 2
    start = borders[0]
    while document <= last:
        place, room, begun_in, num_inside = start, max_seq_length - 2, document, 0
        while True:
            taken = min(borders[document + 1] - place, room)
            place, room = place + taken, room - taken
            if place < borders[document + 1]:
                break
            document += 1
            if document > last or room < 2:  # a [SEP] and a token of the next document
                break
            room, num_inside = room - 1, num_inside + 1
        spans.extend((start, place, first + begun_in, num_inside))
        start = place
    return PackedRows(np.array(spans, dtype=np.int64).reshape(-1, 4))


def document_places(corpus: PackedCorpus, documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the starts of documents in `corpus.ids`; that of document D is the end of the text."""
    # Plain arrays over the same memory: a memmap's own indexing is slow.
    sentences = np.asarray(corpus.document_starts)[documents]
    places: NDArray[np.int64] = np.asarray(corpus.sentence_starts)[sentences]
    return places
