"""Pairs of text that follow each other, in order or exchanged."""

from array import array
from random import Random

import numpy as np

from bertcore.pretraining.data.corpus import PackedCorpus
from bertcore.pretraining.data.instances import Borders, Instances, truncate


def create_ordered_pairs(
    corpus: PackedCorpus,
    *,
    max_seq_length: int,
    swapped: float = 0.5,
    short_seq_prob: float = 0.1,
    rng: Random,
    documents: range | None = None,
) -> Instances:
    """Cut documents into pairs of consecutive texts, some of which are exchanged.

    Args:
        corpus: Packed documents. Only the borders of the documents cut are read into memory.
        max_seq_length: T, including special tokens; at least 5.
        swapped: Fraction of pairs whose texts are exchanged: their label is 1, otherwise 0.
        short_seq_prob: Fraction of documents that are cut into pieces of a random shorter length.
        rng: Determines the result.
        documents: The documents to cut, without gaps; default: all.

    Returns:
        Instances in document order; shuffle them before training.

    ValueError if `max_seq_length` is below 5 (one token on each side).

    Source: Lan et al. 2020 (ALBERT), section 3.1; google-research/albert
        create_pretraining_data.py. Differs: a sentence left alone at the end of a document makes no
        pair; in theirs, it gets a random partner and the label "exchanged".
    """
    if max_seq_length < 5:
        raise ValueError(
            f"max_seq_length is {max_seq_length}; expected at least 5: [CLS] a [SEP] b [SEP]."
        )
    max_tokens = max_seq_length - 3
    spans, labels = array("q"), array("q")
    borders = Borders(corpus)
    for document in range(corpus.num_documents) if documents is None else documents:
        starts = borders.of_document(document)
        end = len(starts) - 1
        target = max_tokens
        if rng.random() < short_seq_prob:
            target = rng.randint(2, max_tokens)
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
    return Instances(
        np.array(spans, dtype=np.int64).reshape(-1, 4), np.array(labels, dtype=np.int64)
    )
