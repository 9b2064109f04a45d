"""Two versions of a text and their comparison: what every picture of the page is drawn from."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from bertcore import Trace
from bertcore.analysis.compare.minimal_pair import MinimalPair, compare_pair

from ..shell import Field, Texts, cache, frame
from .figures import column_names
from .versions import Versions

TOP_WORDS = 5
MOST_DRAWN = 44
"""Most tokens of a map that can be read; of longer texts those that change most are drawn."""

ALL_TOKENS = Field("pair_all", False)

COMPARE_CODE = """
from bertcore.analysis.compare.minimal_pair import aligned_attention, compare_pair

second = bert.trace({texts})
pair = compare_pair(bert, trace, second)
pair.columns, pair.shifts, pair.next_first, pair.next_second
pair.hidden_change, pair.attention_change               # [L+1, N], [L, H]
"""
"""Python that compares both versions; {texts} is from `written`."""


class Compared(NamedTuple):
    """Both runs and what differs."""

    first: Trace
    second: Trace
    pair: MinimalPair
    texts: str
    """The second version's texts as Python."""

    def names(self, drawn: Sequence[int]) -> list[str]:
        """Return names of some columns; with positions if others are left out."""
        names = column_names(self.first, self.second, self.pair.columns)
        if len(drawn) == len(names):
            return names
        places = [second if first is None else first for first, second in self.pair.columns]
        return [f"{names[n]} · {places[n]}" for n in drawn]

    def columns(self) -> pd.DataFrame:
        """Return a row for each column: its places and tokens, empty where one is missing."""
        firsts, seconds = zip(*self.pair.columns, strict=True)
        return pd.DataFrame(
            {
                "position_first": pd.array(firsts, dtype="Int64"),
                "position_second": pd.array(seconds, dtype="Int64"),
                "token_first": ["" if i is None else self.first.tokens[i] for i in firsts],
                "token_second": ["" if j is None else self.second.tokens[j] for j in seconds],
            }
        )

    def changed(self, drawn: Sequence[int]) -> list[bool]:
        """Return whether the tokens of some columns differ."""
        return [self.pair.changed[n] for n in drawn]


def written(texts: Sequence[str | None]) -> str:
    """Return a text or a pair as arguments in Python."""
    return ", ".join(repr(text) for text in texts if text is not None)


def compared(page: frame.Page, second: Versions) -> Compared:
    """Return the comparison of the page's text with its second version.

    ValueError if the weights contain NaN.
    """
    first, other = (Texts(page.bert_key, *texts) for texts in (page.texts, second))
    pair = cache.computed(compare_pair, page.bert_key, first, other, TOP_WORDS)
    return Compared(first.trace, other.trace, pair, written(second))


def drawn_columns(pair: MinimalPair, scores: NDArray[np.float32]) -> list[int]:
    """Return the columns to draw, in their order: all, or those with the highest scores.

    Args:
        pair: The comparison.
        scores: How much each column changes, [N].
    """
    count = len(pair.columns)
    ALL_TOKENS.key()
    if count <= MOST_DRAWN or ALL_TOKENS.value:
        return list(range(count))
    # What differs comes first: the picture is about it. A gap has nothing to draw.
    has_gap = np.array([None in column for column in pair.columns])
    order = np.lexsort((-scores, ~np.array(pair.changed), has_gap))
    return sorted(order[:MOST_DRAWN].tolist())


def note_left_out(drawn: Sequence[int], pair: MinimalPair) -> None:
    """State how many tokens are not drawn."""
    if len(drawn) < len(pair.columns):
        st.caption(
            f"{len(drawn)} of {len(pair.columns)} tokens are drawn, with their positions: of those "
            "in both versions, the ones that differ or change most. *All tokens* draws the rest; "
            "CSV and NPZ contain all."
        )
