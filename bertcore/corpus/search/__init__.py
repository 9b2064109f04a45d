"""Search an encoded corpus: the nearest rows to a vector, in context, and the senses of a word."""

from bertcore.base.public import imported
from bertcore.corpus.search.index import (
    EXACT_ROWS,
    ExactIndex,
    Found,
    GraphIndex,
    VectorIndex,
    build_graph,
    open_index,
)
from bertcore.corpus.search.neighbours import Neighbours, Query, neighbours, query_of
from bertcore.corpus.search.places import Hit, Places, tag_shares
from bertcore.corpus.search.senses import Senses, WordSenses, word_senses

__all__ = imported(globals())
