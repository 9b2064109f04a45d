"""The nearest rows of a corpus to a token of a text, and what they have in common with it."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertcore.corpus.batch import pool_rows
from bertcore.corpus.encoded import EncodedCorpus
from bertcore.corpus.search.index import VectorIndex
from bertcore.corpus.search.places import Hit, Places
from bertcore.trace import Trace


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """The query: a token of a text, its word, or the whole text."""

    word: str
    """"" for a whole text."""
    before: str
    """The word before it, "" if there is none."""
    after: str
    vectors: NDArray[np.float32]
    """[L+1, D]: of each hidden state."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The nearest rows at one layer, the nearest first."""

    layer: int
    hits: tuple[Hit, ...]
    same_word: float
    """Share of the hits with the query's word, whatever its case; NaN without hits."""
    same_before: float
    """Share with the word before it; NaN where the query has none."""
    same_after: float


def query_of(trace: Trace, position: int, encoded: EncodedCorpus) -> Query:
    """Return the query for a chosen token of a trace.

    If rows are words it is the token's word, pooled like those of the corpus; if rows are
    sentences, the whole input.

    Args:
        trace: A trace of the checkpoint that encoded the corpus.

    ValueError if there is no such token.
    """
    num = trace.num_tokens
    if not 0 <= position < num:
        raise ValueError(f"token {position} does not exist; expected 0 to {num - 1}.")
    settings = encoded.manifest.settings
    low, high = _word_span(trace, position)
    if encoded.unit == "token":
        first, end, pooling = position, position + 1, "mean"
    elif encoded.unit == "word":
        first, end, pooling = low, high, settings.pooling
    else:
        first, end, pooling = 0, num, settings.pooling
    states = trace.hidden_states[:, first:end].float().numpy()
    owners = np.zeros(end - first, np.int64)
    vectors = np.concatenate([pool_rows(layer, owners, 1, pooling) for layer in states])
    if encoded.unit == "sentence":
        return Query("", "", "", vectors)
    beside = []
    for place in (low - 1, high):
        inside = 0 <= place < num and trace.text_ids[place] == trace.text_ids[position]
        beside.append(trace.word_text(*_word_span(trace, place)) if inside else "")
    return Query(trace.word_text(low, high), beside[0], beside[1], vectors)


def neighbours(
    index: VectorIndex,
    places: Places,
    query: Query,
    layer: int,
    k: int,
    *,
    own_text: str | None = None,
) -> Neighbours:
    """Return the nearest rows to a token at one layer, in context.

    Args:
        places: Of the same corpus.
        query: From `query_of`.
        layer: Number of the hidden state.
        own_text: Rows of this sentence are left out, as the query itself would be found.
    """
    asked = k
    while True:
        found = index.search(query.vectors[layer][None], asked)[0]
        hits = [h for h in places.hits(found.rows, found.cosines) if h.text != own_text][:k]
        if len(hits) == k or len(found.rows) < asked:
            break
        asked *= 4  # the sentence itself is in the corpus
    return Neighbours(
        layer,
        tuple(hits),
        _share(query.word, (hit.word for hit in hits)),
        _share(query.before, (hit.before for hit in hits)),
        _share(query.after, (hit.after for hit in hits)),
    )


def _share(word: str, words: Iterable[str]) -> float:
    same = [other.casefold() == word.casefold() for other in words]
    return float(np.mean(same)) if same and word else float("nan")


def _word_span(trace: Trace, position: int) -> tuple[int, int]:
    """Return the first token of a token's word, and one past its last."""
    word = trace.word_ids[position]
    if word < 0:
        return position, position + 1
    low, high = position, position + 1
    while low > 0 and trace.word_ids[low - 1] == word:
        low -= 1
    while high < trace.num_tokens and trace.word_ids[high] == word:
        high += 1
    return low, high
