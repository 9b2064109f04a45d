"""Words of a sentence joined to a text, and the word of the file in which each piece begins.

If a treebank splits "didn't" into "did" and "n't", the piece "did" begins in the first, "##n", "'"
and "t" in the second.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Span = tuple[int, int]


def joined(words: Sequence[str]) -> tuple[str, tuple[Span, ...]]:
    """Return the words joined by spaces, and their spans in the result.

    >>> joined(["It", "rained", "."])
    ('It rained .', ((0, 2), (3, 9), (10, 11)))
    """
    spans, start = [], 0
    for word in words:
        spans.append((start, start + len(word)))
        start += len(word) + 1
    return " ".join(words), tuple(spans)


def owners(length: int, spans: Sequence[Span], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the word in which each piece begins, the first of several; -1 for none.

    Args:
        length: Characters of the text.
        spans: Of its words.
        starts: First character of each piece, [T].

    Returns:
        [T].
    """
    owner = np.full(length + 1, -1, dtype=np.int64)
    words = {span: word for word, span in reversed([*enumerate(spans)])}  # each span once
    for (first, end), word in words.items():
        owner[first:end] = word
    return owner[np.minimum(starts, length)]
