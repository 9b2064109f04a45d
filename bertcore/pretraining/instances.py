"""Sentence pairs for BERT's pretraining: cut from documents as in Google's data script."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from bertcore.pretraining.corpus import PackedCorpus


@dataclass(frozen=True, slots=True)
class Instances:
    """Pairs as spans of the packed corpus; nothing is copied.

    The tokens of instance i are [CLS] ids[a_start:a_end] [SEP] ids[b_start:b_end] [SEP].
    """

    spans: NDArray[np.int64]
    """a_start, a_end, b_start, b_end of each instance, [N, 4]."""
    labels: NDArray[np.int64]
    """0: B follows A in the text, 1: B is from a random place, [N]."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Tokens of each instance with its three special tokens, [N]."""
        s = self.spans
        lengths: NDArray[np.int64] = s[:, 1] - s[:, 0] + s[:, 3] - s[:, 2] + 3
        return lengths

    @property
    def share_random(self) -> float:
        """Share of pairs whose B is random: above a half, since lone sentences always get one."""
        return float(self.labels.mean())

    def share_padding(self, max_seq_length: int) -> float:
        """Return the share of padding in rows of `max_seq_length` tokens."""
        return 1.0 - float(self.lengths.mean()) / max_seq_length


def create_instances(
    corpus: PackedCorpus, *, max_seq_length: int, short_seq_prob: float = 0.1, rng: Random
) -> Instances:
    """Cut one round of instances from all documents.

    Args:
        corpus: Packed documents.
        max_seq_length: T, special tokens included; at least 5.
        short_seq_prob: Share of documents that are cut into pieces of a random shorter length.
        rng: Fixes the result.

    Returns:
        Instances in document order; shuffle them before training.

    Raises:
        ValueError: If `max_seq_length` is below 5 (one token on each side).

    Source: Devlin et al. 2019, appendix A.2; google-research/bert create_pretraining_data.py,
        create_instances_from_document. Differs: the documents are walked in file order, since all
        instances are shuffled afterwards anyway.
    """
    if max_seq_length < 5:
        raise ValueError(
            f"max_seq_length is {max_seq_length}; expected at least 5: [CLS] a [SEP] b [SEP]."
        )
    max_tokens = max_seq_length - 3
    spans: list[tuple[int, int, int, int]] = []
    labels: list[int] = []
    starts = corpus.sentence_starts.tolist()
    documents = corpus.document_starts.tolist()
    num_documents = corpus.num_documents
    for document in range(num_documents):
        first, end = documents[document], documents[document + 1]
        # Once for each pass over a document, not for each instance, as in Google's code.
        target = max_tokens
        if rng.random() < short_seq_prob:
            target = rng.randint(2, max_tokens)
        chunk = sentence = first
        while sentence < end:
            sentence += 1
            if sentence < end and starts[sentence] - starts[chunk] < target:
                continue
            # The chunk is sentences chunk .. sentence - 1; A takes its first part.
            cut = chunk + (1 if sentence - chunk == 1 else rng.randint(1, sentence - chunk - 1))
            a = (starts[chunk], starts[cut])
            if sentence - chunk == 1 or rng.random() < 0.5:
                label = 1
                b = _random_span(corpus, document, target - (a[1] - a[0]), starts, documents, rng)
                sentence = cut  # the sentences that B replaced feed the next instance
            else:
                label = 0
                b = (starts[cut], starts[sentence])
            spans.append(_truncate(*a, *b, max_tokens, rng))
            labels.append(label)
            chunk = sentence
    return Instances(np.array(spans, dtype=np.int64), np.array(labels, dtype=np.int64))


def _random_span(
    corpus: PackedCorpus,
    document: int,
    target: int,
    starts: list[int],
    documents: list[int],
    rng: Random,
) -> tuple[int, int]:
    """Choose sentences of another document, from a random one on, until `target` tokens."""
    other = document
    for _ in range(10):  # nearly always another document; with a single one it cannot be
        other = rng.randint(0, corpus.num_documents - 1)
        if other != document:
            break
    sentence = first = rng.randint(documents[other], documents[other + 1] - 1)
    while True:
        sentence += 1
        if sentence == documents[other + 1] or starts[sentence] - starts[first] >= target:
            return starts[first], starts[sentence]


def _truncate(
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
