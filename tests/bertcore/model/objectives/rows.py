"""Rows of made-up words of one to four pieces, in sentences."""

import numpy as np

from bertcore.model.objectives import Pieces, Row

SIZE = 1000
PIECES = Pieces(size=SIZE, mask_id=4, cls_id=2, sep_id=3, sentinel_ids=tuple(range(999, 899, -1)))
FIRST = 10
"""The first id of a word's piece."""
LAST = 800


def row_of(length: int, seed: int = 0, *, second: bool = False, sentence: int = 12) -> Row:
    """Return a row of `length` tokens: [CLS], text, [SEP], and a second text if wanted."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(FIRST, LAST, size=length)
    is_special = np.zeros(length, dtype=bool)
    is_special[[0, -1]] = True
    if second:
        is_special[length // 2] = True
    ids[is_special] = PIECES.sep_id
    ids[0] = PIECES.cls_id
    starts_word = np.ones(length, dtype=bool)
    place = 1
    while place < length:
        size = int(rng.integers(1, 5))
        starts_word[place + 1 : place + size] = False
        place += size
    starts_word[is_special] = True
    after = np.append(True, is_special[:-1])
    starts_word |= after
    starts_sentence = starts_word & (np.arange(length) % sentence == 1)
    starts_sentence[1] = True
    return Row(ids, is_special, starts_word, starts_sentence)
