"""Rows as spans of a packed corpus: pairs cut as in Google's data script, or running text."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from bertcore.training.pretraining.data.corpus import PackedCorpus


@dataclass(frozen=True, slots=True)
class Instances:
    """Pairs as spans of the packed corpus; nothing is copied.

    The tokens of instance i are [CLS] ids[a_start:a_end] [SEP] ids[b_start:b_end] [SEP].
    """

    spans: NDArray[np.int64]
    """a_start, a_end, b_start, b_end of each instance, [N, 4]."""
    labels: NDArray[np.int64]
    """0: B follows A in the text; 1: B is from a random place, or A and B are exchanged, [N]. For
    random pairs more than half are 1, since a lone sentence always gets a random partner."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each instance with its three special tokens, [N]."""
        s = self.spans
        lengths: NDArray[np.int64] = s[:, 1] - s[:, 0] + s[:, 3] - s[:, 2] + 3
        return lengths

    def take(self, rows: NDArray[np.int64] | slice) -> "Instances":
        return Instances(self.spans[rows], self.labels[rows])


def create_instances(
    corpus: PackedCorpus,
    *,
    max_seq_length: int,
    short_seq_prob: float = 0.1,
    rng: Random,
    documents: range | None = None,
) -> Instances:
    """Cut one round of instances from documents, in their order; shuffle them before training.

    `max_seq_length` T includes special tokens; `short_seq_prob` of the documents are cut into
    pieces of a random shorter length. Of the documents, a range without gaps, only the borders are
    read into memory; random partners come from all.

    ValueError if `max_seq_length` is below 5 (one token on each side).

    Source: Devlin et al. 2019, appendix A.2; google-research/bert create_pretraining_data.py,
        create_instances_from_document. Differs: the documents are processed in file order, since
        all instances are shuffled afterwards anyway.
    """
    max_tokens, borders = _tokens_of_pair(max_seq_length), Borders(corpus)
    spans, labels = array("q"), array("q")
    for document in range(corpus.num_documents) if documents is None else documents:
        # Sentences are counted from the document's first; `starts` are places in corpus.ids.
        starts = borders.of_document(document)
        end = len(starts) - 1
        target = _target(max_tokens, short_seq_prob, rng)
        chunk = sentence = 0
        while sentence < end:
            sentence += 1
            if sentence < end and starts[sentence] - starts[chunk] < target:
                continue
            # The chunk is sentences chunk .. sentence - 1; A takes its first part.
            cut = chunk + (1 if sentence - chunk == 1 else rng.randint(1, sentence - chunk - 1))
            a = (starts[chunk], starts[cut])
            if sentence - chunk == 1 or rng.random() < 0.5:
                label = 1
                b = borders.random_span(document, target - (a[1] - a[0]), rng)
                sentence = cut  # the sentences that B replaced feed the next instance
            else:
                label = 0
                b = (starts[cut], starts[sentence])
            spans.extend(truncate(*a, *b, max_tokens, rng))
            labels.append(label)
            chunk = sentence
    return Instances(_fours(spans), np.array(labels, dtype=np.int64))


def _fours(spans: "array[int]") -> NDArray[np.int64]:
    return np.array(spans, dtype=np.int64).reshape(-1, 4)


def _tokens_of_pair(max_seq_length: int) -> int:
    """Return the most tokens of both texts; ValueError if there is none for one of them."""
    if max_seq_length < 5:
        raise ValueError(
            f"max_seq_length is {max_seq_length}; expected at least 5: [CLS] a [SEP] b [SEP]."
        )
    return max_seq_length - 3


def _target(max_tokens: int, short_seq_prob: float, rng: Random) -> int:
    """Draw the length of the instances of a document: once for each, as in Google's code."""
    return rng.randint(2, max_tokens) if rng.random() < short_seq_prob else max_tokens


class Borders:
    """The borders of a corpus, read as needed."""

    def __init__(self, corpus: PackedCorpus) -> None:
        # Plain arrays over the same memory: a memmap's own indexing takes ten times as long.
        self._sentences = np.asarray(corpus.sentence_starts)
        self._documents = np.asarray(corpus.document_starts)
        self._num_documents = corpus.num_documents

    def of_document(self, document: int) -> list[int]:
        """Return the start of each sentence of a document, and the end of the last."""
        first, end = self._documents[document : document + 2].tolist()
        starts: list[int] = self._sentences[first : end + 1].tolist()
        return starts

    def random_span(self, document: int, target: int, rng: Random) -> tuple[int, int]:
        """Choose sentences of another document, from a random one on, to reach `target` tokens."""
        other = document
        for _ in range(10):  # nearly always finds another document, unless there is only one
            other = rng.randint(0, self._num_documents - 1)
            if other != document:
                break
        first, end = self._documents[other : other + 2].tolist()
        sentence = rng.randint(first, end - 1)
        start = int(self._sentences[sentence])
        while True:
            sentence += 1
            stop = int(self._sentences[sentence])
            if sentence == end or stop - start >= target:
                return start, stop


def truncate(
    a_start: int, a_end: int, b_start: int, b_end: int, max_tokens: int, rng: Random
) -> tuple[int, int, int, int]:
    """Shorten the longer text token by token, at its front or back with equal chance."""
    while a_end - a_start + b_end - b_start > max_tokens:
        front = rng.random() < 0.5
        if a_end - a_start > b_end - b_start:
            a_start, a_end = (a_start + 1, a_end) if front else (a_start, a_end - 1)
        else:
            b_start, b_end = (b_start + 1, b_end) if front else (b_start, b_end - 1)
    return a_start, a_end, b_start, b_end


def create_ordered_pairs(
    corpus: PackedCorpus,
    *,
    max_seq_length: int,
    swapped: float = 0.5,
    short_seq_prob: float = 0.1,
    rng: Random,
    documents: range | None = None,
) -> Instances:
    """Cut documents into pairs of consecutive texts; of those exchanged (`swapped`) the label is 1.

    Arguments, what is returned and refused as for `create_instances`.

    Source: Lan et al. 2020 (ALBERT), section 3.1; google-research/albert
        create_pretraining_data.py. Differs: a sentence left alone at the end of a document makes no
        pair; in theirs, it gets a random partner and the label "exchanged".
    """
    max_tokens, borders = _tokens_of_pair(max_seq_length), Borders(corpus)
    spans, labels = array("q"), array("q")
    for document in range(corpus.num_documents) if documents is None else documents:
        starts = borders.of_document(document)
        end = len(starts) - 1
        target = _target(max_tokens, short_seq_prob, rng)
        chunk = 0
        for sentence in range(1, end + 1):
            is_short = starts[sentence] - starts[chunk] < target and sentence < end
            if is_short or sentence - chunk < 2:
                continue
            # The chunk is sentences chunk .. sentence - 1; A takes its first part.
            cut = rng.randint(chunk + 1, sentence - 1)
            a_start, a_end, b_start, b_end = truncate(
                starts[chunk], starts[cut], starts[cut], starts[sentence], max_tokens, rng
            )
            label = int(rng.random() < swapped)
            spans.extend(
                (b_start, b_end, a_start, a_end) if label else (a_start, a_end, b_start, b_end)
            )
            labels.append(label)
            chunk = sentence
    return Instances(_fours(spans), np.array(labels, dtype=np.int64))


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

    def take(self, rows: NDArray[np.int64] | slice) -> "PackedRows":
        return PackedRows(self.spans[rows])


def create_packed_rows(
    corpus: PackedCorpus, *, max_seq_length: int, documents: range | None = None
) -> PackedRows:
    """Cut documents into full rows, in the order of the text; shuffle them before training.

    A row begins where the one before ended, across sentences and documents; every token is in
    exactly one row. Padding occurs only in the last row, and in a row whose last document ends one
    position before its end. `max_seq_length` and `documents` as for `create_instances`.

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
    return PackedRows(_fours(spans))


def document_places(corpus: PackedCorpus, documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the starts of documents in `corpus.ids`; that of document D is the end of the text."""
    # Plain arrays over the same memory: a memmap's own indexing is slow.
    sentences = np.asarray(corpus.document_starts)[documents]
    places: NDArray[np.int64] = np.asarray(corpus.sentence_starts)[sentences]
    return places


def join_rows(parts: Sequence[Instances | PackedRows]) -> Instances | PackedRows:
    """Return the rows of all parts, which are of one kind, in order."""
    spans = np.concatenate([part.spans for part in parts])
    pairs = [part.labels for part in parts if isinstance(part, Instances)]
    return Instances(spans, np.concatenate(pairs)) if pairs else PackedRows(spans)
